// SPDX-License-Identifier: Apache-2.0
// Masks that are combined or used in other blocks become integers of 32 bits (wide-masks.c). That results stay the same is
// what test-random-kernels checks.
#include "bench.h"

static bool is_bits(LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetElementType(type) == LLVMInt1TypeInContext(LLVMGetTypeContext(type));
}

static bool combines_bits(LLVMValueRef i) {
    return is_bits(i) && !LLVMIsACmpInst(i);
}

static bool widens_bits(LLVMValueRef i) {
    return LLVMIsASExtInst(i) && is_bits(LLVMGetOperand(i, 0));
}

static bench *widened(const char *body) {
    bench *b = start_body(body);
    assert_ok(igi_simt_pass_wide_masks(&b->m));
    verify(b, "wide_masks");
    return b;
}

#define LOADS                                                                        \
    "entry:\n  %p = load ptr, ptr %group\n  %a = load <16 x i32>, ptr %p, align 4\n" \
    "  %m = icmp sgt <16 x i32> %a, zeroinitializer\n"

static void masks_that_are_combined_are_words(void **state) {
    (void)state;
    bench *b = widened(LOADS
                       "  %n = icmp slt <16 x i32> %a, splat (i32 9)\n  %and = and <16 x i1> %m, %n\n"
                       "  %not = xor <16 x i1> %and, splat (i1 true)\n"
                       "  %r = select <16 x i1> %not, <16 x i32> %a, <16 x i32> zeroinitializer\n"
                       "  store <16 x i32> %r, ptr %p, align 4\n  ret ptr null\n");
    assert_int_equal(count_if(b->m.thread, combines_bits), 0);
    assert_int_equal(count_if(b->m.thread, widens_bits), 2);
    end(b);
}

static void masks_of_other_blocks_are_words(void **state) {
    (void)state;
    bench *b = widened(LOADS
                       "  br label %loop\nloop:\n  %left = phi <16 x i1> [%m, %entry], [%less, %loop]\n"
                       "  %now = load <16 x i32>, ptr %p, align 4\n  %more = icmp ne <16 x i32> %now, %a\n"
                       "  %less = and <16 x i1> %left, %more\n  %bits = bitcast <16 x i1> %less to i16\n"
                       "  %any = icmp ne i16 %bits, 0\n  br i1 %any, label %loop, label %end\n"
                       "end:\n  ret ptr null\n");
    assert_int_equal(count_if(b->m.thread, combines_bits), 0);
    // Both registers are combined before they are tested.
    assert_int_equal(count_opcode(b->m.thread, LLVMOr), 1);
    end(b);
}

static void what_is_used_at_once_stays(void **state) {
    (void)state;
    bench *b = widened(LOADS
                       "  %r = select <16 x i1> %m, <16 x i32> %a, <16 x i32> zeroinitializer\n"
                       "  store <16 x i32> %r, ptr %p, align 4\n  ret ptr null\n");
    assert_int_equal(count_if(b->m.thread, widens_bits), 0);
    end(b);
}

static void masks_of_bytes_and_from_memory_stay(void **state) {
    (void)state;
    bench *b = widened(
        LOADS
        "  %c = load <16 x i8>, ptr %p, align 1\n  %n = icmp eq <16 x i8> %c, zeroinitializer\n"
        "  %q = getelementptr i8, ptr %p, i64 64\n  %k = load <16 x i1>, ptr %q, align 2\n"
        "  %both = and <16 x i1> %m, %n\n  %either = or <16 x i1> %m, %k\n"
        "  store <16 x i1> %both, ptr %q, align 2\n  store <16 x i1> %either, ptr %p, align 2\n  ret ptr null\n");
    assert_int_equal(count_if(b->m.thread, widens_bits), 0);
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_that_are_combined_are_words),
        cmocka_unit_test(masks_of_other_blocks_are_words),
        cmocka_unit_test(what_is_used_at_once_stays),
        cmocka_unit_test(masks_of_bytes_and_from_memory_stay),
    };
    // The pass leaves other targets alone.
    if (!igi_simt_has_few_registers()) return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
