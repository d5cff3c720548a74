// SPDX-License-Identifier: Apache-2.0
// How barriers cut a widened kernel (regions.c, regions-run.c): how often, and what is kept across the cuts.
#include "simt/regions.h"

#include "bench.h"

#define WAIT "threadgroup_barrier(mem_flags::mem_threadgroup);\n"

// A kernel of a body.
#define SOURCE                                                                                      \
    METAL                                                                                           \
    "kernel void k(device int *a, device const float4 *v, constant uint &n,\n"                      \
    "              uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {\n" \
    "  threadgroup int t[256];\n%s}\n"

static bench *grouped(const char *body, uint32_t width) {
    char source[3000];
    snprintf(source, sizeof source, SOURCE, body);
    bench *b = start(source, "k");
    b->request.width = width;
    ig_status status = run_to(b, igi_simt_pass_group);
    if (status != IG_STATUS_OK) fail_msg("%s: %s", ig_status_name(status), b->error.message);
    assert_int_equal(b->m.info.form, IGI_FORM_LOOP);
    for (int i = 0; i < 2; i++)
        if (b->m.wide[i]) assert_int_equal(count_calls(b->m.wide[i], "__ig_barrier"), 0);
    return b;
}

// Barriers of each copy, which must be the same.
static uint32_t barriers_of(const char *body) {
    uint32_t counts[2];
    for (int full = 0; full < 2; full++) {
        igi_simt_regions regions;
        char source[3000];
        snprintf(source, sizeof source, SOURCE, body);
        bench *b = start_to(source, "k", igi_simt_pass_check);
        LLVMValueRef wide = widen(b, 8, full);
        assert_ok(igi_simt_split_regions(&b->m, wide, &regions));
        verify(b, "regions");
        assert_int_equal(count_calls(wide, "__ig_barrier"), 0);
        counts[full] = regions.count;
        end(b);
    }
    assert_int_equal(counts[0], counts[1]);
    return counts[0];
}

static void each_barrier_is_one_cut(void **state) {
    (void)state;
    assert_int_equal(barriers_of("a[i] = t[l];"), 0);
    assert_int_equal(barriers_of("t[l] = a[i];" WAIT "a[i] = t[255 - l];"), 1);
    assert_int_equal(barriers_of(WAIT "a[i] = 1;" WAIT), 2);
    assert_int_equal(barriers_of(WAIT WAIT WAIT "a[i] = 1;"), 3);
    assert_int_equal(barriers_of("for (uint k = 0; k < n; k++) { t[l] = a[i];" WAIT "a[i] = t[k] + 1;" WAIT "}"), 2);
    assert_int_equal(barriers_of("if (n > 3) { t[l] = 1;" WAIT "} a[i] = t[5];"), 1);
    // After lanes have returned, and next to accesses that have separate code for full groups of lanes.
    assert_int_equal(barriers_of("if (a[i] == 7) return;\n"
                                 "for (uint k = 0; k < n; k++) { float4 f = v[i + k]; t[l] = f.x + f.w;" WAIT
                                 "a[i] += t[l ^ 1];" WAIT "}"),
                     2);
    assert_int_equal(barriers_of("for (int k = 0; k < 3; k++) { t[l] = k;" WAIT "a[i] += t[l ^ 1];" WAIT "}"), 6);
}

// The last sum of a loop that may not run at all is read from where the loop keeps it.
static void sums_are_not_kept_twice(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "int s = 0; for (uint k = 0; k < n; k++) {" WAIT "t[l] = a[i + k];" WAIT "s += t[l ^ 1]; } a[i] = s;",
        // It may be left before there is a new sum.
        "int s = 0; for (uint k = 0; k < n; k++) {" WAIT "t[l] = a[i + k];" WAIT
        "if (t[0] > int(n)) break; s += t[l ^ 1]; } a[i] = s;",
    };
    for (int i = 0; i < 2; i++) {
        bench *b = grouped(bodies[i], 8);
        assert_int_equal(module_has(&b->m, "load volatile <8 x i32>"), i == 0);
        end(b);
    }
}

