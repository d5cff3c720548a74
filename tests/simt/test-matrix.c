// SPDX-License-Identifier: Apache-2.0
// simdgroup matrices (matrix.c, fragments.c, rows.c, turns.c, chains.c, widen-matrix.c, widen-area.c, widen-product.c):
// products in registers, loads and stores of whole matrices, and orders that are left only where single lanes are needed.
#include "bench.h"

static bench *kernel(const char *parameters, const char *body) {
    char source[2000];
    snprintf(source, sizeof source, MATRIX "kernel void k(%s, uint lane [[thread_index_in_simdgroup]]) {\n%s\n}\n",
             parameters, body);
    return start_to(source, "k", igi_simt_pass_check);
}

#define ABC "device const float *a, device const float *b, device float *c, constant uint &n"
#define HALVES "device const half *a, device const half *b, device half *c"

static void single_threads_move_their_own_two_elements(void **state) {
    (void)state;
    bench *b = kernel(ABC, "simdgroup_float8x8 m; simdgroup_load(m, a, 8); simdgroup_store(m, c, 8);");
    assert_int_equal(count_calls(b->m.thread, "__ig_matrix_"), 2);
    assert_ok(igi_simt_lower_matrices(&b->m));
    verify(b, "lower");
    assert_int_equal(count_calls(b->m.thread, "__ig_matrix_"), 0);
    end(b);
}

static void preparing_splits_pairs_into_two_scalars(void **state) {
    (void)state;
    bench *b = kernel(ABC,
                      "simdgroup_float8x8 x, y; simdgroup_load(x, a, 8); simdgroup_load(y, b, 8);\n"
                      "simdgroup_multiply(x, x, y); simdgroup_store(x, c, 8);");
    assert_ok(igi_simt_split_matrices(&b->m));
    verify(b, "split");
    assert_int_equal(count_calls(b->m.thread, "__ig_matrix_even_"), 2);
    assert_int_equal(count_calls(b->m.thread, "__ig_matrix_odd_"), 2);
    assert_int_equal(count_calls(b->m.thread, "__ig_mma_even"), 1);
    assert_int_equal(count_calls(b->m.thread, "__ig_mma_odd"), 1);
    assert_int_equal(count_calls(b->m.thread, "__ig_matrix_put_"), 1);
    assert_int_equal(count_calls(b->m.thread, "__ig_mma_f32"), 0);
    end(b);
}

// Multiply-adds, counted in elements: a product takes 8 for each of the 64.
static size_t fused_elements(LLVMValueRef function) {
    size_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsACallInst(i) || strncmp(igi_simt_callee_name(i), "llvm.fma.", 9) != 0) continue;
            count += LLVMGetVectorSize(LLVMTypeOf(i));
        }
    return count;
}

