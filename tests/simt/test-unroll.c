// SPDX-License-Identifier: Apache-2.0
// Which loops unroll.c unrolls, and what it leaves.
#include "bench.h"
#include "simt/cfg.h"

static uint32_t loops_of(const bench *b) {
    igi_simt_cfg cfg;
    assert_true(igi_simt_cfg_build(b->m.thread, &cfg));
    uint32_t count = cfg.loop_count;
    igi_simt_cfg_free(&cfg);
    return count;
}

static bool is_loop_free_of_two_latches(const bench *b) {
    igi_simt_cfg cfg;
    bool tidy = true;
    assert_true(igi_simt_cfg_build(b->m.thread, &cfg));
    for (uint32_t i = 0; i < cfg.loop_count; i++) {
        const igi_simt_block *header = &cfg.blocks[cfg.loops[i].header];
        uint32_t latches = 0;
        for (uint32_t k = 0; k < header->predecessor_count; k++)
            latches += igi_simt_cfg_is_back_edge(&cfg, header->predecessors[k], cfg.loops[i].header);
        tidy &= latches == 1 && header->predecessor_count == 2;
    }
    igi_simt_cfg_free(&cfg);
    return tidy;
}

static uint32_t loops_left_in(const char *body) {
    bench *b = start_body(body);
    assert_ok(igi_simt_pass_unroll(&b->m));
    verify(b, "unroll");
    uint32_t left = loops_of(b);
    end(b);
    return left;
}

// for (k = start; k PREDICATE bound; k += step) store k.
static uint32_t loops_left(const char *type, const char *start, const char *predicate, const char *bound,
                           const char *step) {
    char body[1200];
    snprintf(body, sizeof body,
             "entry:\n  %%p = load ptr, ptr %%group\n  %%n = load %s, ptr %%p\n  br label %%loop\n"
             "loop:\n  %%k = phi %s [%s, %%entry], [%%next, %%loop]\n"
             "  store %s %%k, ptr %%p\n  %%next = add %s %%k, %s\n"
             "  %%c = icmp %s %s %%next, %s\n  br i1 %%c, label %%loop, label %%end\n"
             "end:\n  ret ptr null\n",
             type, type, start, type, type, step, predicate, type, bound);
    return loops_left_in(body);
}

static void loops_that_count_to_a_small_constant_disappear(void **state) {
    (void)state;
    assert_int_equal(loops_left("i32", "0", "ult", "4", "1"), 0);
    assert_int_equal(loops_left("i32", "0", "ne", "64", "1"), 0);
    assert_int_equal(loops_left("i32", "0", "slt", "63", "1"), 0);
    assert_int_equal(loops_left("i32", "20", "sgt", "-20", "-3"), 0);
    assert_int_equal(loops_left("i32", "100", "uge", "50", "-7"), 0);
    assert_int_equal(loops_left("i8", "-6", "ne", "4", "1"), 0);
    assert_int_equal(loops_left("i16", "100", "sle", "200", "9"), 0);
    assert_int_equal(loops_left("i64", "-4000000000", "slt", "4000000000", "1000000000"), 0);
}

static void loops_of_many_or_unknown_rounds_stay(void **state) {
    (void)state;
    assert_int_equal(loops_left("i32", "0", "ult", "1000", "1"), 1);
    assert_int_equal(loops_left("i32", "0", "ult", "%n", "1"), 1);
    assert_int_equal(loops_left("i32", "%n", "ult", "4", "1"), 1);
    assert_int_equal(loops_left("i32", "0", "ult", "4", "%n"), 1);
    assert_int_equal(loops_left("i32", "0", "ne", "63", "2"), 1);
}

// for (k = 0; k < 4 && k + first < n; k++) store k: the end as `select` or `and`, in the block of the body or after it.
static uint32_t loops_left_with_another_condition(const char *both, const char *between) {
    char body[1200];
    snprintf(body, sizeof body,
             "entry:\n  %%p = load ptr, ptr %%group\n  %%n = load i32, ptr %%p\n  br label %%loop\n"
             "loop:\n  %%k = phi i32 [0, %%entry], [%%next, %%%s]\n  store i32 %%k, ptr %%p\n%s"
             "  %%next = add i32 %%k, 1\n  %%few = icmp slt i32 %%next, 4\n  %%at = add nsw i32 %%next, %%y\n"
             "  %%more = icmp slt i32 %%at, %%n\n  %%c = %s\n  br i1 %%c, label %%loop, label %%end\n"
             "end:\n  %%last = phi i32 [%%next, %%%s]\n  store i32 %%last, ptr %%p\n  ret ptr null\n",
             *between ? "latch" : "loop", between, both, *between ? "latch" : "loop");
    return loops_left_in(body);
}

