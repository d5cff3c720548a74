// SPDX-License-Identifier: Apache-2.0
// Lane operations: their results one thread at a time (lanes.c, the reference), and what they become in registers
// (widen-lanes.c, simd-place.c).
#include "simt/lanes.h"

#include "bench.h"

// ---- The reference ----

enum { ALL = -1 };

static void ask(igi_simt_lane *lanes, igi_simt_lane_op op, uint32_t width, uint32_t active) {
    for (uint32_t i = 0; i < IGI_SIMD_WIDTH; i++) {
        lanes[i].op = op;
        lanes[i].width = width;
        lanes[i].result = 0xdead;
    }
    igi_simt_lanes_answer(lanes, IGI_SIMD_WIDTH, active);
}

static void fill(igi_simt_lane *lanes, uint32_t argument) {
    memset(lanes, 0, IGI_SIMD_WIDTH * sizeof *lanes);
    for (uint32_t i = 0; i < IGI_SIMD_WIDTH; i++) {
        lanes[i].operands[0] = 100 + i * i;
        lanes[i].operands[1] = argument;
    }
}

static void shuffles_take_the_value_of_another_lane(void **state) {
    (void)state;
    static const struct {
        igi_simt_lane_op op;
        uint32_t argument, width;
        int from[2];  // of lanes 1 and 30
    } cases[] = {
        {IGI_LANE_shuffle_u32, 7, 32, {7, 7}},        {IGI_LANE_shuffle_u32, 39, 32, {7, 7}},
        {IGI_LANE_shuffle_u32, 2, 4, {2, 30}},        {IGI_LANE_shuffle_xor_u32, 3, 32, {2, 29}},
        {IGI_LANE_shuffle_up_u32, 2, 32, {1, 28}},    {IGI_LANE_shuffle_down_u32, 2, 32, {3, 30}},
        {IGI_LANE_rotate_up_u32, 2, 32, {31, 28}},    {IGI_LANE_rotate_down_u32, 2, 32, {3, 0}},
        {IGI_LANE_shuffle_up_u32, 1, 4, {0, 29}},     {IGI_LANE_shuffle_down_u32, 1, 4, {2, 31}},
        {IGI_LANE_rotate_down_u32, 3, 4, {0, 29}},    {IGI_LANE_shuffle_u64, 31, 32, {31, 31}},
        {IGI_LANE_shuffle_down_u64, 40, 32, {1, 30}},
    };
    igi_simt_lane lanes[IGI_SIMD_WIDTH];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fill(lanes, cases[i].argument);
        ask(lanes, cases[i].op, cases[i].width, (uint32_t)ALL);
        assert_int_equal(lanes[1].result, 100 + cases[i].from[0] * cases[i].from[0]);
        assert_int_equal(lanes[30].result, 100 + cases[i].from[1] * cases[i].from[1]);
    }
}

static void only_active_lanes_take_part_and_get_an_answer(void **state) {
    (void)state;
    igi_simt_lane lanes[IGI_SIMD_WIDTH];
    fill(lanes, 0);
    ask(lanes, IGI_LANE_reduce_add_u32, 32, 0x0000010a);  // lanes 1, 3 and 8
    assert_int_equal(lanes[1].result, 300 + 1 + 9 + 64);
    assert_int_equal(lanes[8].result, 300 + 1 + 9 + 64);
    assert_int_equal(lanes[0].result, 0xdead);
    ask(lanes, IGI_LANE_scan_exclusive_add_u32, 32, 0x0000010a);
    assert_int_equal(lanes[1].result, 0);
    assert_int_equal(lanes[3].result, 101);
    assert_int_equal(lanes[8].result, 101 + 109);
    ask(lanes, IGI_LANE_reduce_max_u32, 4, 0x0000010a);
    assert_int_equal(lanes[1].result, 109);
    assert_int_equal(lanes[8].result, 164);
    for (uint32_t i = 0; i < IGI_SIMD_WIDTH; i++) lanes[i].operands[0] = i % 2;
    ask(lanes, IGI_LANE_ballot, 32, 0x0000010a);
    assert_int_equal(lanes[8].result, 0xa);
    ask(lanes, IGI_LANE_ballot, 4, 0x0000010a);
    assert_int_equal(lanes[3].result, 0xa);
    assert_int_equal(lanes[8].result, 0);
}

