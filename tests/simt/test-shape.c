// SPDX-License-Identifier: Apache-2.0
// What lanes have in common (shape.c): the shapes of named values, and where lanes diverge and meet.
#include "simt/shape.h"

#include "bench.h"
#include "core/memory.h"

// ---- The subject ----

typedef struct subject {
    bench *b;
    igi_simt_shapes s;
} subject;

static subject analyse_lanes(const char *body, uint32_t width) {
    subject s = {.b = start_body(body)};
    assert_true(igi_simt_shapes_build(s.b->m.thread, LLVMGetParam(s.b->m.thread, 1), width, &s.s));
    return s;
}

static subject analyse(const char *body) {
    return analyse_lanes(body, 8);
}

static void finish(subject *s) {
    igi_simt_shapes_free(&s->s);
    end(s->b);
}

// "u", "v", "m", "l" and the stride, or "p" and the distance of lanes 1, 2, 3 and 31.
static void describe(const igi_simt_shapes *s, LLVMValueRef value, char text[24]) {
    igi_simt_shape shape = igi_simt_shape_of(s, value);
    switch (shape.kind) {
        case IGI_SHAPE_NONE: snprintf(text, 24, "none"); break;
        case IGI_SHAPE_UNIFORM: snprintf(text, 24, "u"); break;
        case IGI_SHAPE_LINEAR: snprintf(text, 24, "l%lld", (long long)shape.stride); break;
        case IGI_SHAPE_PATTERN:
            snprintf(text, 24, "p%lld,%lld,%lld,%lld", (long long)igi_simt_lane_offset(s, shape, 1),
                     (long long)igi_simt_lane_offset(s, shape, 2), (long long)igi_simt_lane_offset(s, shape, 3),
                     (long long)igi_simt_lane_offset(s, shape, 31));
            break;
        case IGI_SHAPE_MATRIX: snprintf(text, 24, "m"); break;
        case IGI_SHAPE_VARYING: snprintf(text, 24, "v"); break;
    }
}

// expected: "name shape name shape...".
static void check_shapes(const subject *s, const char *expected) {
    char name[32], wanted[24], found[24];
    int length = 0;
    for (const char *at = expected; sscanf(at, "%31s %23s%n", name, wanted, &length) == 2; at += length) {
        describe(&s->s, value_named(s->b->m.thread, name), found);
        if (strcmp(found, wanted) != 0) fail_msg("%%%s is %s, not %s", name, found, wanted);
    }
}

static void shapes(const char *body, const char *expected) {
    subject s = analyse(body);
    check_shapes(&s, expected);
    finish(&s);
}

// Whether exactly the named blocks have the property.
static void check_blocks(const subject *s, const char *what, const bool *property, const char *expected) {
    for (uint32_t i = 0; i < s->s.cfg.count; i++) {
        char part[40];
        snprintf(part, sizeof part, " %s ", LLVMGetBasicBlockName(s->s.cfg.blocks[i].block));
        bool wanted = strstr(expected, part) != NULL;
        if (wanted != property[i]) fail_msg("block%sis%s %s", part, property[i] ? "" : " not", what);
    }
}

// Each list has a space before and after every name.
static void control(const char *body, const char *values, const char *diverges, const char *masked, const char *joins,
                    const char *loops) {
    subject s = analyse(body);
    check_shapes(&s, values);
    check_blocks(&s, "divergent", s.s.divergent_branch, diverges);
    check_blocks(&s, "masked", s.s.masked, masked);
    check_blocks(&s, "a join", s.s.join, joins);
    for (uint32_t i = 0; i < s.s.cfg.loop_count; i++) {
        char header[40];
        snprintf(header, sizeof header, " %s ", LLVMGetBasicBlockName(s.s.cfg.blocks[s.s.cfg.loops[i].header].block));
        if (s.s.divergent_loop[i] != (strstr(loops, header) != NULL)) fail_msg("the loop of%s", header);
    }
    finish(&s);
}

// ---- Values ----

