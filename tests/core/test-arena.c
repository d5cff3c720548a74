// SPDX-License-Identifier: Apache-2.0
// Pieces of an arena are aligned, do not overlap and do not move.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "core/arena.h"
#include "core/memory.h"

// Sanitizers end the process at impossible sizes, unless told not to.
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1";
}

static void pieces_are_aligned_and_do_not_overlap(void **state) {
    (void)state;
    enum { COUNT = 500 };
    igi_arena arena = {0};
    unsigned char *pieces[COUNT];
    uint64_t sizes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        sizes[i] = i % 50 == 49 ? 20000u + (uint64_t)i : (uint64_t)(i * 37) % 700;
        pieces[i] = igi_arena_alloc(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 64, 0);
        memset(pieces[i], i, sizes[i]);
    }
    for (int i = 0; i < COUNT; i++)
        for (uint64_t k = 0; k < sizes[i]; k++) assert_int_equal(pieces[i][k], (unsigned char)i);
    igi_arena_free(&arena);
    assert_null(arena.chunks);
}

static void empty_pieces_differ(void **state) {
    (void)state;
    igi_arena arena = {0};
    void *a = igi_arena_alloc(&arena, 0), *b = igi_arena_alloc(&arena, 0);
    assert_non_null(a);
    assert_ptr_not_equal(a, b);
    igi_arena_free(&arena);
}

static void sizes_that_cannot_be_are_refused(void **state) {
    (void)state;
    igi_arena arena = {0};
    assert_null(igi_arena_alloc(&arena, UINT64_MAX));
    assert_null(igi_arena_alloc(&arena, UINT64_MAX / 2));
    assert_null(igi_arena_alloc(&arena, UINT64_MAX - 63));
    assert_non_null(igi_arena_alloc(&arena, 10));
    igi_arena_free(&arena);
}

static void an_arena_short_of_memory_keeps_its_pieces(void **state) {
    (void)state;
    igi_arena arena = {0};
    char *first = igi_arena_alloc(&arena, 100);
    memcpy(first, "kept", 5);
    igi_alloc_fail_at(1);
    assert_null(igi_arena_alloc(&arena, 100000));
    char *small = igi_arena_alloc(&arena, 100);  // there is room in the first chunk
    igi_alloc_fail_at(0);
    assert_non_null(small);
    assert_string_equal(first, "kept");
    assert_non_null(igi_arena_alloc(&arena, 100000));
    igi_arena_free(&arena);
    igi_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_do_not_overlap),
        cmocka_unit_test(empty_pieces_differ),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(an_arena_short_of_memory_keeps_its_pieces),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