static uint64_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void a_nan_loses_against_a_number(void **state) {
    (void)state;
    igi_simt_lane lanes[IGI_SIMD_WIDTH];
    fill(lanes, 0);
    for (uint32_t i = 0; i < IGI_SIMD_WIDTH; i++) lanes[i].operands[0] = 0x7fc00000;
    lanes[5].operands[0] = bits_of(2.5f);
    lanes[9].operands[0] = bits_of(-3.5f);
    ask(lanes, IGI_LANE_reduce_min_f32, 32, (uint32_t)ALL);
    assert_int_equal(lanes[0].result, bits_of(-3.5f));
    ask(lanes, IGI_LANE_reduce_max_f32, 32, (uint32_t)ALL);
    assert_int_equal(lanes[31].result, bits_of(2.5f));
}

// ---- In registers ----

static LLVMValueRef wide_kernel(bench **b, const char *body) {
    char source[1500];
    snprintf(source, sizeof source,
             METAL
             "kernel void k(device const uint *a, device uint *out, constant uint &n,\n"
             "              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],\n"
             "              uint warp [[simdgroup_index_in_threadgroup]]) {\n%s\n}\n",
             body);
    *b = start_to(source, "k", igi_simt_pass_check);
    return widen(*b, IGI_SIMD_WIDTH, true);
}

static size_t gathers(const char *body) {
    bench *b;
    LLVMValueRef wide = wide_kernel(&b, body);
    assert_int_equal(count_calls(wide, "__ig_"), 0);
    size_t count = count_calls(wide, "llvm.masked.gather.");
    end(b);
    return count;
}

static void known_distances_are_shuffles_of_registers(void **state) {
    (void)state;
    assert_int_equal(gathers("out[i] = simd_sum(a[i]);"), 0);
    assert_int_equal(gathers("out[i] = simd_max(a[i]) + simd_min(a[i]) + simd_product(a[i]);"), 0);
    assert_int_equal(gathers("out[i] = simd_prefix_inclusive_sum(a[i]) + simd_prefix_exclusive_sum(a[i]);"), 0);
    assert_int_equal(
        gathers("out[i] = simd_shuffle_xor(a[i], 3) + simd_shuffle_down(a[i], 1) + simd_shuffle_up(a[i], 2);"), 0);
    assert_int_equal(gathers("out[i] = quad_sum(a[i]) + quad_shuffle_xor(a[i], 1) + quad_broadcast(a[i], 2);"), 0);
    assert_int_equal(gathers("out[i] = simd_broadcast(a[i], 5) + simd_broadcast(a[i], ushort(n));"), 0);
    assert_int_equal(
        gathers("out[i] = uint(simd_vote::vote_t(simd_ballot(a[i] > 3))) + (simd_any(a[i] == 1) ? 1 : 0);"), 0);
}

// What is made of the lane's number alone needs no look at memory, in another block either.
static void known_lanes_are_shuffled_from_by_constants(void **state) {
    (void)state;
    assert_int_equal(gathers("out[i] = simd_shuffle(a[i], ushort(lane / 16 * 16));"), 0);
    assert_int_equal(gathers("uint sum = 0; ushort from = lane % 4 * 8;"
                             "for (uint k = 0; k < n; k++) sum += simd_shuffle(a[i + k], from); out[i] = sum;"),
                     0);
    assert_int_equal(gathers("out[i] = simd_shuffle(a[i], ushort(a[i + 1]));"), 1);
}

static bool reads_an_argument(LLVMValueRef i) {
    LLVMValueRef from = LLVMIsALoadInst(i) ? LLVMGetOperand(i, 0) : NULL;
    while (from && LLVMIsAGetElementPtrInst(from)) from = LLVMGetOperand(from, 0);
    return from && LLVMIsALoadInst(from);
}

// Lanes talk by registers. The array stays in memory, because the run chooses from it.
static void what_was_read_before_lanes_talk_is_not_read_again(void **state) {
    (void)state;
    bench *b = start_to(METAL
                        "kernel void k(device const uint *a, device uint *out, uint i [[thread_position_in_grid]],\n"
                        "              ushort lane [[thread_index_in_simdgroup]]) {\n"
                        "    uint all[8];\n"
                        "    for (ushort k = 0; k < 8; k++) all[k] = simd_shuffle_xor(a[i] + k, k) + simd_sum(a[i]);\n"
                        "    out[i] = all[lane & 7];\n}\n",
                        "k", igi_simt_pass_inline);
    assert_int_equal(count_if(b->m.thread, reads_an_argument), 1);
    assert_int_equal(count_calls(b->m.thread, "__ig_reduce_"), 1);
    assert_int_equal(count_calls(b->m.thread, "__ig_shuffle_"), 8);
    end(b);
}

static bool is_vector_of_32(LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == IGI_SIMD_WIDTH;
}

static void a_sum_takes_five_steps(void **state) {
    (void)state;
    bench *b;
    LLVMValueRef wide = wide_kernel(&b, "out[i] = simd_sum(a[i]);");
    size_t additions = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(wide); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            additions += LLVMGetInstructionOpcode(i) == LLVMAdd && is_vector_of_32(i);
    assert_int_equal(additions, 5);
    end(b);
}

