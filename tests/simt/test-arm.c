// SPDX-License-Identifier: Apache-2.0
// What the passes make for ARM, which has no masked accesses and registers of four lanes. No code runs here.
#include "bench.h"

static int choose_arm(void **state) {
    igi_simt_choose_target((igi_simt_target){"aarch64-unknown-linux-gnu", "generic", "+neon,+fp-armv8,+fullfp16"});
    return open_compiler(state);
}

static bench *without_masks(const char *body) {
    bench *b = start_body(body);
    assert_ok(igi_simt_pass_masked(&b->m));
    verify(b, "masked");
    return b;
}

#define MASKED                                                                         \
    "entry:\n  %p = load ptr, ptr %group\n  %v = load <8 x i32>, ptr %lane, align 4\n" \
    "  %m = icmp sgt <8 x i32> %v, zeroinitializer\n"

// Not all lanes are active: within a page, memory is read as a whole.
static void rows_within_a_page_are_read_together(void **state) {
    (void)state;
    bench *b =
        without_masks(MASKED
                      "  %r = call <8 x i32> @llvm.masked.load.v8i32.p0(ptr %p, i32 4, <8 x i1> %m, <8 x i32> %v)\n"
                      "  store <8 x i32> %r, ptr %lane, align 4\n  ret ptr null\n");
    assert_true(has_block(b->m.thread, "within_page"));
    assert_int_equal(count_loads(b->m.thread, 8), 4);  // %v, all of it, within a page, and what lanes read one by one
    end(b);
    b = without_masks(MASKED
                      "  call void @llvm.masked.store.v8i32.p0(<8 x i32> %v, ptr %p, i32 4, <8 x i1> %m)\n"
                      "  ret ptr null\n");
    assert_false(has_block(b->m.thread, "within_page"));
    end(b);
}

#define HALF "<i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>"

// LLVM would access all of them one by one.
static void known_masks_are_those_of_registers(void **state) {
    (void)state;
    bench *b = without_masks(
        "entry:\n  %p = load ptr, ptr %group\n"
        "  %r = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr %p, i32 4, <16 x i1> " HALF
        ", <16 x i32> zeroinitializer)\n"
        "  call void @llvm.masked.store.v16i32.p0(<16 x i32> %r, ptr %lane, i32 4, <16 x i1> " HALF
        ")\n"
        "  ret ptr null\n");
    assert_int_equal(count_calls(b->m.thread, "llvm.masked.load.v16"), 0);
    assert_int_equal(count_calls(b->m.thread, "llvm.masked.load.v4"), 4);
    assert_int_equal(count_calls(b->m.thread, "llvm.masked.store.v4"), 4);
    end(b);
}

// The bits of one word say which lanes are active.
static void many_lanes_are_masked_in_parts(void **state) {
    (void)state;
    bench *b = without_masks(
        "entry:\n  %p = load ptr, ptr %group\n  %v = load <128 x i32>, ptr %lane, align 4\n"
        "  %m = icmp sgt <128 x i32> %v, zeroinitializer\n"
        "  %r = call <128 x i32> @llvm.masked.load.v128i32.p0(ptr %p, i32 4, <128 x i1> %m, <128 x i32> %v)\n"
        "  store <128 x i32> %r, ptr %lane, align 4\n  ret ptr null\n");
    assert_int_equal(count_calls(b->m.thread, "llvm.masked."), 0);
    assert_int_equal(count_calls(b->m.thread, "llvm.cttz.i64"), 2);
    end(b);
}

static const char tree[] = METAL
    "kernel void k(device float *a, uint i [[thread_index_in_threadgroup]]) {\n"
    "    threadgroup float part[256];\n    part[i] = a[i];\n"
    "    for (uint step = 128; step > 0; step /= 2) {\n"
    "        threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "        if (i < step) part[i] += part[i + step];\n    }\n"
    "    if (i == 0) a[0] = part[0];\n}";

static void threadgroups_with_many_barriers_are_one_group_of_lanes(void **state) {
    (void)state;
    bench *b = start_to(tree, "k", igi_simt_pass_relax);
    memcpy(b->request.group, (uint32_t[]){256, 1, 1}, sizeof b->request.group);
    assert_int_equal(igi_simt_choose_width(&b->m), 256);
    end(b);
}

static const char pairs[] = METAL
    "kernel void k(device int *a, constant uint &n, uint i [[thread_position_in_grid]]) {\n"
    "    uint low = i & (n - 1), k = 2 * (i - low) + low;\n    int x = a[k], y = a[k + n];\n"
    "    if (x > y) { a[k] = y; a[k + n] = x; }\n}";

static void pairs_that_are_exchanged_share_registers_of_memory(void **state) {
    (void)state;
    bench *b = start_to(pairs, "k", igi_simt_pass_check);
    // Four registers of lanes, of two elements each: read once, and written in two copies.
    assert_int_equal(count_calls(widen(b, 16, true), "llvm.aarch64.neon.tbl2."), 3 * 4 * 2);
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_within_a_page_are_read_together),
        cmocka_unit_test(known_masks_are_those_of_registers),
        cmocka_unit_test(many_lanes_are_masked_in_parts),
        cmocka_unit_test(threadgroups_with_many_barriers_are_one_group_of_lanes),
        cmocka_unit_test(pairs_that_are_exchanged_share_registers_of_memory),
    };
    return cmocka_run_group_tests(tests, choose_arm, close_compiler);
}
