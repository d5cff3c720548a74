// SPDX-License-Identifier: Apache-2.0
// Threads of several rows executed together (coarsen.c): when, and what they share.
#include "bench.h"

#define KERNEL(body)                                                                                   \
    METAL                                                                                              \
    "kernel void k(device const float *a, device const float *b, device float *c, constant uint &n,\n" \
    "              uint2 p [[thread_position_in_grid]], uint2 l [[thread_position_in_threadgroup]]) {\n" body "}\n"

static const char product[] = KERNEL(
    "  float s = 0;\n"
    "  for (uint k = 0; k < n; k++) s += a[p.y * n + k] * b[k * n + p.x];\n"
    "  c[p.y * n + p.x] = s;\n");

static bench *coarsened(const char *source, uint32_t width, uint32_t x, uint32_t y) {
    bench *b = start(source, "k");
    b->request.width = width;
    b->request.group[0] = x, b->request.group[1] = y, b->request.group[2] = 1;
    assert_ok(run_to(b, igi_simt_pass_coarsen));
    return b;
}

static uint32_t rows_of(const char *source, uint32_t width, uint32_t x, uint32_t y) {
    bench *b = coarsened(source, width, x, y);
    uint32_t rows = b->m.rows;
    end(b);
    return rows;
}

static void products_take_several_rows_at_once(void **state) {
    (void)state;
    assert_true(rows_of(product, 0, 16, 16) >= 4);
    assert_int_equal(16 % rows_of(product, 0, 16, 16), 0);
    assert_true(rows_of(product, 0, 32, 4) == 4);
    assert_true(rows_of(product, 16, 16, 8) > 1);
}

static void rows_that_do_not_fit_are_left_alone(void **state) {
    (void)state;
    assert_int_equal(rows_of(product, 0, 256, 1), 1);
    assert_int_equal(rows_of(product, 0, 16, 2), 1);
    assert_int_equal(rows_of(product, 0, 16, 6), 1);
    assert_int_equal(rows_of(product, 0, 0, 0), 1);  // any size
    assert_int_equal(rows_of(product, 1, 16, 16), 1);
}

static void rows_that_may_part_are_left_alone(void **state) {
    (void)state;
    assert_int_equal(rows_of(KERNEL("  if (p.y >= n) return;\n  float s = 0;\n"
                                    "  for (uint k = 0; k < n; k++) s += a[p.y * n + k] * b[k * n + p.x];\n"
                                    "  c[p.y * n + p.x] = s;\n"),
                             0, 16, 16),
                     1);
    assert_int_equal(rows_of(KERNEL("  float s = 0;\n"
                                    "  for (uint k = 0; k < p.y; k++) s += a[p.y * n + k] * b[k * n + p.x];\n"
                                    "  c[p.y * n + p.x] = s;\n"),
                             0, 16, 16),
                     1);
    assert_int_equal(rows_of(KERNEL("  float s = 0;\n"
                                    "  for (uint k = 0; k < n; k++) s += simd_sum(a[p.y * n + k]) * b[k * n + p.x];\n"
                                    "  c[p.y * n + p.x] = s;\n"),
                             0, 32, 8),
                     1);
    // Columns may.
    assert_true(rows_of(KERNEL("  if (p.x >= n) return;\n  float s = 0;\n"
                               "  for (uint k = 0; k < n; k++) s += a[p.y * n + k] * b[k * n + p.x];\n"
                               "  c[p.y * n + p.x] = s;\n"),
                        0, 16, 16) > 1);
}

static void kernels_that_share_nothing_are_left_alone(void **state) {
    (void)state;
    assert_int_equal(rows_of(KERNEL("  c[p.y * n + p.x] = a[p.y * n + p.x] * 2;\n"), 0, 16, 16), 1);
    assert_int_equal(rows_of(KERNEL("  float s = 0;\n  for (uint k = 0; k < n; k++) s += a[(p.y + k) * n + p.x];\n"
                                    "  c[p.y * n + p.x] = s;\n"),
                             0, 16, 16),
                     1);
}