static void a_product_is_512_multiply_adds_and_nothing_is_gathered(void **state) {
    (void)state;
    static const struct {
        const char *parameters, *body;
        size_t products, matrices;
    } cases[] = {
        {ABC,
         "simdgroup_float8x8 x, y; simdgroup_load(x, a, 8); simdgroup_load(y, b, 8);\n"
         "simdgroup_multiply(x, x, y); simdgroup_store(x, c, 8);",
         1, 2},
        {ABC,
         "simdgroup_float8x8 x, y, s(0.0f); simdgroup_load(x, a, n); simdgroup_load(y, b, n, ulong2(8, 8), true);\n"
         "simdgroup_multiply_accumulate(s, x, y, s); simdgroup_multiply_accumulate(s, y, x, s);\n"
         "simdgroup_store(s, c, n, ulong2(n, 3), true);",
         2, 1},
        {HALVES,
         "simdgroup_half8x8 x, y; simdgroup_float8x8 s(0.0f); simdgroup_load(x, a, 8); simdgroup_load(y, b, 8);\n"
         "simdgroup_multiply_accumulate(s, x, y, s);\n"
         "simdgroup_half8x8 h; h.thread_elements()[0] = half(s.thread_elements()[0]);\n"
         "h.thread_elements()[1] = half(s.thread_elements()[1]); simdgroup_store(h, c, 8);",
         1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench *b = kernel(cases[i].parameters, cases[i].body);
        LLVMValueRef wide = widen(b, IGI_SIMD_WIDTH, true);
        assert_int_equal(fused_elements(wide), 512 * cases[i].products);
        // Each row of the right matrix is loaded again, besides the eight rows of each matrix that is not transposed. With
        // fewer registers, so are others.
        if (igi_simt_is_for_x86() && strstr(igi_simt_features(), "+avx512f"))
            assert_int_equal(count_loads(wide, 8), 8 * (cases[i].products + cases[i].matrices));
        assert_int_equal(count_calls(wide, "llvm.masked."), 0);
        assert_int_equal(count_calls(wide, "__ig_"), 0);
        end(b);
    }
}

static void what_is_kept_for_products_does_not_outlive_a_barrier(void **state) {
    (void)state;
#if !defined(__x86_64__)
    skip();  // nothing is kept in memory
#endif
    static const char *const bodies[] = {"", "threadgroup_barrier(mem_flags::mem_device);"};
    size_t stores[2];
    for (int i = 0; i < 2; i++) {
        char body[500];
        snprintf(body, sizeof body,
                 "simdgroup_float8x8 x, y, s(0.0f); simdgroup_load(x, a, 8); simdgroup_load(y, b, 8);\n"
                 "simdgroup_multiply_accumulate(s, x, y, s); %s simdgroup_multiply_accumulate(s, x, y, s);\n"
                 "simdgroup_store(s, c, 8);",
                 bodies[i]);
        bench *b = kernel(ABC, body);
        stores[i] = count_stores(widen(b, IGI_SIMD_WIDTH, true), 32);
        end(b);
    }
    assert_true(stores[0] >= 2);
    assert_int_equal(stores[1], 2 * stores[0]);
}

static void a_matrix_is_loaded_and_stored_by_rows(void **state) {
    (void)state;
    bench *b = kernel(ABC, "simdgroup_float8x8 m; simdgroup_load(m, a, n); simdgroup_store(m, c, 20);");
    LLVMValueRef wide = widen(b, IGI_SIMD_WIDTH, true);
    assert_int_equal(count_loads(wide, 8), 8);
    assert_int_equal(count_stores(wide, 8), 8);
    end(b);
}

static void scaling_leaves_the_order_of_matrices_alone(void **state) {
    (void)state;
    // As many shuffles as without: nothing is permuted to the order of lanes and back.
    static const char *const bodies[] = {
        "simdgroup_float8x8 x, y; simdgroup_load(x, a, 8); simdgroup_multiply(y, x, x); simdgroup_store(y, c, 8);",
        "simdgroup_float8x8 x, y; simdgroup_load(x, a, 8); simdgroup_multiply(y, x, x);\n"
        "y.thread_elements()[0] *= 3; y.thread_elements()[1] *= n; simdgroup_store(y, c, "
        "8);",
    };
    size_t shuffles[2];
    for (int i = 0; i < 2; i++) {
        bench *b = kernel(ABC, bodies[i]);
        shuffles[i] = count_opcode(widen(b, IGI_SIMD_WIDTH, true), LLVMShuffleVector);
        end(b);
    }
    // The scale is one more value, broadcast to all elements.
    assert_true(shuffles[1] <= shuffles[0] + 2);
}

static void matrices_that_stay_in_a_loop_are_not_reordered_in_it(void **state) {
    (void)state;
    bench *b =
        kernel(ABC,
               "simdgroup_float8x8 x, y, s(0.0f);\n"
               "for (uint k = 0; k < n; k++) { simdgroup_load(x, a + 64 * k, 8); simdgroup_load(y, b + 64 * k, 8);\n"
               "  simdgroup_multiply_accumulate(s, x, y, s); }\nsimdgroup_store(s, c, 8);");
    LLVMValueRef wide = widen(b, IGI_SIMD_WIDTH, true);
    assert_int_equal(fused_elements(wide), 512);
    assert_int_equal(count_calls(wide, "llvm.masked."), 0);
    end(b);
}

static void products_with_one_left_matrix_share_its_columns(void **state) {
    (void)state;
    static const char *const lefts[] = {"y", "x"};
    size_t shuffles[2];
    for (int i = 0; i < 2; i++) {
        char body[600];
        snprintf(body, sizeof body,
                 "simdgroup_float8x8 x, y, s, t; simdgroup_load(x, a, 8); simdgroup_load(y, b, 8);\n"
                 "simdgroup_multiply_accumulate(s, x, y, x); simdgroup_multiply_accumulate(t, %s, y, y);\n"
                 "simdgroup_store(s, c, 8); simdgroup_store(t, c + 64, 8);",
                 lefts[i]);
        bench *b = kernel(ABC, body);
        LLVMValueRef wide = widen(b, IGI_SIMD_WIDTH, true);
        assert_int_equal(fused_elements(wide), 1024);
        shuffles[i] = count_opcode(wide, LLVMShuffleVector);
        end(b);
    }
    assert_true(shuffles[1] + 8 <= shuffles[0]);
}

// Places as MLX's kernels compute them, in narrow integers that could wrap if there were more simdgroups.
#define PLACE                                                                                                      \
    "short q = ushort(lane) / 4, row = (q & 4) + (ushort(lane) / 2) % 4, column = (q & 2) * 2 + (lane % 2) * 2;\n" \
    "simdgroup_float8x8 x, y; simdgroup_load(y, b, 8);\n"
#define MULTIPLY "simdgroup_multiply(x, x, y); simdgroup_store(x, c, 8);"

static bool is_loaded_as_matrix(const char *loads) {
    char body[1000];
    snprintf(body, sizeof body, "%s%s\n%s", PLACE, loads, MULTIPLY);
    bench *b = kernel(ABC, body);
    assert_ok(igi_simt_pass_prepare(&b->m));
    verify(b, "prepare");
    size_t matrices = count_calls(b->m.thread, "__ig_matrix_low_");
    assert_int_equal(count_calls(b->m.thread, "__ig_matrix_high_"), matrices);
    assert_int_equal(count_calls(b->m.thread, "__ig_matrix_even_"), 0);
    end(b);
    return matrices == 2;  // y is one
}

#define LOAD(second) "x.thread_elements()[0] = a[at]; x.thread_elements()[1] = a[at + " second "];"

// An address with an index for each dimension of an array.
#define IN_ARRAY(second)                                                                 \
    "threadgroup float t[16][20]; for (uint i = lane; i < 20; i += 32) t[n][i] = a[i]; " \
    "simdgroup_barrier(mem_flags::mem_threadgroup);"                                     \
    "threadgroup float *place = &t[row][column];"                                        \
    "x.thread_elements()[0] = place[0]; x.thread_elements()[1] = place[" second "];"

static void lanes_that_load_their_own_elements_load_a_matrix(void **state) {
    (void)state;
    assert_true(is_loaded_as_matrix("short at = row * 20 + column;" LOAD("1")));
    assert_true(is_loaded_as_matrix("short at = column * 20 + row;" LOAD("20")));
    assert_true(is_loaded_as_matrix("short at = row * 20 + column; a += n;" LOAD("1")));
    assert_true(is_loaded_as_matrix(IN_ARRAY("1")));
}

static void other_places_are_left_alone(void **state) {
    (void)state;
    // What all lanes share might make some of them wrap: n is not known to be small.
    assert_false(is_loaded_as_matrix("short at = row * 20 + column + n;" LOAD("1")));
    assert_false(is_loaded_as_matrix("short at = row * 20 + column * 2;" LOAD("1")));  // neither rows nor columns
    assert_false(is_loaded_as_matrix("short at = row * 20 + column;" LOAD("3")));      // not the next element
    assert_false(is_loaded_as_matrix("short at = column * 20 + row;" LOAD("1")));
    assert_false(is_loaded_as_matrix(IN_ARRAY("20")));
    assert_false(is_loaded_as_matrix("short at = (row ^ 1) * 20 + column;" LOAD("1")));
}

// ---- Rows ----

static void assert_conversions(const char *parameters, const char *body, size_t to_rows, size_t to_columns) {
    bench *b = kernel(parameters, body);
    assert_ok(igi_simt_pass_prepare(&b->m));
    verify(b, "prepare");
    assert_int_equal(count_calls(b->m.thread, "__ig_rows_low_"), to_rows);
    assert_int_equal(count_calls(b->m.thread, "__ig_rows_high_"), to_rows);
    assert_int_equal(count_calls(b->m.thread, "__ig_rows_even_"), to_columns);
    assert_int_equal(count_calls(b->m.thread, "__ig_rows_odd_"), to_columns);
    assert_int_equal(count_calls(b->m.thread, "__ig_mma_even") + count_calls(b->m.thread, "__ig_mma_odd"), 0);
    end(b);
}

#define LOOP(inside)                                                                                              \
    "simdgroup_float8x8 x, y, s(0.0f);\n"                                                                         \
    "for (uint k = 0; k < n; k++) { simdgroup_load(x, a + 64 * k, 8); simdgroup_load(y, b + 64 * k, 8);\n" inside \
    "  simdgroup_multiply_accumulate(s, x, y, s); }\nsimdgroup_store(s, c, 8);"

static void matrices_are_in_rows_from_load_to_load_and_in_loops(void **state) {
    (void)state;
    // The store is of columns.
    assert_conversions(ABC, LOOP(""), 0, 1);
    // What changes elements is on columns.
    assert_conversions(ABC, LOOP("s.thread_elements()[0] *= 3;"), 1, 2);
    // What packed the elements of each matrix that is loaded is still there, although nothing uses it.
    assert_conversions(
        HALVES ", constant uint &n",
        "simdgroup_half8x8 x, y; simdgroup_float8x8 s = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);\n"
        "for (uint k = 0; k < n; k++) { simdgroup_load(x, a + 64 * k, 8);\n"
        "  simdgroup_load(y, b + 64 * k, 8, 0, true); simdgroup_multiply_accumulate(s, x, y, s); }\n"
        "simdgroup_half8x8 h; h.thread_elements() = half2(s.thread_elements()); simdgroup_store(h, c, 8);",
        0, 3);
    // Lanes leave such a loop one by one.
    assert_conversions(ABC,
                       "simdgroup_float8x8 x, s(0.0f); simdgroup_load(x, a, 8);\n"
                       "for (uint k = 0; k < n * lane; k++) simdgroup_multiply_accumulate(s, x, x, s);\n"
                       "simdgroup_store(s, c, 8);",
                       0, 1);
}

// Of two left matrices the second is loaded when the first has been multiplied, unless something is written before.
static void left_matrices_are_loaded_in_turn(void **state) {
    (void)state;
    static const char *const between[] = {"", "c[lane] = 1;"};
    for (int i = 0; i < 2; i++) {
        char body[600];
        snprintf(body, sizeof body,
                 "simdgroup_float8x8 x, y, z, s, t; simdgroup_load(x, a, 8); simdgroup_load(y, a + 64, 8);\n"
                 "simdgroup_load(z, b, 8); %s simdgroup_multiply(s, x, z); simdgroup_multiply(t, y, z);\n"
                 "simdgroup_store(s, c, 8); simdgroup_store(t, c + 64, 8);",
                 between[i]);
        bench *b = kernel(ABC, body);
        assert_ok(igi_simt_pass_prepare(&b->m));
        char order[8] = "";
        for (LLVMValueRef v = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(b->m.thread)); v;
             v = LLVMGetNextInstruction(v)) {
            const char *name = igi_simt_callee_name(v);
            if (strncmp(name, "__ig_matrix_low_", 16) == 0) strcat(order, "l");
            if (strcmp(name, "__ig_mma_low") == 0) strcat(order, "p");
        }
        assert_string_equal(order, i ? "lllpp" : "llplp");
        end(b);
    }
}