static uint32_t context_of(const char *body, uint32_t width) {
    bench *b = grouped(body, width);
    uint32_t bytes = b->m.info.context_bytes;
    assert_int_equal(bytes % 64, 0);
    end(b);
    return bytes;
}

static void kernels_without_barriers_keep_nothing(void **state) {
    (void)state;
    assert_int_equal(context_of("a[i] = a[i] * 3;", 8), 0);
}

static void positions_and_arguments_are_made_again(void **state) {
    (void)state;
    // Only the number of the region: everything after the barrier follows from the group and the position.
    assert_int_equal(context_of("t[l] = a[i];" WAIT "a[i] = t[255 - l] + int(n) + int(i * 5);", 8), 64);
    assert_int_equal(context_of("t[l] = a[i];" WAIT "a[i] = t[255 - l] + int(n) + int(i * 5);", 32), 64);
}

static void what_was_loaded_or_computed_is_kept_once(void **state) {
    (void)state;
    // 4 bytes for the region and a register of 8, 16 or 32 words.
    const char *body = "int kept = a[i] * 3; t[l] = 1;" WAIT "a[i] = t[255 - l] + kept;" WAIT "a[i + 1] = kept;";
    assert_true(context_of(body, 8) <= 64);
    assert_true(context_of(body, 16) <= 128);
    assert_true(context_of(body, 32) <= 192);
}

static size_t vectors_stored(const char *body) {
    igi_simt_regions regions;
    char source[3000];
    snprintf(source, sizeof source, SOURCE, body);
    bench *b = start_to(source, "k", igi_simt_pass_check);
    LLVMValueRef wide = widen(b, 8, true);
    assert_ok(igi_simt_split_regions(&b->m, wide, &regions));
    verify(b, "regions");
    size_t stores = count_stores(wide, 8);
    end(b);
    return stores;
}

static void what_has_not_changed_since_the_last_barrier_is_not_saved_again(void **state) {
    (void)state;
    size_t one = vectors_stored("int x = a[i];" WAIT "a[i] = x + 1;");
    size_t three = vectors_stored("int x = a[i];" WAIT WAIT WAIT "a[i] = x + 1;");
    assert_int_equal(three, one + 2);  // after each barrier it becomes a variable again
    size_t changed = vectors_stored("int x = a[i];" WAIT "x *= a[l];" WAIT "x *= a[n];" WAIT "a[i] = x + 1;");
    assert_true(changed >= one + 4);
}

// In blocks that end at a barrier, if `at_barriers`, or everywhere.
static size_t vectors_accessed(const char *body, LLVMOpcode opcode, bool at_barriers) {
    igi_simt_regions regions;
    char source[3000];
    snprintf(source, sizeof source, SOURCE, body);
    bench *b = start_to(source, "k", igi_simt_pass_check);
    LLVMValueRef wide = widen(b, 8, true);
    assert_ok(igi_simt_split_regions(&b->m, wide, &regions));
    verify(b, "regions");
    size_t count = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(wide); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        bool waits = LLVMIsAReturnInst(end) && LLVMConstIntGetZExtValue(LLVMGetOperand(end, 0)) != IGI_REGION_DONE;
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && (waits || !at_barriers);
             i = LLVMGetNextInstruction(i))
            count += LLVMGetInstructionOpcode(i) == opcode &&
                     LLVMGetTypeKind(igi_simt_accessed_type(i)) == LLVMVectorTypeKind;
    }
    end(b);
    return count;
}

#define LOOP(...) "for (uint k = 0; k < n; k++) {" __VA_ARGS__ "}\n"

static void what_a_loop_accumulates_stays_in_the_context(void **state) {
    (void)state;
    static const char once[] = "int x = a[i];" LOOP(WAIT "x += t[k];") "a[i] = x;";
    static const char twice[] = "int x = a[i];" LOOP(WAIT WAIT "x += t[k];") "a[i] = x;";
    assert_int_equal(vectors_accessed(once, LLVMStore, true), 0);
    // One more barrier makes no difference.
    assert_int_equal(vectors_accessed(twice, LLVMStore, false), vectors_accessed(once, LLVMStore, false));
    assert_int_equal(vectors_accessed(twice, LLVMLoad, false), vectors_accessed(once, LLVMLoad, false));
}