static void another_condition_does_not_keep_a_loop(void **state) {
    (void)state;
    const char *between =
        "  %odd = trunc i32 %k to i1\n  br i1 %odd, label %then, label %latch\n"
        "then:\n  store i32 7, ptr %p\n  br label %latch\nlatch:\n";
    assert_int_equal(loops_left_with_another_condition("select i1 %few, i1 %more, i1 false", ""), 0);
    assert_int_equal(loops_left_with_another_condition("select i1 %few, i1 %more, i1 false", between), 0);
    assert_int_equal(loops_left_with_another_condition("and i1 %more, %few", between), 0);
    assert_int_equal(loops_left_with_another_condition("or i1 %more, %few", between), 1);
}

// for (step = start; step PREDICATE bound; step = step OPERATION 1) { store; barrier }
static uint32_t waiting_loops_left(const char *start, const char *predicate, const char *bound, const char *operation,
                                   const char *barrier) {
    char body[1200];
    snprintf(body, sizeof body,
             "entry:\n  %%p = load ptr, ptr %%group\n  br label %%loop\n"
             "loop:\n  %%step = phi i32 [%s, %%entry], [%%next, %%loop]\n"
             "  store i32 %%step, ptr %%p\n  %s\n  %%next = %s i32 %%step, 1\n"
             "  %%c = icmp %s i32 %%next, %s\n  br i1 %%c, label %%end, label %%loop\n"
             "end:\n  ret ptr null\n",
             start, barrier, operation, predicate, bound);
    bench *b = start_body(body);
    assert_ok(igi_simt_unroll_waiting(&b->m));
    verify(b, "unroll");
    uint32_t left = loops_of(b);
    end(b);
    return left;
}

static void loops_in_which_a_whole_threadgroup_waits_disappear(void **state) {
    (void)state;
    const char *barrier = "call void @__ig_barrier(i32 2)";
    assert_int_equal(waiting_loops_left("128", "eq", "0", "lshr", barrier), 0);
    assert_int_equal(waiting_loops_left("1", "uge", "256", "shl", barrier), 0);
    assert_int_equal(waiting_loops_left("0", "eq", "16", "add", barrier), 0);
    assert_int_equal(waiting_loops_left("0", "eq", "1000", "add", barrier), 1);
    assert_int_equal(waiting_loops_left("1", "eq", "3", "shl", barrier), 1);
}

static uint32_t loops_of_kernel(const char *body) {
    char source[1500];
    snprintf(source, sizeof source,
             METAL "kernel void k(device int *a, constant int &n, uint i [[thread_position_in_grid]]) {\n%s\n}\n",
             body);
    bench *b = start_to(source, "k", igi_simt_pass_inline);
    assert_true(is_loop_free_of_two_latches(b));
    assert_int_equal(count_opcode(b->m.thread, LLVMSwitch), 0);
    uint32_t count = loops_of(b);
    end(b);
    return count;
}

static void nests_disappear_as_far_as_they_are_small(void **state) {
    (void)state;
    assert_int_equal(loops_of_kernel("for (int r = 0; r < 3; r++) for (int c = 0; c < 4; c++) a[i] += r * c;"), 0);
    assert_int_equal(loops_of_kernel("for (int r = 0; r < 200; r++) for (int c = 0; c < 4; c++) a[i] ^= r * c;"), 1);
    assert_int_equal(loops_of_kernel("for (int r = 0; r < n; r++) for (int c = 0; c < 4; c++) a[i] ^= r * c;"), 1);
    assert_int_equal(loops_of_kernel("for (int r = 0; r < 4; r++) for (int c = 0; c < n; c++) a[i] ^= r * c;"), 4);
}

