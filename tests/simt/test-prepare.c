// SPDX-License-Identifier: Apache-2.0
// What comes before widening and after it: scalars, two-way branches and one return (prepare.c), the width
// (igi_simt_choose_width), atomics that need no locks (atomics.c).
#include "bench.h"

static bench *kernel(const char *parameters, const char *body, pass last) {
    char source[2000];
    snprintf(source, sizeof source,
             METAL
             "struct Record { float4 v; int2 n; half h[3]; uchar tag; };\n"
             "kernel void k(%s, uint i [[thread_position_in_grid]]) {\n%s\n}\n",
             parameters, body);
    return start_to(source, "k", last);
}

// ---- prepare ----

static bool has_vector(LLVMValueRef i) {
    if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind) return true;
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, (unsigned)k))) == LLVMVectorTypeKind) return true;
    return false;
}

static void only_scalars_are_left(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "out[i] = a[i].wzyx * 2 + a[i + 1];",
        "out[i] = normalize(a[i]) * dot(a[i], a[i + 1]) + cross(a[i].xyz, a[i].zxy).xyzz;",
        "out[i] = select(a[i], a[i + 1], a[i] > 3.0f) + float4(any(a[i] > 1.0f) ? 1 : 0);",
        "float4 s = 0; for (uint k = 0; k < uint(a[0].x); k++) { if (s.x > 3) s = s.yzwx; s += a[i + k]; } out[i] = s;",
        "float4 v[2] = {a[i], a[i + 1]}; v[uint(a[i].x) & 1][uint(a[i].y) & 3] = 1; out[i] = v[0] + v[1];",
        "out[i] = float4x4(a[i], a[i + 1], a[i + 2], a[i + 3]) * a[i];",
        "out[i].xy = float2(as_type<half2>(as_type<uint>(a[i].x) + 1));",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        bench *b = kernel("device const float4 *a, device float4 *out", bodies[i], igi_simt_pass_check);
        assert_ok(igi_simt_pass_prepare(&b->m));
        verify(b, "prepare");
        if (count_if(b->m.thread, has_vector)) fail_msg("%s: vectors are left", bodies[i]);
        end(b);
    }
}

static bool is_return(LLVMValueRef i) {
    return LLVMIsAReturnInst(i) != NULL;
}

static void branches_have_two_ways_and_returns_are_one(void **state) {
    (void)state;
    bench *b = kernel("device int *a",
                      "if (a[i] == 1) return;\nif (a[i + 1] == 5) { a[i] = 3; return; }\n"
                      "switch (a[i] % 7) { case 0: a[i] = 1; break; case 1: a[i] = 5; return; case 2: a[i]++;\n"
                      "case 3: a[i] *= 2; break; default: a[i] = 9; }\na[i + 1] = 0;",
                      igi_simt_pass_check);
    assert_ok(igi_simt_pass_prepare(&b->m));
    verify(b, "prepare");
    assert_int_equal(count_opcode(b->m.thread, LLVMSwitch), 0);
    assert_int_equal(count_if(b->m.thread, is_return), 1);
    end(b);
}

static void small_copies_become_elements(void **state) {
    (void)state;
    bench *b =
        kernel("device const Record *a, device Record *out",
               "Record r = a[i]; if (i & 1) r.n.x += 1; out[i] = r; out[i + 1] = Record{};", igi_simt_pass_check);
    assert_ok(igi_simt_pass_prepare(&b->m));
    verify(b, "prepare");
    assert_int_equal(count_calls(b->m.thread, "llvm.mem"), 0);
    end(b);
}

// ---- Width ----

static uint32_t width_of(const char *parameters, const char *body, uint32_t asked) {
    bench *b = kernel(parameters, body, igi_simt_pass_check);
    b->request.width = asked;
    uint32_t width = igi_simt_choose_width(&b->m);
    end(b);
    return width;
}

// For code for threadgroups of one row of this many threads.
static uint32_t width_for_row(const char *body, uint32_t row) {
    char source[1000];
    snprintf(source, sizeof source,
             METAL
             "kernel void k(device int *a, constant uint &n, uint i [[thread_position_in_grid]],\n"
             "              uint t [[threads_per_grid]], uint l [[thread_position_in_threadgroup]]) {\n"
             "int s = 0;\n%s\na[i] = s;\n}\n",
             body);
    bench *b = start(source, "k");
    b->request.group[0] = row, b->request.group[1] = b->request.group[2] = 1;
    assert_ok(run_to(b, igi_simt_pass_coarsen));
    uint32_t width = igi_simt_choose_width(&b->m);
    end(b);
    return width;
}

// Machines that cannot mask loads have shorter groups of lanes.
static uint32_t at_most_all_lanes(uint32_t row) {
    return row < igi_simt_most_lanes() ? row : igi_simt_most_lanes();
}

static void rows_that_stride_through_memory_do_it_side_by_side(void **state) {
    (void)state;
    assert_int_equal(width_for_row("for (uint k = i; k < n; k += t) s += a[k];", 256), at_most_all_lanes(256));
    assert_int_equal(width_for_row("for (uint k = l; k < n; k += 128) s += a[k];", 128), at_most_all_lanes(128));
    assert_int_equal(width_for_row("for (uint r = 0, k = l; r < 16; r++, k += 256) s += a[k];", 256),
                     at_most_all_lanes(256));
    assert_int_equal(width_for_row("for (uint k = i; k < n; k += t) s += a[k];", 1024), at_most_all_lanes(256));
    // Each thread in a separate part; no loop; rows too short, or not a power of two.
    assert_true(width_for_row("for (uint k = i * n; k < i * n + n; k++) s += a[k];", 256) <= 32);
    assert_true(width_for_row("s = a[i + t];", 256) <= 32);
    assert_true(width_for_row("for (uint k = i; k < n; k += t) s += a[k];", 32) <= 32);
    assert_true(width_for_row("for (uint k = i; k < n; k += t) s += a[k];", 192) <= 32);
    // The trip count of an inner loop differs between lanes.
    assert_true(width_for_row("for (uint k = i; k < n; k += t) for (int j = 0; j < a[k]; j++) s ^= a[j];", 256) <= 32);
}