static void what_a_loop_may_need_unchanged_is_saved_before_it_changes(void **state) {
    (void)state;
    // The old value is needed after the new one was made; it is a phi node, which is saved at the barrier.
    static const char both[] = "int x = a[i];" LOOP(WAIT "int y = x * t[k]; a[i + k] = x - y; x = y;") "a[i] = x;";
    assert_true(vectors_accessed(both, LLVMStore, true) > 0);
    // There is no barrier between two sums.
    static const char apart[] = "int x = a[i];" LOOP("x += t[k];") WAIT "a[i] = x;";
    assert_int_equal(vectors_accessed(apart, LLVMStore, false), 4);
}

static void what_was_made_before_a_loop_is_saved_before_it(void **state) {
    (void)state;
    assert_int_equal(vectors_accessed("int x = a[i];" LOOP(WAIT "a[i + k] = x + t[k];"), LLVMStore, true), 0);
}

static void what_is_not_needed_any_more_is_not_kept(void **state) {
    (void)state;
    assert_int_equal(context_of("int used = a[i] * 3; t[l] = used; a[i] = used + 1;" WAIT "a[i] += t[l ^ 1];", 8), 64);
}

// Lanes that run together in threadgroups of x by y threads, and whether they cut the kernel at its barriers.
static uint32_t lanes_of(const char *body, uint32_t x, uint32_t y, bool *cut) {
    char source[3000];
    snprintf(source, sizeof source, SOURCE, body);
    bench *b = start(source, "k");
    memcpy(b->request.group, (uint32_t[]){x, y, 1}, sizeof b->request.group);
    assert_ok(run_to(b, igi_simt_pass_group));
    uint32_t lanes = b->m.info.width;
    *cut = b->m.info.context_bytes != 0;
    assert_int_equal(count_calls(b->m.wide[1], "__ig_barrier"), 0);
    end(b);
    return lanes;
}

static void a_threadgroup_of_one_group_of_lanes_waits_for_nobody(void **state) {
    (void)state;
    const char *body = "t[l] = a[i];" WAIT "a[i] = t[255 - l];";
    uint32_t most = igi_simt_most_lanes();
    bool cut;
    assert_int_equal(lanes_of(body, most, 1, &cut), most);
    assert_false(cut);
    assert_int_equal(lanes_of("if (a[i] == 7) return;\n t[l] = a[i];" WAIT "a[i] = t[63 - l];", 64, 1, &cut), 64);
    assert_false(cut);
    // Several rows; more threads than lanes; a loop that needs registers.
    assert_true(lanes_of(body, 64, 2, &cut) < 64 && cut);
    assert_true(lanes_of(body, 512, 1, &cut) < 512 && cut);
    const char *busy = "t[l] = a[i];" WAIT "int s = 0; for (uint k = 0; k < n; k++) s += t[k] * a[i + k]; a[i] = s;";
    assert_true(lanes_of(busy, 256, 1, &cut) < 256 && cut);
}

static void a_mask_of_lanes_that_have_left_is_kept(void **state) {
    (void)state;
    assert_true(context_of("if (a[i] == 7) return; t[l] = 1;" WAIT "a[i] = t[l ^ 1];", 8) <= 128);
}

static void private_arrays_are_kept_whole(void **state) {
    (void)state;
    const char *body = "int p[16]; for (uint k = 0; k < n; k++) p[k & 15] = a[k]; t[l] = p[a[i] & 15];" WAIT
                       "a[i] = p[t[l ^ 1] & 15];";
    bench *b = grouped(body, 8);
    assert_int_equal(b->m.info.array_bytes, 1024);  // 16 elements and a spare one, of 8 lanes, rounded up
    assert_true(b->m.info.context_bytes <= 192);    // away from the values that the lanes keep
    end(b);
}