#define GROUPS(body)                                                                                   \
    METAL                                                                                              \
    "kernel void k(device const float *a, device const float *x, device float *y, constant uint &n,\n" \
    "              uint g [[threadgroup_position_in_grid]], uint l [[thread_index_in_simdgroup]]) {\n" body "}\n"
#define ROW_TIMES_VECTOR "float s = 0; for (uint k = l; k < n; k += 32) s += a[g * n + k] * x[k];\n"

static uint32_t batch_of(const char *source, bool batches) {
    bench *b = start(source, "k");
    b->request.batches = batches;
    b->request.group[0] = 32, b->request.group[1] = b->request.group[2] = 1;
    assert_ok(run_to(b, igi_simt_pass_coarsen));
    uint32_t batch = b->m.info.batch;
    assert_int_equal(b->m.rows, 1);
    end(b);
    return batch;
}

static void threadgroups_that_read_the_same_are_done_together(void **state) {
    (void)state;
    const char *sum = GROUPS(ROW_TIMES_VECTOR "s = simd_sum(s); if (l == 0) y[g] = s;\n");
    assert_int_equal(batch_of(sum, true), 4);
    assert_int_equal(batch_of(sum, false), 1);
}

static void threadgroups_with_something_of_their_own_are_left_alone(void **state) {
    (void)state;
    // Memory and barriers, diverging branches, nothing to share.
    assert_int_equal(
        batch_of(GROUPS("threadgroup float t[32];" ROW_TIMES_VECTOR
                        "t[l] = s; threadgroup_barrier(mem_flags::mem_threadgroup); y[g * 32 + l] = t[31 - l];\n"),
                 true),
        1);
    assert_int_equal(batch_of(GROUPS("if (g > n) return;" ROW_TIMES_VECTOR "y[g * 32 + l] = s;\n"), true), 1);
    assert_int_equal(batch_of(GROUPS("float s = 0; for (uint k = l; k < n; k += 32) s += a[g * n + k];\n"
                                     "y[g * 32 + l] = s;\n"),
                              true),
                     1);
}

static bool is_float_load(LLVMValueRef i) {
    return LLVMIsALoadInst(i) && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMFloatTypeKind;
}

static bool is_float_store(LLVMValueRef i) {
    return LLVMIsAStoreInst(i) && LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) == LLVMFloatTypeKind;
}

static void what_does_not_depend_on_the_row_is_read_once(void **state) {
    (void)state;
    bench *b = coarsened(product, 0, 16, 16);
    assert_int_equal(count_if(b->m.thread, is_float_load), b->m.rows + 1);
    assert_int_equal(count_if(b->m.thread, is_float_store), b->m.rows);
    assert_int_equal(count_calls(b->m.thread, "llvm.fma."), b->m.rows);
    end(b);
}

static void barriers_are_met_once_for_all_rows(void **state) {
    (void)state;
    bench *b =
        coarsened(KERNEL("  threadgroup float t[64], u[64];\n  float s = 0;\n"
                         "  for (uint k = 0; k < n; k += 8) {\n"
                         "    t[l.y * 8 + l.x] = a[p.y * n + k + l.x]; u[l.y * 8 + l.x] = b[(k + l.y) * n + p.x];\n"
                         "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                         "    for (uint j = 0; j < 8; j++) s += t[l.y * 8 + j] * u[j * 8 + l.x];\n"
                         "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                         "  }\n  c[p.y * n + p.x] = s;\n"),
                  0, 8, 8);
    assert_true(b->m.rows > 1);
    assert_int_equal(count_calls(b->m.thread, "__ig_barrier"), 2);
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_take_several_rows_at_once),
        cmocka_unit_test(rows_that_do_not_fit_are_left_alone),
        cmocka_unit_test(rows_that_may_part_are_left_alone),
        cmocka_unit_test(kernels_that_share_nothing_are_left_alone),
        cmocka_unit_test(threadgroups_that_read_the_same_are_done_together),
        cmocka_unit_test(threadgroups_with_something_of_their_own_are_left_alone),
        cmocka_unit_test(what_does_not_depend_on_the_row_is_read_once),
        cmocka_unit_test(barriers_are_met_once_for_all_rows),
    };
    return cmocka_run_group_tests_name("coarsen", tests, open_compiler, close_compiler);
}
