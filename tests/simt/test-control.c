// SPDX-License-Identifier: Apache-2.0
// Control flow of a group of lanes (widen-control.c): uniform branches stay branches, masks are used where lanes
// diverge, and nothing is executed without active lanes. test-random-kernels checks that results are right.
#include "bench.h"
#include "simt/cfg.h"

#define W 8

static bench *kernel(const char *body) {
    char source[2000];
    snprintf(source, sizeof source,
             METAL
             "kernel void k(device const int *a, device int *out, constant int &n, uint i [[thread_position_in_grid]]) "
             "{\n%s\n}\n",
             body);
    return start_to(source, "k", igi_simt_pass_check);
}

// What a widened function consists of.
typedef struct control {
    size_t uniform, by_mask;  // conditional branches, by a scalar or by the bits of a mask
    uint32_t loops;
    size_t masked;       // loads and stores
    size_t vector_phis;  // for lanes that took different paths
    size_t scalar_phis;  // counters and the like
} control;

// The bits of a mask, compared with none or all of them.
static bool tests_a_mask(LLVMValueRef condition) {
    if (!LLVMIsAICmpInst(condition)) return false;
    LLVMValueRef bits = LLVMGetOperand(condition, 0);
    return LLVMGetTypeKind(LLVMTypeOf(bits)) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(LLVMTypeOf(bits)) == W;
}

static control control_of(LLVMValueRef wide) {
    control c = {.masked = count_calls(wide, "llvm.masked.")};
    igi_simt_cfg cfg;
    assert_true(igi_simt_cfg_build(wide, &cfg));
    c.loops = cfg.loop_count;
    igi_simt_cfg_free(&cfg);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(wide); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            bool vector = LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind;
            c.vector_phis += LLVMIsAPHINode(i) && vector;
            c.scalar_phis += LLVMIsAPHINode(i) && !vector;
            if (!LLVMIsABranchInst(i) || !LLVMIsConditional(i)) continue;
            bool mask = tests_a_mask(LLVMGetCondition(i));
            c.by_mask += mask;
            c.uniform += !mask;
        }
    return c;
}

static control widened(const char *body, bool full) {
    bench *b = kernel(body);
    control c = control_of(widen(b, W, full));
    end(b);
    return c;
}

static void branches_all_lanes_take_alike_stay_branches(void **state) {
    (void)state;
    control c = widened("if (n > 3) out[i] = a[i] * 5; else out[i + 1] = a[i];", true);
    assert_int_equal(c.uniform, 1);
    assert_int_equal(c.by_mask, 0);
    assert_int_equal(c.masked, 0);
}

static void loops_of_equal_rounds_count_in_scalars(void **state) {
    (void)state;
    control c = widened("int s = 0; for (int k = 0; k < n; k++) s += a[i + k] * k; out[i] = s;", true);
    assert_int_equal(c.loops, 1);
    assert_int_equal(c.masked + c.by_mask, 0);
    assert_true(c.scalar_phis >= 1);
}

static void lanes_that_part_are_masked_and_meet_again(void **state) {
    (void)state;
    control c = widened("int v = a[i]; if (v > 3) v = a[i + 1] * 5; else v = a[i + 2] - 1; out[i] = v;", false);
    assert_int_equal(c.uniform, 0);
    assert_int_equal(c.masked, 4);  // v, both branches, and the store, at the end of a row
    assert_int_equal(c.loops, 0);
}

static void only_lanes_that_stay_keep_a_loop_going(void **state) {
    (void)state;
    control c = widened("int v = a[i], s = 0; while (v > 0) { s += v; v -= 3; } out[i] = s;", true);
    assert_int_equal(c.loops, 1);
    assert_int_equal(c.uniform, 0);
    assert_true(c.by_mask >= 1);
    assert_true(c.vector_phis >= 2);
}

// Branches back, by a comparison of scalars, to a copy where all lanes are known to be active: the iteration begins
// without a mask.
static void rounds_of_all_lanes_need_no_mask(void **state) {
    (void)state;
    bench *b = kernel("int s = 0; for (int k = int(i); k < n; k += 64) s += a[k] * 3; out[i] = s;");
    LLVMValueRef wide = widen(b, W, true);
    assert_int_equal(count_loads(wide, W), 1);
    assert_int_equal(count_calls(wide, "llvm.masked.load."), 1);
    igi_simt_cfg cfg;
    assert_true(igi_simt_cfg_build(wide, &cfg));
    bool found = false;
    for (uint32_t i = 0; i < cfg.count; i++) {
        LLVMValueRef branch = LLVMGetBasicBlockTerminator(cfg.blocks[i].block);
        bool plain = false;
        for (LLVMValueRef v = LLVMGetFirstInstruction(cfg.blocks[i].block); v; v = LLVMGetNextInstruction(v))
            plain |= LLVMIsALoadInst(v) && LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind;
        bool again = false;
        for (unsigned k = 0; k < LLVMGetNumSuccessors(branch); k++)
            again |= LLVMGetSuccessor(branch, k) == cfg.blocks[i].block;
        found |= plain && again && LLVMIsConditional(branch) && !tests_a_mask(LLVMGetCondition(branch));
    }
    igi_simt_cfg_free(&cfg);
    assert_true(found);
    end(b);
}