static void counts_of_bytes_are_made_by_the_cache_line(void **state) {
    (void)state;
    // Threads walk down the columns of a picture whose rows are n elements long.
#define COUNT(TYPE, AT)                                                                     \
    "device atomic_int *bins = (device atomic_int *)a; device " TYPE " *in = (device " TYPE \
    " *)(a + 1000);\n"                                                                      \
    "for (uint j = 0; j < 1000; j++) atomic_fetch_add_explicit(&bins[in[" AT "]], 1, memory_order_relaxed);"
    assert_int_equal(width_for_row(COUNT("uchar", "j * n + l"), 256), 64);
    assert_int_equal(width_for_row(COUNT("ushort", "j * n + l"), 256), 32);
    // Registers of words are a line; the row is no multiple of one; all threads read the same byte.
    assert_true(width_for_row(COUNT("uint", "j * n + l"), 256) <= 16);
    assert_true(width_for_row(COUNT("uchar", "j * n + l"), 96) <= 32);
    assert_true(width_for_row(COUNT("uchar", "j * n"), 256) <= 16);
#undef COUNT
}

static void the_width_is_as_asked_or_as_it_suits(void **state) {
    (void)state;
    assert_int_equal(width_of("device int *a", "a[i] = 1;", 1), 1);
    assert_int_equal(width_of("device int *a", "a[i] = 1;", 8), 8);
    uint32_t chosen = width_of("device int *a", "a[i] = 1;", 0);
    assert_true(chosen >= 8 && chosen <= 32);
    assert_int_equal(width_of("device int *a", "a[i] = simd_sum(a[i]);", 0), 32);
    assert_int_equal(width_of("device int *a", "a[i] = simd_sum(a[i]);", 16), 32);
    assert_int_equal(width_of("device int *a", "a[i] = simd_sum(a[i]);", 1), 1);
    assert_int_equal(width_of("device int *a", "threadgroup_barrier(mem_flags::mem_none); a[i] = 1;", 16), 16);
}

// ---- Atomics ----

static bool is_atomic(LLVMValueRef i) {
    if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) return LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
    return LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
}

static size_t atomics_left(const bench *b) {
    size_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(b->m.module); f; f = LLVMGetNextFunction(f))
        if (f != b->m.thread || !igi_simt_is_wide(&b->m)) count += count_if(f, is_atomic);
    return count;
}

#define IN_THREADGROUP                                                                             \
    "threadgroup atomic_uint t[4]; atomic_store_explicit(&t[i & 3], 1, memory_order_relaxed);\n"   \
    "threadgroup_barrier(mem_flags::mem_threadgroup);\n"                                           \
    "atomic_fetch_add_explicit(&t[a[i] & 3], 2, memory_order_relaxed);\n"                          \
    "atomic_fetch_max_explicit(&t[1], a[i], memory_order_relaxed);\n"                              \
    "uint seen = 3; atomic_compare_exchange_weak_explicit(&t[2], &seen, 5, memory_order_relaxed, " \
    "memory_order_relaxed);\n"                                                                     \
    "a[i] = seen + atomic_exchange_explicit(&t[3], 9, memory_order_relaxed);\n"

static void threadgroup_memory_needs_no_locks(void **state) {
    (void)state;
    bench *b = kernel("device uint *a", IN_THREADGROUP, igi_simt_pass_check);
    assert_int_equal(atomics_left(b), 5);
    assert_ok(igi_simt_pass_relax(&b->m));
    assert_int_equal(atomics_left(b), 4);  // the store is plain now
    end(b);
    for (uint32_t width = 1; width <= 8; width += 7) {
        b = kernel("device uint *a", IN_THREADGROUP, igi_simt_pass_check);
        b->request.width = width;
        assert_ok(igi_simt_pass_relax(&b->m));
        assert_ok(igi_simt_pass_group(&b->m));
        assert_ok(igi_simt_pass_unlock(&b->m));
        verify(b, "unlock");
        assert_int_equal(atomics_left(b), 0);
        end(b);
    }
}

static void device_memory_stays_atomic(void **state) {
    (void)state;
    bench *b = kernel("device atomic_uint *a, device atomic_uint *const device *more",
                      "atomic_fetch_add_explicit(&a[i], 2, memory_order_relaxed);\n"
                      "atomic_fetch_add_explicit(&more[40][i], 2, memory_order_relaxed);\n"
                      "atomic_store_explicit(&a[i + 1], 1, memory_order_relaxed);",
                      igi_simt_pass_check);
    assert_ok(igi_simt_pass_relax(&b->m));
    assert_int_equal(atomics_left(b), 3);
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_scalars_are_left),
        cmocka_unit_test(branches_have_two_ways_and_returns_are_one),
        cmocka_unit_test(small_copies_become_elements),
        cmocka_unit_test(the_width_is_as_asked_or_as_it_suits),
        cmocka_unit_test(rows_that_stride_through_memory_do_it_side_by_side),
        cmocka_unit_test(counts_of_bytes_are_made_by_the_cache_line),
        cmocka_unit_test(threadgroup_memory_needs_no_locks),
        cmocka_unit_test(device_memory_stays_atomic),
    };
    return cmocka_run_group_tests_name("prepare", tests, open_compiler, close_compiler);
}
