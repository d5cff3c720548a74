// SPDX-License-Identifier: Apache-2.0
// Guarded memory: usable to its last byte, surrounded by guards, and available even if address space is short.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka last: it needs the four above.
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../emulated.h"
#include "core/guarded.h"
#include "core/memory.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static uint64_t before(const igi_guarded *g) {
    return (uint64_t)(g->memory - g->reservation);
}

static uint64_t after(const igi_guarded *g) {
    return g->reserved - before(g) - g->bytes;
}

static void memory_is_zero_and_surrounded(void **state) {
    (void)state;
    igi_guarded g;
    uint64_t page = igi_page_bytes(), sizes[] = {1, 100, page, page + 1, 5 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_true(igi_guarded_open(&g, sizes[i], IGI_GUARD_LARGE));
        assert_true(g.bytes >= sizes[i] && g.bytes % page == 0 && (uintptr_t)g.memory % page == 0);
        for (uint64_t k = 0; k < g.bytes; k += 61) assert_int_equal(g.memory[k], 0);
        memset(g.memory, 1, g.bytes);
        uint64_t begin = (uintptr_t)g.memory;
        assert_true(igi_guarded_surrounds(&g, begin) && igi_guarded_surrounds(&g, begin - before(&g)));
        assert_true(igi_guarded_surrounds(&g, begin + g.bytes + after(&g) - 1));
        assert_false(igi_guarded_surrounds(&g, begin + g.bytes + after(&g)));
        assert_false(igi_guarded_surrounds(&g, begin - before(&g) - 1));
        igi_guarded_close(&g);
        assert_null(g.memory);
        assert_false(igi_guarded_surrounds(&g, begin));
    }
}

static void large_neighbours_differ_in_low_bits(void **state) {
    (void)state;
#ifdef SANITIZED
    skip();
#endif
    if (is_emulated()) skip();  // with a small address space
    enum { COUNT = 16, HUGE_PAGE = 2 << 20 };
    igi_guarded all[COUNT];
    uint32_t seen = 0;
    for (int i = 0; i < COUNT; i++) {
        assert_true(igi_guarded_open(&all[i], 64 << 20, IGI_GUARD_LARGE));
        assert_int_equal((uintptr_t)all[i].memory % HUGE_PAGE, 0);
        seen |= 1u << (uintptr_t)all[i].memory / HUGE_PAGE % COUNT;
    }
    assert_int_equal(seen, (1u << COUNT) - 1);
    for (int i = 0; i < COUNT; i++) igi_guarded_close(&all[i]);
}

static void guards_are_gigabytes_where_there_is_room(void **state) {
    (void)state;
#ifdef SANITIZED
    skip();
#endif
    if (is_emulated()) skip();  // with a small address space
    igi_guarded large, huge;
    assert_true(igi_guarded_open(&large, 100, IGI_GUARD_LARGE) && igi_guarded_open(&huge, 100, IGI_GUARD_HUGE));
    assert_true(before(&large) >= 4ull << 30 && after(&large) >= 4ull << 30);
    assert_true(before(&huge) >= 64ull << 30 && after(&huge) >= 64ull << 30);
    igi_guarded_close(&large), igi_guarded_close(&huge);
}

static void there_is_room_for_many(void **state) {
    (void)state;
    enum { MANY = 4000 };
    static igi_guarded all[MANY];
    uint64_t first = 0;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) assert_true(igi_guarded_open(&all[i], 100, IGI_GUARD_LARGE));
        if (round) assert_true(before(&all[0]) >= first / 2);  // closed ones are available again
        first = before(&all[0]);
        for (int i = 0; i < MANY; i++) igi_guarded_close(&all[i]);
    }
}

static void sizes_that_do_not_fit_are_refused(void **state) {
    (void)state;
    igi_guarded g;
    assert_false(igi_guarded_open(&g, UINT64_MAX, IGI_GUARD_LARGE));
    assert_false(igi_guarded_open(&g, UINT64_MAX / 2, IGI_GUARD_LARGE));
    assert_null(g.memory);
    igi_guarded_close(&g);
    igi_alloc_fail_at(1);
    assert_false(igi_guarded_open(&g, 1, IGI_GUARD_LARGE));
    igi_alloc_fail_at(0);
}

// This test runs first: the available address space is measured only once.
static void a_limited_process_has_smaller_guards(void **state) {
    (void)state;
#ifdef SANITIZED
    skip();
#endif
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {1ull << 30, 1ull << 30};
        setrlimit(RLIMIT_AS, &limit);
        igi_guarded all[20];
        bool ok = true;
        for (int i = 0; i < 20 && ok; i++) ok = igi_guarded_open(&all[i], 100, IGI_GUARD_LARGE) && before(&all[i]);
        // The host also has room left.
        ok = ok && mmap(NULL, 300 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0) != MAP_FAILED;
        _exit(!ok);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limited_process_has_smaller_guards),
        cmocka_unit_test(memory_is_zero_and_surrounded),
        cmocka_unit_test(large_neighbours_differ_in_low_bits),
        cmocka_unit_test(guards_are_gigabytes_where_there_is_room),
        cmocka_unit_test(there_is_room_for_many),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