static void sums_and_multiples_of_the_position_are_linear(void **state) {
    (void)state;
    shapes(
        "  %plus = add i32 %x, %y\n"
        "  %minus = sub i32 %y, %x\n"
        "  %twice = add i32 %x, %x\n"
        "  %none = sub i32 %x, %x\n"
        "  %times = mul i32 %x, 12\n"
        "  %scaled = mul i32 -3, %plus\n"
        "  %shifted = shl i32 %x, 4\n"
        "  %both = or disjoint i32 %shifted, 5\n"
        "  %mixed = or i32 %shifted, 5\n"
        "  %unknown = mul i32 %x, %y\n"
        "  %square = mul i32 %x, %x\n"
        "  %masked = and i32 %x, 7\n"
        "  %half = lshr i32 %x, 1\n"
        "  %rest = urem i32 %x, 3\n"
        "  %flat = mul i32 %y, %z\n"
        "  ret ptr null\n",
        "plus l1 minus l-1 twice l2 none u times l12 scaled l-3 shifted l16 both l16 mixed v unknown v square v "
        "masked v half v rest v flat u");
}

static void numbers_of_lanes_make_patterns(void **state) {
    (void)state;
    subject s = analyse_lanes(
        "  %n = call i32 @__ig_simd_lane(i32 %x)\n"
        "  %half = lshr i32 %n, 1\n"
        "  %rest = and i32 %n, 1\n"
        "  %third = udiv i32 %n, 3\n"
        "  %narrow = trunc i32 %rest to i16\n"
        "  %eights = mul i16 %narrow, 8\n"
        "  %far = sext i16 %eights to i64\n"
        "  %again = add i32 %half, %half\n"
        "  %whole = add i32 %again, %rest\n"
        "  %none = lshr i32 %n, 5\n"
        "  %moved = add i32 %half, %y\n"
        "  %scaled = shl i32 %moved, 2\n"
        "  %unknown = mul i32 %half, %y\n"
        "  %turned = and i32 %moved, 3\n"
        "  %own = and i32 %x, 1\n"
        "  %p = load ptr, ptr %group\n"
        "  %index = sext i32 %moved to i64\n"
        "  %block = getelementptr [20 x i8], ptr %p, i64 %index\n"
        "  %place = getelementptr i8, ptr %block, i64 %far\n"
        "  ret ptr null\n",
        32);
    check_shapes(&s,
                 "n l1 half p0,1,1,15 rest p1,0,1,1 third p0,0,1,10 eights p8,0,8,8 far p8,0,8,8 whole l1 none u "
                 "moved p0,1,1,15 scaled p0,4,4,60 unknown v turned v own v block p0,20,20,300 place p8,20,28,308");
    finish(&s);
}

static void addresses_add_up_their_strides(void **state) {
    (void)state;
    shapes(
        "  %p = load ptr, ptr %group\n"
        "  %i = zext i32 %x to i64\n"
        "  %word = getelementptr i32, ptr %p, i64 %i\n"
        "  %pair = getelementptr {i32, [3 x float]}, ptr %p, i64 %i, i32 1, i64 2\n"
        "  %row = getelementptr [10 x [4 x i16]], ptr %p, i64 0, i64 %i, i64 3\n"
        "  %diagonal = getelementptr [10 x i32], ptr %p, i64 %i, i64 %i\n"
        "  %further = getelementptr i8, ptr %word, i64 7\n"
        "  %same = getelementptr i32, ptr %p, i32 %y\n"
        "  %k = load i64, ptr %word\n"
        "  %anywhere = getelementptr i32, ptr %p, i64 %k\n"
        "  %behind = getelementptr i32, ptr %anywhere, i64 1\n"
        "  %number = ptrtoint ptr %word to i64\n"
        "  ret ptr null\n",
        "p u i l1 word l4 pair l16 row l8 diagonal l44 further l4 same u anywhere v behind v number l4");
}