static void a_body_that_would_grow_too_large_stays_a_loop(void **state) {
    (void)state;
    assert_int_equal(loops_of_kernel("for (int r = 0; r < 60; r++) {\n"
                                     "  int s = a[i];\n"
                                     "  s = s * 3 + a[s & 63]; s = s * 5 + a[s & 63]; s = s * 7 + a[s & 63];\n"
                                     "  s = s * 9 + a[s & 63]; s = s * 11 + a[s & 63]; s = s * 13 + a[s & 63];\n"
                                     "  s = s * 17 + a[s & 63]; s = s * 19 + a[s & 63]; s = s * 21 + a[s & 63];\n"
                                     "  a[i] = s;\n}"),
                     1);
}

static void ways_out_of_the_middle_do_not_keep_a_loop(void **state) {
    (void)state;
    assert_int_equal(loops_of_kernel("for (int k = 0; k < 8; k++) { if (a[i + k] == 3) break; a[i] += k; }"), 0);
    assert_int_equal(loops_of_kernel("for (int k = 0; k < 8; k++) { if (a[i + k] == 3) return; a[i] += k; }"), 0);
    assert_int_equal(loops_of_kernel("for (int k = 0; k < 8; k++) { if (a[i + k] == 3) continue; a[i] += k; }"), 0);
}

static void arrays_of_unrolled_loops_become_registers(void **state) {
    (void)state;
    bench *b =
        start_to(METAL
                 "kernel void k(device const float *a, device float *out, uint i [[thread_position_in_grid]]) {\n"
                 "  float v[4], s[2][3] = {};\n"
                 "  for (int k = 0; k < 4; k++) v[k] = a[4 * i + k];\n"
                 "  for (int r = 0; r < 2; r++) for (int c = 0; c < 3; c++) s[r][c] += v[r + c];\n"
                 "  for (int r = 0; r < 2; r++) for (int c = 0; c < 3; c++) out[6 * i + 3 * r + c] = s[r][c];\n}\n",
                 "k", igi_simt_pass_inline);
    assert_int_equal(count_opcode(b->m.thread, LLVMAlloca), 0);
    assert_int_equal(count_opcode(b->m.thread, LLVMPHI), 0);
    assert_int_equal(count_stores(b->m.thread, 1), 6);
    end(b);
}

static int loops_over_lanes(const char *bound) {
    char source[512];
    snprintf(source, sizeof source,
             METAL
             "kernel void k(device float *a, constant short &n, ushort lane [[thread_index_in_simdgroup]]) {\n"
             "  for (short i = lane; i < %s; i += 32) a[i] += 1;\n}\n",
             bound);
    bench *b = start_to(source, "k", igi_simt_pass_inline);
    int count = (int)loops_of(b);
    end(b);
    return count;
}

static void a_loop_that_lanes_walk_together_once_disappears(void **state) {
    (void)state;
    assert_int_equal(loops_over_lanes("32"), 0);
    assert_int_equal(loops_over_lanes("16"), 0);
    assert_int_equal(loops_over_lanes("n"), 1);
}

static void an_array_indexed_at_run_time_stays_in_memory(void **state) {
    (void)state;
    bench *b = start_to(METAL
                        "kernel void k(device float *a, constant uint &n, uint i [[thread_position_in_grid]]) {\n"
                        "  float v[4];\n  for (int k = 0; k < 4; k++) v[k] = a[4 * i + k];\n  a[i] = v[n & 3];\n}\n",
                        "k", igi_simt_pass_inline);
    assert_int_equal(count_opcode(b->m.thread, LLVMAlloca), 1);
    assert_int_equal(loops_of(b), 0);
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_that_count_to_a_small_constant_disappear),
        cmocka_unit_test(loops_of_many_or_unknown_rounds_stay),
        cmocka_unit_test(another_condition_does_not_keep_a_loop),
        cmocka_unit_test(loops_in_which_a_whole_threadgroup_waits_disappear),
        cmocka_unit_test(nests_disappear_as_far_as_they_are_small),
        cmocka_unit_test(a_body_that_would_grow_too_large_stays_a_loop),
        cmocka_unit_test(ways_out_of_the_middle_do_not_keep_a_loop),
        cmocka_unit_test(arrays_of_unrolled_loops_become_registers),
        cmocka_unit_test(a_loop_that_lanes_walk_together_once_disappears),
        cmocka_unit_test(an_array_indexed_at_run_time_stays_in_memory),
    };
    return cmocka_run_group_tests_name("unroll", tests, open_compiler, close_compiler);
}