// Which product each one adds to: letters in the order of products, "." for none.
static void chains_of(LLVMBasicBlockRef block, char chains[8]) {
    LLVMValueRef products[8];
    size_t count = 0;
    for (LLVMValueRef v = LLVMGetFirstInstruction(block); v; v = LLVMGetNextInstruction(v)) {
        if (!igi_simt_calls(v, "__ig_mma_low")) continue;
        char to = '.';
        for (size_t k = 0; k < count; k++)
            if (products[k] == LLVMGetOperand(v, 4)) to = (char)('a' + k);
        chains[count] = to;
        products[count++] = v;
    }
    chains[count] = 0;
}

// Two sums, two steps along their rows and columns.
#define STEP(left, right)                                             \
    "simdgroup_load(x, a + " left ", 8); simdgroup_load(y, a + " left \
    " + 64, 8);\n"                                                    \
    "simdgroup_load(z, b + " right                                    \
    ", 8); simdgroup_multiply_accumulate(s, x, z, s);\n"              \
    "simdgroup_multiply_accumulate(t, y, z, t);\n"

static void steps_are_taken_one_after_the_other_for_each_sum(void **state) {
    (void)state;
    static const struct {
        const char *between, *chains;
    } cases[] = {
        {"", ".a.c"},
        {"c[lane] = 1;", "..ab"},  // might be in the memory of the next factors
        {"threadgroup_barrier(mem_flags::mem_device);", "..ab"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[1000];
        snprintf(body, sizeof body,
                 "simdgroup_float8x8 x, y, z, s, t; simdgroup_load(s, c, 8); simdgroup_load(t, c + 64, 8);\n%s%s%s"
                 "simdgroup_store(s, c, 8); simdgroup_store(t, c + 64, 8);",
                 STEP("0", "n"), cases[i].between, STEP("128 + n", "64 + n * n"));
        bench *b = kernel(ABC, body);
        char chains[8];
        assert_ok(igi_simt_pass_prepare(&b->m));
        verify(b, "prepare");
        chains_of(LLVMGetEntryBasicBlock(b->m.thread), chains);
        assert_string_equal(chains, cases[i].chains);
        end(b);
    }
}

static void sums_of_chains_are_computed_once(void **state) {
    (void)state;
    bench *b = kernel(
        ABC, "simdgroup_float8x8 x, y, z, s, t; simdgroup_load(s, c, 8); simdgroup_load(t, c + 64, 8);\n" STEP("0", "n")
                 STEP("128", "64") STEP("256", "128") "simdgroup_store(s, c, 8); simdgroup_store(t, c + 64, 8);");
    LLVMValueRef wide = widen(b, IGI_SIMD_WIDTH, true);
    assert_int_equal(fused_elements(wide), 6 * 512);
    assert_int_equal(count_calls(wide, "__ig_"), 0);
    end(b);
}

static size_t copies_of_matrices(const char *parameters, const char *between) {
    char body[600];
    snprintf(body, sizeof body,
             "simdgroup_float8x8 x, y, s(0.0f); simdgroup_load(x, a, 20); simdgroup_load(y, b, 68); %s\n"
             "simdgroup_multiply_accumulate(s, x, y, s); simdgroup_store(s, c, 8);",
             between);
    bench *b = kernel(parameters, body);
    size_t stores = count_stores(widen(b, IGI_SIMD_WIDTH, true), 32);
    end(b);
    return stores;
}

static void matrices_in_threadgroup_memory_are_multiplied_in_place(void **state) {
    (void)state;
#define SHARED "threadgroup float *a [[threadgroup(0)]], threadgroup float *b [[threadgroup(1)]], device float *c"
    assert_int_equal(copies_of_matrices(SHARED, ""), 0);
    assert_int_equal(copies_of_matrices(SHARED, "simdgroup_barrier(mem_flags::mem_threadgroup);"), 0);
    // What is written in between may be a part of them.
    assert_true(copies_of_matrices(SHARED, "a[lane] = 1;") > 0);
    assert_true(copies_of_matrices(SHARED, "threadgroup_barrier(mem_flags::mem_threadgroup);") > 0);
    // Rows of buffers may displace each other from the cache.
    assert_true(copies_of_matrices("device float *a, device float *b, device float *c", "") > 0);
}

static void lanes_that_are_off_neither_load_nor_store(void **state) {
    (void)state;
    bench *b = kernel(ABC, "simdgroup_float8x8 m; simdgroup_load(m, a, 8); simdgroup_store(m, c, 8);");
    LLVMValueRef wide = widen(b, IGI_SIMD_WIDTH, false);
    assert_int_equal(count_calls(wide, "llvm.masked.gather."), 2);
    assert_int_equal(count_calls(wide, "llvm.masked.scatter."), 2);
    assert_int_equal(count_loads(wide, 8) + count_stores(wide, 8), 0);
    end(b);
}

// ---- Quick code ----

static size_t shared_functions(LLVMModuleRef module) {
    size_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        bool matrix = strncmp(name, "ig.load.", 8) == 0 || strncmp(name, "ig.store.", 9) == 0;
        count += !LLVMIsDeclaration(f) && (matrix || strcmp(name, "ig.product") == 0);
    }
    return count;
}

