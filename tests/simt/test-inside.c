// SPDX-License-Identifier: Apache-2.0
// Copies for the inside of pictures (inside.c): which code is copied, and that the copy reads rows of memory.
#include "bench.h"

enum { W = 8 };

static bench *prepared(const char *body) {
    char source[2000];
    snprintf(
        source, sizeof source,
        METAL
        "kernel void k(device int *a, device const int *b, constant int &n, threadgroup int *t [[threadgroup(0)]],\n"
        "              uint g [[thread_position_in_grid]]) {\nint i = g;\n%s\n}\n",
        body);
    bench *b = start_to(source, "k", igi_simt_pass_check);
    assert_ok(igi_simt_pass_prepare(&b->m));
    assert_ok(igi_simt_pass_inside(&b->m, W));
    verify(b, "inside");
    return b;
}

static size_t copies(const char *body) {
    bench *b = prepared(body);
    size_t count = count_calls(b->m.thread, IGI_INSIDE);
    end(b);
    return count;
}

static void reads_of_clamped_lines_are_copied(void **state) {
    (void)state;
    assert_int_equal(copies("a[i] = b[max(i - 1, 0)] + b[min(i + 1, n - 1)];"), 1);
    assert_int_equal(copies("int s = 0; for (int j = 0; j < n; j++) s += b[j * 100 + clamp(i - 2, 0, 99)]; a[i] = s;"),
                     1);
    // The kernel waits: only the loop is copied.
    assert_int_equal(
        copies("t[i] = 0; threadgroup_barrier(mem_flags::mem_threadgroup);\n"
               "int s = 0; for (int j = 0; j < n; j++) s += b[j * 100 + min(i, 99)]; a[i] = s + t[i ^ 1];"),
        1);
}

static void other_code_is_not(void **state) {
    (void)state;
    assert_int_equal(copies("a[i] = b[i];"), 0);
    assert_int_equal(copies("if (i < n) a[i] = b[i];"), 0);
    assert_int_equal(copies("a[i] = max(i, n);"), 0);          // no address
    assert_int_equal(copies("a[i] = b[min(b[i], 99)];"), 0);   // no line
    assert_int_equal(copies("a[i] = b[min(i * n, 99)];"), 0);  // nor this
    assert_int_equal(copies("a[i] = b[min(i, b[i])];"), 0);    // no limit that all lanes have
    assert_int_equal(copies("a[i] = simd_sum(b[max(i - 1, 0)]);"), 0);
    // The limit is computed where the kernel may never get.
    assert_int_equal(copies("if (n > 3) a[i] = b[min(i, a[n])];"), 0);
}

static void the_inside_reads_rows(void **state) {
    (void)state;
    bench *b = prepared("a[i] = b[max(i - 1, 0)] + b[min(i + 1, n - 1)];");
    LLVMValueRef wide;
    const char *declined;
    assert_ok(igi_simt_widen(&b->m, W, true, "wide", &wide, &declined));
    assert_null(declined);
    assert_true(count_loads(wide, W) >= 2);                        // rows, and variables that cross blocks
    assert_int_equal(count_calls(wide, "llvm.masked.gather"), 2);  // of the other copy
    assert_int_equal(count_calls(wide, IGI_INSIDE), 0);
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_of_clamped_lines_are_copied),
        cmocka_unit_test(other_code_is_not),
        cmocka_unit_test(the_inside_reads_rows),
    };
    return cmocka_run_group_tests_name("inside", tests, open_compiler, close_compiler);
}