static bool adds_all_lanes(LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    return LLVMGetInstructionOpcode(i) == LLVMAdd && LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetVectorSize(type) >= IGI_SIMD_WIDTH;
}

static bool adds_half_of_a_simdgroup(LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    return LLVMGetInstructionOpcode(i) == LLVMAdd && LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetVectorSize(type) == IGI_SIMD_WIDTH / 2;
}

static void several_simdgroups_compute_each_sum_once(void **state) {
    (void)state;
    bench *b = start_to(METAL
                        "kernel void k(device const uint *a, device uint *out, uint i [[thread_position_in_grid]]) {\n"
                        "out[i] = simd_sum(a[i]); }",
                        "k", igi_simt_pass_check);
    LLVMValueRef wide = widen(b, 4 * IGI_SIMD_WIDTH, true);
    assert_int_equal(count_if(wide, adds_all_lanes), 0);
    assert_int_equal(count_if(wide, adds_half_of_a_simdgroup), 4);
    end(b);
}

static bool is_divergent_branch(LLVMValueRef i) {
    return LLVMIsABranchInst(i) && LLVMIsConditional(i);
}

static void what_all_lanes_are_told_alike_parts_none(void **state) {
    (void)state;
    bench *b;
    // One branch, by a scalar: no masks.
    LLVMValueRef wide = wide_kernel(&b, "if (simd_any(a[i] == 3)) out[i] = a[i + 1];");
    assert_int_equal(count_calls(wide, "llvm.masked."), 0);
    assert_int_equal(count_if(wide, is_divergent_branch), 1);
    end(b);
    wide = wide_kernel(&b, "if (warp == n) out[i] = a[i + 1];");
    assert_int_equal(count_calls(wide, "llvm.masked."), 0);
    end(b);
}

static void places_in_a_simdgroup_are_known(void **state) {
    (void)state;
    bench *b;
    LLVMValueRef wide = wide_kernel(&b, "out[warp * 32 + lane] = a[lane];");
    assert_int_equal(count_loads(wide, IGI_SIMD_WIDTH), 1);
    assert_int_equal(count_stores(wide, IGI_SIMD_WIDTH), 1);
    assert_int_equal(count_calls(wide, "__ig_"), 0);
    end(b);
}

static void single_threads_compute_their_places(void **state) {
    (void)state;
    bench *b =
        start_to(METAL
                 "kernel void k(device uint *out, uint lane [[thread_index_in_simdgroup]],\n"
                 "              uint warp [[simdgroup_index_in_threadgroup]]) { out[warp * 32 + lane] = lane; }\n",
                 "k", igi_simt_pass_check);
    assert_int_equal(count_calls(b->m.thread, "__ig_simd_"), 2);
    assert_ok(igi_simt_lower_places(&b->m));
    verify(b, "places");
    assert_int_equal(count_calls(b->m.thread, "__ig_"), 0);
    end(b);
}

static void a_kernel_with_lane_operations_is_32_wide_and_no_coroutine(void **state) {
    (void)state;
    bench *b = start(
        METAL "kernel void k(device uint *a, uint i [[thread_position_in_grid]]) { a[i] = simd_sum(a[i]); }\n", "k");
    b->request.width = 8;
    assert_ok(run_to(b, igi_simt_pass_group));
    assert_int_equal(b->m.info.width, IGI_SIMD_WIDTH);
    assert_int_equal(b->m.info.form, IGI_FORM_LOOP);
    assert_null(LLVMGetNamedFunction(b->m.module, "ig.start"));
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffles_take_the_value_of_another_lane),
        cmocka_unit_test(only_active_lanes_take_part_and_get_an_answer),
        cmocka_unit_test(a_nan_loses_against_a_number),
        cmocka_unit_test(known_distances_are_shuffles_of_registers),
        cmocka_unit_test(known_lanes_are_shuffled_from_by_constants),
        cmocka_unit_test(what_was_read_before_lanes_talk_is_not_read_again),
        cmocka_unit_test(a_sum_takes_five_steps),
        cmocka_unit_test(several_simdgroups_compute_each_sum_once),
        cmocka_unit_test(what_all_lanes_are_told_alike_parts_none),
        cmocka_unit_test(places_in_a_simdgroup_are_known),
        cmocka_unit_test(single_threads_compute_their_places),
        cmocka_unit_test(a_kernel_with_lane_operations_is_32_wide_and_no_coroutine),
    };
    return cmocka_run_group_tests_name("lanes", tests, open_compiler, close_compiler);
}