static void extended_indices_are_linear_where_they_cannot_wrap(void **state) {
    (void)state;
    shapes(
        "  %p = load ptr, ptr %group\n"
        "  %origin = load i32, ptr %p\n"
        "  %position = add i32 %origin, %x\n"
        "  %index = zext i32 %position to i64\n"  // only an address: wraps only where lanes are off
        "  %at = getelementptr i32, ptr %p, i64 %index\n"
        "  %whole = zext i32 %position to i64\n"  // a value of its own
        "  %compared = icmp ult i64 %whole, 10\n"
        "  %small = zext i32 %x to i64\n"  // a position is below 1024
        "  %judged = icmp ult i64 %small, 10\n"
        "  %ahead = add i32 %x, 100\n"
        "  %wide = sext i32 %ahead to i64\n"
        "  %seen = icmp ult i64 %wide, 10\n"
        "  %byte = trunc i32 %x to i8\n"
        "  %back = zext i8 %byte to i32\n"
        "  %short = trunc i32 %x to i16\n"
        "  %up = zext i16 %short to i32\n"
        "  %bit = trunc i32 %x to i1\n"
        "  %before = sub i32 %x, 1\n"
        "  %wrapped = zext i32 %before to i64\n"
        "  %told = icmp ult i64 %wrapped, 10\n"
        "  ret ptr null\n",
        "position l1 index l1 at l4 whole v compared v small l1 judged v ahead l1 wide l1 byte l1 back v short l1 "
        "up l1 bit v before l1 wrapped v");
}

static void loads_are_as_uniform_as_their_addresses(void **state) {
    (void)state;
    shapes(
        "  %p = load ptr, ptr %group\n"
        "  %i = zext i32 %x to i64\n"
        "  %at = getelementptr i32, ptr %p, i64 %i\n"
        "  %one = load i32, ptr %p\n"
        "  %each = load i32, ptr %at\n"
        "  %ticket = atomicrmw add ptr %p, i32 1 monotonic\n"
        "  %pair = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic\n"
        "  %mine = alloca i32\n"
        "  %many = alloca [33 x i32]\n"
        "  %fourth = getelementptr i32, ptr %many, i64 4\n"
        "  %kept = load i32, ptr %mine\n"
        "  ret ptr null\n",
        "one u each v ticket v pair v mine l64 many l192 fourth l192 kept v");
}

static void choices_keep_what_both_have_in_common(void **state) {
    (void)state;
    shapes(
        "  %p = load ptr, ptr %group\n"
        "  %flag = icmp eq i32 %y, 3\n"
        "  %mine = icmp eq i32 %x, 3\n"
        "  %a = add i32 %x, 5\n"
        "  %b = mul i32 %x, 2\n"
        "  %alike = select i1 %flag, i32 %x, i32 %a\n"
        "  %unlike = select i1 %flag, i32 %x, i32 %b\n"
        "  %flat = select i1 %flag, i32 %y, i32 %z\n"
        "  %own = select i1 %mine, i32 %y, i32 %z\n"
        "  %same = select i1 %mine, i32 %a, i32 %a\n"
        "  %fixed = freeze i32 %a\n"
        "  ret ptr null\n",
        "flag u mine v alike l1 unlike v flat u own v same v fixed l1");
}

static void operations_among_lanes_answer_all_alike_or_each(void **state) {
    (void)state;
    shapes(
        "  %sum = call i32 @__ig_reduce_add_u32(i32 %x, i32 32)\n"
        "  %quad = call i32 @__ig_reduce_add_u32(i32 %x, i32 4)\n"
        "  %bit = icmp ult i32 %x, 7\n"
        "  %votes = call i64 @__ig_ballot(i1 %bit, i32 32)\n"
        "  %fours = call i64 @__ig_ballot(i1 %bit, i32 4)\n"
        "  %first = call i32 @__ig_shuffle_u32(i32 %x, i32 0, i32 32)\n"
        "  %chosen = call i32 @__ig_shuffle_u32(i32 %x, i32 %y, i32 32)\n"
        "  %turned = call i32 @__ig_shuffle_u32(i32 %x, i32 %x, i32 32)\n"
        "  %of_quad = call i32 @__ig_shuffle_u32(i32 %x, i32 0, i32 4)\n"
        "  %swapped = call i32 @__ig_shuffle_xor_u32(i32 %x, i32 1, i32 32)\n"
        "  %scan = call i32 @__ig_scan_inclusive_add_u32(i32 %x, i32 32)\n"
        "  %place = call i32 @__ig_simd_lane(i32 %x)\n"
        "  %group_number = call i32 @__ig_simd_index(i32 %x)\n"
        "  ret ptr null\n",
        "sum u quad v votes u fours v first u chosen u turned v of_quad v swapped v scan v place l1 group_number u");
}

