// SPDX-License-Identifier: Apache-2.0
// Private arrays whose lanes are interleaved (interleave.c): which ones, and how their accesses change.
#include "bench.h"

enum { W = 8 };

static bool is_interleaved(LLVMValueRef i) {
    unsigned kind =
        LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(i)), IGI_LANE_STRIDE, strlen(IGI_LANE_STRIDE));
    return LLVMIsAAllocaInst(i) && LLVMGetMetadata(i, kind);
}

static bench *prepared(const char *body) {
    char source[2000];
    snprintf(source, sizeof source,
             METAL
             "struct Pair { int a; float b; };\nstruct Mixed { int a; short b; };\n"
             "kernel void k(device int *a, constant int &n, uint i [[thread_position_in_grid]]) {\n%s\n}\n",
             body);
    bench *b = start_to(source, "k", igi_simt_pass_check);
    assert_ok(igi_simt_pass_prepare(&b->m));
    assert_ok(igi_simt_pass_interleave(&b->m, W));
    verify(b, "interleave");
    return b;
}

static size_t interleaved(const char *body) {
    bench *b = prepared(body);
    size_t count = count_if(b->m.thread, is_interleaved);
    end(b);
    return count;
}

#define FILL(type) type " p[16]; for (int k = 0; k < n; k++) p[k & 15] = " type "(a[k]);"

static void arrays_of_one_kind_of_element_are_interleaved(void **state) {
    (void)state;
    assert_int_equal(interleaved(FILL("int") "a[i] = p[n];"), 1);
    assert_int_equal(interleaved(FILL("uchar") "a[i] = p[a[i] & 15];"), 1);
    assert_int_equal(interleaved("Pair p[9]; for (int k = 0; k < n; k++) p[k] = Pair{k, 0.5f}; a[i] = p[n].a;"), 1);
    assert_int_equal(interleaved("int2 p[9]; for (int k = 0; k < n; k++) p[k] = int2(k, a[k]); a[i] = p[n].y;"), 1);
    assert_int_equal(interleaved("int p[4][5]; for (int k = 0; k < n; k++) p[k & 3][k % 5] = k; a[i] = p[n][a[i]];"),
                     1);
    // A pointer that walks through it.
    assert_int_equal(interleaved(FILL("int") "thread int *q = p; for (int k = 0; k < n; k++) a[i] += *q++;"), 1);
}

static void others_are_left_alone(void **state) {
    (void)state;
    assert_int_equal(interleaved("Mixed p[9]; for (int k = 0; k < n; k++) p[k] = Mixed{k, 1}; a[i] = p[n].a + p[n].b;"),
                     0);
    // Bytes of what is written as words; an address that escapes; a pointer that may point to something else.
    assert_int_equal(interleaved(FILL("int") "a[i] = ((thread uchar *)p)[n];"), 0);
    assert_int_equal(interleaved(FILL("int") "a[i] = int(ulong(&p[n]));"), 0);
    assert_int_equal(interleaved(FILL("int") "int q[16]; q[n] = 3; thread int *r = a[i] ? p : q; a[i] = r[n];"), 0);
    assert_int_equal(interleaved(FILL("int") "volatile thread int *q = p; a[i] = q[n];"), 0);
}

static void a_common_index_is_one_access(void **state) {
    (void)state;
    bench *b = prepared(FILL("int") "a[i] = p[n];");
    LLVMValueRef wide;
    const char *declined;
    assert_ok(igi_simt_widen(&b->m, W, true, "wide", &wide, &declined));
    assert_null(declined);
    assert_int_equal(count_calls(wide, "llvm.masked.gather"), 0);
    assert_int_equal(count_calls(wide, "llvm.masked.scatter"), 0);
    assert_int_equal(count_loads(wide, W), 1);
    assert_int_equal(count_stores(wide, W), 2);
    end(b);
    b = prepared(FILL("int") "a[i] = p[a[i] & 15];");
    assert_ok(igi_simt_widen(&b->m, W, true, "wide", &wide, &declined));
    assert_int_equal(count_calls(wide, "llvm.masked.gather"), 1);
    assert_int_equal(count_calls(wide, "llvm.masked.scatter"), 0);
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_one_kind_of_element_are_interleaved),
        cmocka_unit_test(others_are_left_alone),
        cmocka_unit_test(a_common_index_is_one_access),
    };
    return cmocka_run_group_tests_name("interleave", tests, open_compiler, close_compiler);
}