static void matrices_are_kept_in_registers_of_the_context(void **state) {
    (void)state;
    bench *b = start(MATRIX
                     "kernel void k(device const float *a, device float *c, uint l [[thread_index_in_threadgroup]]) {\n"
                     "  threadgroup float t[32];\n  simdgroup_float8x8 x, s;\n  simdgroup_load(x, a, 8);\n"
                     "  simdgroup_multiply(s, x, x);\n  t[l] = 1;\n" WAIT
                     "  s.thread_elements()[0] += t[31 - l];\n  simdgroup_store(s, c, 8);\n}\n",
                     "k");
    assert_ok(run_to(b, igi_simt_pass_group));
    assert_int_equal(b->m.info.width, 32);
    assert_true(b->m.info.context_bytes <= 64 + 2 * 128);
    end(b);
}

static bool stores_address(LLVMValueRef i) {
    return LLVMIsAStoreInst(i) && LLVMTypeOf(LLVMGetOperand(i, 0)) == LLVMTypeOf(LLVMGetOperand(i, 1));
}

static void every_region_has_its_own_temporary_memory(void **state) {
    (void)state;
    bench *b = start(METAL
                     "struct Mixed { char a, b; float4 v; };\n"
                     "kernel void k(device int *a, uint i [[thread_position_in_grid]],\n"
                     "              uint l [[thread_index_in_threadgroup]]) {\n"
                     "  threadgroup Mixed t[256];\n  Mixed m = {char(i), char(l), 1};\n  t[l] = m;\n" WAIT
                     "  Mixed other = t[255 - l];\n" WAIT "  a[i] = other.a + 3 * other.b;\n}\n",
                     "k");
    b->request.first_tier = true;
    b->request.width = 8;
    assert_ok(run_to(b, igi_simt_pass_group));
    assert_int_equal(count_calls(b->m.wide[0], "ig.rows.load.2x8."), 1);
    assert_int_equal(count_if(b->m.wide[0], stores_address), 0);
    end(b);
}

static void the_runner_has_a_loop_for_each_region(void **state) {
    (void)state;
    bench *b = grouped("t[l] = a[i];" WAIT "a[i] = t[255 - l];" WAIT "a[i] += 1;", 8);
    LLVMValueRef run = LLVMGetNamedFunction(b->m.module, "ig.run");
    assert_non_null(run);
    // Three regions, each called for full groups of lanes and for the end of a row.
    assert_int_equal(count_calls(run, "ig.full"), 3);
    assert_int_equal(count_calls(run, "ig.tail"), 3);
    end(b);
}

static void code_for_one_size_has_no_tail(void **state) {
    (void)state;
    bench *b =
        start(METAL "kernel void k(device int *a, uint i [[thread_position_in_grid]]) { a[i] = a[i] * 3; }\n", "k");
    b->request.width = 16;
    b->request.group[0] = 64, b->request.group[1] = b->request.group[2] = 1;
    assert_ok(run_to(b, igi_simt_pass_group));
    assert_null(b->m.wide[0]);
    assert_non_null(b->m.wide[1]);
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_barrier_is_one_cut),
        cmocka_unit_test(sums_are_not_kept_twice),
        cmocka_unit_test(kernels_without_barriers_keep_nothing),
        cmocka_unit_test(positions_and_arguments_are_made_again),
        cmocka_unit_test(what_was_loaded_or_computed_is_kept_once),
        cmocka_unit_test(what_has_not_changed_since_the_last_barrier_is_not_saved_again),
        cmocka_unit_test(what_a_loop_accumulates_stays_in_the_context),
        cmocka_unit_test(what_a_loop_may_need_unchanged_is_saved_before_it_changes),
        cmocka_unit_test(what_was_made_before_a_loop_is_saved_before_it),
        cmocka_unit_test(what_is_not_needed_any_more_is_not_kept),
        cmocka_unit_test(a_threadgroup_of_one_group_of_lanes_waits_for_nobody),
        cmocka_unit_test(a_mask_of_lanes_that_have_left_is_kept),
        cmocka_unit_test(private_arrays_are_kept_whole),
        cmocka_unit_test(matrices_are_kept_in_registers_of_the_context),
        cmocka_unit_test(every_region_has_its_own_temporary_memory),
        cmocka_unit_test(the_runner_has_a_loop_for_each_region),
        cmocka_unit_test(code_for_one_size_has_no_tail),
    };
    return cmocka_run_group_tests_name("regions", tests, open_compiler, close_compiler);
}