static void matrices_keep_their_order_through_elementwise_work(void **state) {
    (void)state;
    shapes(
        "  %p = load ptr, ptr %group\n"
        "  %i = zext i32 %x to i64\n"
        "  %at = getelementptr float, ptr %p, i64 %i\n"
        "  %own = load float, ptr %at\n"
        "  %one = load float, ptr %p\n"
        "  %a = call float @__ig_matrix_even_f32(ptr %at, ptr %at, ptr %p, i64 8, i1 false)\n"
        "  %b = call float @__ig_matrix_even_f32(ptr %at, ptr %at, ptr %at, i64 8, i1 false)\n"
        "  %d = call float @__ig_mma_even(float %a, float %a, float %b, float %b, float %own, float %own)\n"
        "  %double = fmul float %d, 2.0\n"
        "  %scaled = fmul float %double, %one\n"
        "  %negative = fneg float %scaled\n"
        "  %large = fcmp ogt float %negative, 1.0\n"
        "  %less = fptrunc float %negative to half\n"
        "  %mixed = fadd float %d, %own\n"
        "  %fused = call float @llvm.fma.f32(float %d, float %d, float %one)\n"
        "  %both = fadd float %d, %a\n"
        "  ret ptr null\n",
        "a m b v d m double m scaled m negative m large m less m mixed v both m");
}

// ---- Control ----

static void a_branch_all_lanes_take_alike_masks_nothing(void **state) {
    (void)state;
    control(
        "entry:\n  %c = icmp eq i32 %y, 0\n  br i1 %c, label %a, label %b\n"
        "a:\n  %p = add i32 %x, 1\n  br label %end\n"
        "b:\n  %q = add i32 %x, 2\n  br label %end\n"
        "end:\n  %r = phi i32 [%p, %a], [%q, %b]\n  ret ptr null\n",
        "c u r l1", "", "", "", "");
}

static void a_branch_that_parts_lanes_masks_both_ways_and_mixes_behind(void **state) {
    (void)state;
    control(
        "entry:\n  %c = icmp eq i32 %x, 0\n  br i1 %c, label %a, label %b\n"
        "a:\n  %p = add i32 %y, 1\n  br label %end\n"
        "b:\n  %q = add i32 %y, 2\n  br label %end\n"
        "end:\n  %r = phi i32 [%p, %a], [%q, %b]\n  %s = add i32 %y, 3\n  ret ptr null\n",
        "c v p u q u r v s u", " entry ", " a b ", " end ", "");
}

static void an_early_return_masks_all_that_follows(void **state) {
    (void)state;
    control(
        "entry:\n  %c = icmp ugt i32 %x, 9\n  br i1 %c, label %rest, label %end\n"
        "rest:\n  %d = icmp eq i32 %y, 0\n  br i1 %d, label %more, label %end\n"
        "more:\n  br label %end\n"
        "end:\n  ret ptr null\n",
        "d u", " entry ", " rest more ", " end ", "");
}