static void many_lanes_that_leave_a_loop_together_need_no_mask(void **state) {
    (void)state;
    static const char body[] = "int s = 0; for (int k = int(i); k < n; k += 128) s += a[k] * 3; out[i] = s;";
    bench *b = kernel(body);
    assert_true(has_block(widen(b, 128, true), "left"));
    end(b);
    // Mask registers answer for few lanes.
    if (!igi_simt_has_mask_registers()) return;
    b = kernel(body);
    assert_false(has_block(widen(b, W, true), "left"));
    end(b);
}

// A mask of many lanes takes many instructions on every machine.
static void many_lanes_that_agree_need_no_mask(void **state) {
    (void)state;
    bench *b = kernel("if (int(i) < n) out[i] = a[i + 1];");
    LLVMValueRef wide = widen(b, 128, true);
    assert_int_equal(count_loads(wide, 128), 1);
    assert_int_equal(count_stores(wide, 128), 1);
    end(b);
}

static void what_no_lane_does_is_skipped(void **state) {
    (void)state;
    // A uniform load must not be executed without active lanes: its address may be invalid.
    control c = widened("if (a[i] > 3) out[i] = a[n];", false);
    assert_true(c.by_mask >= 1);
    c = widened("if (a[i] > 3) for (int k = 0; k < n; k++) out[i] += a[k];", false);
    assert_true(c.by_mask >= 1);
    assert_int_equal(c.loops, 1);
}

static void counters_of_loops_inside_masks_stay_scalars(void **state) {
    (void)state;
    bench *b = kernel("if (a[i] > 3) { int s = 0; for (int k = 0; k < n; k++) s += a[k] * a[i + k]; out[i] = s; }");
    control c = control_of(widen(b, W, false));
    assert_int_equal(c.loops, 1);
    assert_true(c.scalar_phis >= 1);
    assert_true(c.uniform >= 1);  // the loop ends for all lanes at once
    end(b);
}

static void lanes_that_have_returned_store_nothing(void **state) {
    (void)state;
    control c = widened("if (a[i] == 7) return; out[i] = 1; if (a[i + 1] == 7) return; out[i + 1] = 2;", false);
    assert_int_equal(c.masked, 4);
}

static void a_tail_begins_with_the_lanes_that_are_threads(void **state) {
    (void)state;
    control full = widened("out[i] = a[i] + 1;", true), tail = widened("out[i] = a[i] + 1;", false);
    assert_int_equal(full.masked, 0);
    assert_int_equal(tail.masked, 2);
    assert_int_equal(tail.loops + tail.uniform + tail.by_mask, 0);
}

static void a_way_without_an_end_is_guarded(void **state) {
    (void)state;
    control c = widened("if (a[i] > 1000) for (;;) out[0]++; out[i] = 1;", true);
    assert_true(c.by_mask >= 1);
}

// Loads under masks, and searches for the first active lane, whose address the others read.
static size_t looks_at_masks(LLVMBasicBlockRef block) {
    size_t found = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        const char *name = igi_simt_callee_name(i);
        found += strncmp(name, "llvm.masked.", 12) == 0 || strncmp(name, "llvm.cttz.", 10) == 0;
    }
    return found;
}

static LLVMBasicBlockRef block_called(LLVMValueRef function, const char *name) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        if (strncmp(LLVMGetBasicBlockName(b), name, strlen(name)) == 0) return b;
    return NULL;
}

static void a_last_round_of_four_lanes_needs_no_masks(void **state) {
    (void)state;
    bench *b = start_to(METAL
                        "kernel void k(device const int *a, device int *out, constant int &n, "
                        "uint lane [[thread_index_in_simdgroup]]) {\nint s = 0;\n"
                        "for (int k = lane; k < n; k += 32)\n"
                        "  for (int j = 0; j < 8; j++) s += a[20 * k + j] * (j + 1);\n"
                        "out[lane] = simd_sum(s);\n}\n",
                        "k", igi_simt_pass_check);
    LLVMValueRef wide = widen(b, 32, true);
    LLVMBasicBlockRef few = block_called(wide, "few");
    assert_non_null(few);
    assert_true(count_calls(wide, "llvm.cttz.") > 0);
    assert_int_equal(looks_at_masks(few), 0);
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_all_lanes_take_alike_stay_branches),
        cmocka_unit_test(loops_of_equal_rounds_count_in_scalars),
        cmocka_unit_test(lanes_that_part_are_masked_and_meet_again),
        cmocka_unit_test(only_lanes_that_stay_keep_a_loop_going),
        cmocka_unit_test(rounds_of_all_lanes_need_no_mask),
        cmocka_unit_test(many_lanes_that_leave_a_loop_together_need_no_mask),
        cmocka_unit_test(many_lanes_that_agree_need_no_mask),
        cmocka_unit_test(what_no_lane_does_is_skipped),
        cmocka_unit_test(counters_of_loops_inside_masks_stay_scalars),
        cmocka_unit_test(lanes_that_have_returned_store_nothing),
        cmocka_unit_test(a_tail_begins_with_the_lanes_that_are_threads),
        cmocka_unit_test(a_way_without_an_end_is_guarded),
        cmocka_unit_test(a_last_round_of_four_lanes_needs_no_masks),
    };
    return cmocka_run_group_tests_name("control", tests, open_compiler, close_compiler);
}
