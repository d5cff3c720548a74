// SPDX-License-Identifier: Apache-2.0
// Additions that come late (late.c), and which may (widen-late.c).
#include "simt/late.h"

#include <pthread.h>
#include <stdalign.h>

#include "bench.h"

// ---- The table ----

// Three areas whose lines have the same places in the table.
enum { AREA = 64 * 16, AREAS = 3, ALL = AREA * AREAS, ROUNDS = 1000 };
static alignas(4096) uint32_t memory[ALL];

static void add_now(uint32_t *elements, const uint32_t *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) __atomic_fetch_add(elements + i, values[i], __ATOMIC_RELAXED);
}

static bool add(uint32_t *elements, const uint32_t *values, uint32_t count) {
    bool late = igi_simt_late_add(elements, values, count);
    if (!late) add_now(elements, values, count);
    return late;
}

static uint32_t random_below(uint64_t *seed, uint32_t end) {
    *seed = igi_simt_schedule_mix(*seed, 1);
    return (uint32_t)(*seed >> 32) % end;
}

// Rows of any length at any place; `late`: through the table.
static void add_rows(uint64_t seed, igi_simt_late *late, uint32_t *elements) {
    uint32_t values[256];
    if (late) igi_simt_late_begin(late);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t count = 1 + random_below(&seed, 256), at = random_below(&seed, ALL - count);
        for (uint32_t i = 0; i < count; i++) values[i] = random_below(&seed, 3) ? random_below(&seed, UINT32_MAX) : 0;
        if (late)
            add(elements + at, values, count);
        else
            add_now(elements + at, values, count);
    }
    igi_simt_late_end();
}

static void *add_in_thread(void *seed) {
    igi_simt_late *late = igi_simt_late_create();
    add_rows(*(uint64_t *)seed, late, memory);
    igi_simt_late_free(late);
    return NULL;
}

static void threads_that_add_late_lose_nothing(void **state) {
    (void)state;
    enum { THREADS = 4 };
    static uint32_t expected[ALL];
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS] = {3, 5, 7, 11};
    memset(memory, 0, sizeof memory);
    for (int i = 0; i < THREADS; i++) add_rows(seeds[i], NULL, expected);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, add_in_thread, &seeds[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_memory_equal(memory, expected, sizeof memory);
}

static void the_first_addition_to_a_line_is_the_callers(void **state) {
    (void)state;
    static const uint32_t values[40] = {[0 ... 39] = 2};
    igi_simt_late *late = igi_simt_late_create();
    memset(memory, 0, sizeof memory);
    assert_false(igi_simt_late_add(memory, values, 16));  // no `begin`
    igi_simt_late_begin(late);
    assert_false(add(memory + 8, values, 16));
    assert_true(add(memory, values, 32));
    assert_false(add(memory, values, 33));  // the third line is new
    assert_true(add(memory, values, 40));
    assert_false(add(memory + AREA, values, 1));  // takes the place of the first one, which is settled
    assert_int_equal(memory[0], 6);
    assert_int_equal(memory[16], 4);
    igi_simt_late_end();
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(memory[i], i < 8 ? 6 : i < 24 ? 8 : i < 32 ? 6 : i < 33 ? 4 : 2);
    assert_int_equal(memory[AREA], 2);
    assert_false(igi_simt_late_add(memory, values, 16));  // after `end`
    igi_simt_late_free(late);
}

static void forgotten_sums_are_added_nowhere(void **state) {
    (void)state;
    static const uint32_t values[16] = {[0 ... 15] = 1};
    igi_simt_late *late = igi_simt_late_create();
    memset(memory, 0, sizeof memory);
    igi_simt_late_begin(late);
    add(memory, values, 16);
    assert_true(add(memory, values, 16));
    igi_simt_late_forget();
    igi_simt_late_begin(late);
    igi_simt_late_end();
    for (uint32_t i = 0; i < 16; i++) assert_int_equal(memory[i], 1);
    igi_simt_late_free(late);
}

// ---- Which may ----

static size_t late_additions(const char *body) {
    char source[2000];
    snprintf(source, sizeof source,
             METAL
             "kernel void k(device atomic_uint *a [[buffer(0)]], device uint *out [[buffer(1)]],\n"
             "device atomic_uint *b [[buffer(2)]], threadgroup uint *t [[threadgroup(0)]],\n"
             "volatile device uint *v [[buffer(3)]], uint i [[thread_position_in_grid]]) { %s }",
             body);
    bench *b = start_to(source, "k", igi_simt_pass_relax);
    size_t count = count_calls(widen(b, 8, true), "ig.late");
    end(b);
    return count;
}

#define ADD(to, value) "atomic_fetch_add_explicit(&" to ", " value ", memory_order_relaxed);"

static void threads_add_late_at_their_very_end(void **state) {
    (void)state;
    assert_int_equal(late_additions("out[i] = 1;" ADD("a[i]", "t[i]") ADD("b[i]", "t[i + 1] * 2")), 2);
    assert_int_equal(late_additions("for (uint k = 0; k < t[0]; k++) " ADD("a[i]", "t[k]")), 1);
    assert_int_equal(late_additions(ADD("a[i]", "1") "t[i] = 0;"), 1);
    // Not before they read or write device memory, or wait.
    assert_int_equal(late_additions(ADD("a[i]", "1") "out[i] = 1;"), 0);
    assert_int_equal(late_additions("for (uint k = 0; k < 1000; k++) { out[i] = k * out[k];" ADD("a[i]", "1") "}"), 0);
    assert_int_equal(late_additions(ADD("a[i]", "1") "threadgroup_barrier(mem_flags::mem_device); t[i] = 0;"), 0);
    assert_int_equal(late_additions(ADD("a[i]", "1") "t[i] = out[i];"), 0);
    // Others are less common.
    assert_int_equal(late_additions("atomic_fetch_max_explicit(&a[i], t[i], memory_order_relaxed);"), 0);
}

static void threads_that_may_watch_each_other_do_not_add_late(void **state) {
    (void)state;
    assert_int_equal(late_additions("while (!atomic_load_explicit(&b[0], memory_order_relaxed)); " ADD("a[i]", "1")),
                     0);
    assert_int_equal(
        late_additions("out[i] = atomic_fetch_add_explicit(&b[0], 1, memory_order_relaxed);" ADD("a[i]", "1")), 0);
    assert_int_equal(late_additions("t[i] = v[0];" ADD("a[i]", "1")), 0);
    assert_int_equal(late_additions("atomic_store_explicit(&b[i], 1, memory_order_relaxed);" ADD("a[i]", "1")), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_add_late_lose_nothing),
        cmocka_unit_test(the_first_addition_to_a_line_is_the_callers),
        cmocka_unit_test(forgotten_sums_are_added_nowhere),
        cmocka_unit_test(threads_add_late_at_their_very_end),
        cmocka_unit_test(threads_that_may_watch_each_other_do_not_add_late),
    };
    return cmocka_run_group_tests(tests, open_compiler, close_compiler);
}