static void a_loop_of_equal_rounds_is_not_divergent(void **state) {
    (void)state;
    control(
        "entry:\n  br label %loop\n"
        "loop:\n  %k = phi i32 [0, %entry], [%next, %loop]\n  %i = phi i32 [%x, %entry], [%j, %loop]\n"
        "  %next = add i32 %k, 1\n  %j = add i32 %i, %y\n"
        "  %more = icmp ult i32 %next, %y\n  br i1 %more, label %loop, label %end\n"
        "end:\n  %out = phi i32 [%next, %loop]\n  %far = phi i32 [%j, %loop]\n  ret ptr null\n",
        "k u i l1 j l1 more u out u far l1", "", "", "", "");
}

static void a_loop_lanes_leave_in_different_rounds_is_divergent(void **state) {
    (void)state;
    control(
        "entry:\n  br label %loop\n"
        "loop:\n  %k = phi i32 [0, %entry], [%next, %loop]\n"
        "  %next = add i32 %k, 1\n"
        "  %more = icmp ult i32 %next, %x\n  br i1 %more, label %loop, label %end\n"
        "end:\n  %out = phi i32 [%next, %loop]\n  %other = add i32 %y, 1\n  ret ptr null\n",
        "k u next u more v out v other u", " loop ", " loop ", " end ", " loop ");
}

static void a_uniform_break_in_a_divergent_branch_makes_the_loop_divergent(void **state) {
    (void)state;
    control(
        "entry:\n  br label %loop\n"
        "loop:\n  %k = phi i32 [0, %entry], [%next, %latch]\n"
        "  %mine = icmp eq i32 %x, %k\n  br i1 %mine, label %maybe, label %latch\n"
        "maybe:\n  %flag = icmp eq i32 %y, 0\n  br i1 %flag, label %end, label %latch\n"
        "latch:\n  %next = add i32 %k, 1\n  %more = icmp ult i32 %next, 10\n"
        "  br i1 %more, label %loop, label %end\n"
        "end:\n  %out = phi i32 [%k, %maybe], [%next, %latch]\n  ret ptr null\n",
        "mine v flag u more u k u out v", " loop ", " loop maybe latch ", " latch end ", " loop ");
}

static void only_the_loop_that_lanes_leave_apart_is_divergent(void **state) {
    (void)state;
    control(
        "entry:\n  br label %outer\n"
        "outer:\n  %k = phi i32 [0, %entry], [%next, %latch]\n  br label %inner\n"
        "inner:\n  %j = phi i32 [0, %outer], [%following, %inner]\n  %following = add i32 %j, 1\n"
        "  %more = icmp ult i32 %following, %x\n  br i1 %more, label %inner, label %latch\n"
        "latch:\n  %left = phi i32 [%following, %inner]\n  %next = add i32 %k, 1\n"
        "  %again = icmp ult i32 %next, %y\n  br i1 %again, label %outer, label %end\n"
        "end:\n  %out = phi i32 [%next, %latch]\n  ret ptr null\n",
        "j u left v k u again u out u", " inner ", " inner ", " latch ", " inner ");
}

static void lanes_that_leave_by_two_exits_meet_behind_both(void **state) {
    (void)state;
    control(
        "entry:\n  br label %loop\n"
        "loop:\n  %k = phi i32 [0, %entry], [%next, %latch]\n  %a = icmp eq i32 %x, %k\n"
        "  br i1 %a, label %first, label %latch\n"
        "latch:\n  %next = add i32 %k, 1\n  %b = icmp ult i32 %next, %y\n  br i1 %b, label %loop, label %second\n"
        "first:\n  %p = phi i32 [%k, %loop]\n  br label %end\n"
        "second:\n  %q = phi i32 [%next, %latch]\n  br label %end\n"
        "end:\n  %r = phi i32 [%p, %first], [%q, %second]\n  ret ptr null\n",
        "p v q v r v", " loop ", " loop latch first second ", " first second end ", " loop ");
}