static void quick_code_has_one_function_for_each_kind_of_access_and_one_for_products(void **state) {
    (void)state;
    bench *b = kernel(ABC,
                      "simdgroup_float8x8 x, y, z; simdgroup_load(x, a, n); simdgroup_load(y, b, n, 0, true);\n"
                      "simdgroup_load(z, a + 64, n); simdgroup_multiply(x, x, y); simdgroup_multiply(z, x, z);\n"
                      "simdgroup_store(z, c, n); simdgroup_store(x, c + 64, n);");
    b->request.first_tier = true;
    LLVMValueRef wide = widen(b, IGI_SIMD_WIDTH, false);
    assert_int_equal(shared_functions(b->m.module), 4);
    assert_int_equal(count_calls(wide, "ig.load.float"), 3);
    assert_int_equal(count_calls(wide, "ig.store.float"), 2);
    assert_int_equal(count_calls(wide, "ig.product"), 2);
    assert_int_equal(fused_elements(wide), 0);
    assert_int_equal(count_calls(wide, "llvm.masked."), 0);
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_threads_move_their_own_two_elements),
        cmocka_unit_test(preparing_splits_pairs_into_two_scalars),
        cmocka_unit_test(a_product_is_512_multiply_adds_and_nothing_is_gathered),
        cmocka_unit_test(what_is_kept_for_products_does_not_outlive_a_barrier),
        cmocka_unit_test(a_matrix_is_loaded_and_stored_by_rows),
        cmocka_unit_test(scaling_leaves_the_order_of_matrices_alone),
        cmocka_unit_test(matrices_that_stay_in_a_loop_are_not_reordered_in_it),
        cmocka_unit_test(products_with_one_left_matrix_share_its_columns),
        cmocka_unit_test(lanes_that_load_their_own_elements_load_a_matrix),
        cmocka_unit_test(other_places_are_left_alone),
        cmocka_unit_test(matrices_are_in_rows_from_load_to_load_and_in_loops),
        cmocka_unit_test(left_matrices_are_loaded_in_turn),
        cmocka_unit_test(steps_are_taken_one_after_the_other_for_each_sum),
        cmocka_unit_test(sums_of_chains_are_computed_once),
        cmocka_unit_test(matrices_in_threadgroup_memory_are_multiplied_in_place),
        cmocka_unit_test(lanes_that_are_off_neither_load_nor_store),
        cmocka_unit_test(quick_code_has_one_function_for_each_kind_of_access_and_one_for_products),
    };
    return cmocka_run_group_tests_name("matrix", tests, open_compiler, close_compiler);
}