static void a_divergent_branch_inside_a_loop_leaves_the_loop_whole(void **state) {
    (void)state;
    control(
        "entry:\n  br label %loop\n"
        "loop:\n  %k = phi i32 [0, %entry], [%next, %latch]\n  %s = phi i32 [0, %entry], [%t, %latch]\n"
        "  %a = icmp ult i32 %x, %k\n  br i1 %a, label %then, label %latch\n"
        "then:\n  br label %latch\n"
        "latch:\n  %t = phi i32 [1, %loop], [2, %then]\n  %next = add i32 %k, 1\n"
        "  %b = icmp ult i32 %next, %y\n  br i1 %b, label %loop, label %end\n"
        "end:\n  %out = phi i32 [%k, %latch]\n  %sum = phi i32 [%t, %latch]\n  ret ptr null\n",
        "k u s v t v b u out u sum v", " loop ", " then ", " latch ", "");
}

static void a_value_that_becomes_varying_makes_its_branch_divergent(void **state) {
    (void)state;
    // %c starts as uniform and is found to be varying in the second round of the analysis.
    control(
        "entry:\n  br label %loop\n"
        "loop:\n  %v = phi i32 [0, %entry], [%w, %latch]\n  %k = phi i32 [0, %entry], [%next, %latch]\n"
        "  %c = icmp eq i32 %v, 3\n  br i1 %c, label %then, label %latch\n"
        "then:\n  br label %latch\n"
        "latch:\n  %u = phi i32 [5, %loop], [6, %then]\n  %w = add i32 %u, %x\n  %next = add i32 %k, 1\n"
        "  %b = icmp ult i32 %next, %y\n  br i1 %b, label %loop, label %end\n"
        "end:\n  ret ptr null\n",
        "c v v v u v w v k u", " loop ", " then ", " latch ", "");
}

static void shapes_short_of_memory_are_not_built(void **state) {
    (void)state;
    subject s = analyse(
        "entry:\n  br label %loop\n"
        "loop:\n  %k = phi i32 [0, %entry], [%next, %loop]\n  %next = add i32 %k, 1\n"
        "  %more = icmp ult i32 %next, %x\n  br i1 %more, label %loop, label %end\n"
        "end:\n  ret ptr null\n");
    for (uint64_t n = 1;; n++) {
        igi_simt_shapes again;
        igi_alloc_fail_at(n);
        bool built = igi_simt_shapes_build(s.b->m.thread, LLVMGetParam(s.b->m.thread, 1), 8, &again);
        uint64_t asked = igi_alloc_fail_at(0);
        if (built) igi_simt_shapes_free(&again);
        assert_int_equal(built, asked < n);
        if (built) break;
    }
    finish(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_multiples_of_the_position_are_linear),
        cmocka_unit_test(numbers_of_lanes_make_patterns),
        cmocka_unit_test(addresses_add_up_their_strides),
        cmocka_unit_test(extended_indices_are_linear_where_they_cannot_wrap),
        cmocka_unit_test(loads_are_as_uniform_as_their_addresses),
        cmocka_unit_test(choices_keep_what_both_have_in_common),
        cmocka_unit_test(operations_among_lanes_answer_all_alike_or_each),
        cmocka_unit_test(matrices_keep_their_order_through_elementwise_work),
        cmocka_unit_test(a_branch_all_lanes_take_alike_masks_nothing),
        cmocka_unit_test(a_branch_that_parts_lanes_masks_both_ways_and_mixes_behind),
        cmocka_unit_test(an_early_return_masks_all_that_follows),
        cmocka_unit_test(a_loop_of_equal_rounds_is_not_divergent),
        cmocka_unit_test(a_loop_lanes_leave_in_different_rounds_is_divergent),
        cmocka_unit_test(a_uniform_break_in_a_divergent_branch_makes_the_loop_divergent),
        cmocka_unit_test(only_the_loop_that_lanes_leave_apart_is_divergent),
        cmocka_unit_test(lanes_that_leave_by_two_exits_meet_behind_both),
        cmocka_unit_test(a_divergent_branch_inside_a_loop_leaves_the_loop_whole),
        cmocka_unit_test(a_value_that_becomes_varying_makes_its_branch_divergent),
        cmocka_unit_test(shapes_short_of_memory_are_not_built),
    };
    return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
