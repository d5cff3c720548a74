// SPDX-License-Identifier: Apache-2.0
// Vectors of many registers become vectors of one each (split.c), in an order that keeps what memory holds.
#include "bench.h"

enum { REGISTERS = 8 };

static bool is_wider_than_a_register(LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) > igi_simt_register_lanes();
}

static bool is_wide_operand(LLVMValueRef i) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (is_wider_than_a_register(LLVMGetOperand(i, (unsigned)k))) return true;
    return false;
}

// The types that letters stand for: a vector of eight registers, its mask, the bits of that and the vector's integers, and
// vectors of four and two registers.
static int name_type(char letter, char *text, size_t room) {
    unsigned lanes = REGISTERS * igi_simt_register_lanes();
    switch (letter) {
        case 'V': return snprintf(text, room, "<%u x float>", lanes);
        case 'M': return snprintf(text, room, "<%u x i1>", lanes);
        case 'I': return snprintf(text, room, "i%u", lanes);
        case 'Z': return snprintf(text, room, "<%u x i32>", lanes);
        case 'F': return snprintf(text, room, "<%u x float>", lanes / 2);
        case 'T': return snprintf(text, room, "<%u x float>", lanes / 4);
        default: return snprintf(text, room, "%c", letter);
    }
}

// Between `%p = load ptr, ptr %group` and the return.
static bench *split(const char *text) {
    char body[3000] = "entry:\n  %p = load ptr, ptr %group\n  %q = getelementptr i8, ptr %p, i64 4\n",
         *at = body + strlen(body);
    for (; *text; text++) at += name_type(*text, at, sizeof body - (size_t)(at - body));
    snprintf(at, sizeof body - (size_t)(at - body), "  ret ptr null\n");
    bench *b = start_body(body);
    assert_ok(igi_simt_pass_split(&b->m));
    verify(b, "split");
    return b;
}

// Loads and stores in the order of the function: "LS" is a load and then a store.
static char *accesses(const bench *b) {
    static char text[400];
    size_t count = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(b->m.thread); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            bool vector = LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)
                              ? LLVMGetTypeKind(igi_simt_accessed_type(i)) == LLVMVectorTypeKind
                              : false;
            if (vector) text[count++] = LLVMIsALoadInst(i) ? 'L' : 'S';
        }
    text[count] = 0;
    return text;
}

static void registers_take_turns(void **state) {
    (void)state;
    bench *b = split(
        "  %a = load V, ptr %p, align 4\n  %b = fmul V %a, %a\n  %c = fadd V %b, %a\n  store V %c, ptr %p, align 4\n");
    assert_int_equal(count_if(b->m.thread, is_wider_than_a_register), 0);
    assert_string_equal(accesses(b), "LSLSLSLSLSLSLSLS");
    end(b);
}

static void four_registers_are_many_and_two_are_not(void **state) {
    (void)state;
    bench *b = split(
        "  %a = load F, ptr %p, align 4\n  %b = fneg F %a\n"
        "  store F %b, ptr %p, align 4\n");
    assert_string_equal(accesses(b), "LSLSLSLS");
    end(b);
    b = split(
        "  %a = load T, ptr %p, align 4\n  %b = fneg T %a\n"
        "  store T %b, ptr %p, align 4\n");
    assert_string_equal(accesses(b), "LS");
    end(b);
}

static void a_store_that_may_overlap_waits_for_all_loads(void **state) {
    (void)state;
    bench *b = split("  %a = load V, ptr %q, align 4\n  %b = fmul V %a, %a\n  store V %b, ptr %p, align 4\n");
    assert_string_equal(accesses(b), "LLLLLLLLSSSSSSSS");
    end(b);
}

static void a_load_waits_for_earlier_stores(void **state) {
    (void)state;
    bench *b = split(
        "  store V zeroinitializer, ptr %q, align 4\n  %a = load V, ptr %p, align 4\n"
        "  %b = fneg V %a\n  store V %b, ptr %p, align 4\n");
    assert_string_equal(accesses(b), "SSSSSSSSLSLSLSLSLSLSLSLS");
    end(b);
}

static void stores_keep_their_order(void **state) {
    (void)state;
    bench *b = split("  store V zeroinitializer, ptr %p, align 4\n  store V zeroinitializer, ptr %q, align 4\n");
    assert_string_equal(accesses(b), "SSSSSSSSSSSSSSSS");
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(b->m.thread));
    size_t stores = 0;
    for (LLVMValueRef i = first; i; i = LLVMGetNextInstruction(i)) {
        if (!LLVMIsAStoreInst(i)) continue;
        LLVMValueRef base = LLVMGetOperand(i, 1);
        while (LLVMIsAGetElementPtrInst(base) && base != value_named(b->m.thread, "q")) base = LLVMGetOperand(base, 0);
        assert_ptr_equal(base, value_named(b->m.thread, stores++ < REGISTERS ? "p" : "q"));
    }
    end(b);
}

static void phi_nodes_are_split(void **state) {
    (void)state;
    bench *b = split(
        "  br label %loop\nloop:\n  %k = phi i32 [0, %entry], [%next, %loop]\n"
        "  %sum = phi V [zeroinitializer, %entry], [%more, %loop]\n  %a = load V, ptr %p, align 4\n"
        "  %more = fadd V %sum, %a\n  %next = add i32 %k, 1\n  %done = icmp eq i32 %next, %y\n"
        "  br i1 %done, label %end, label %loop\nend:\n  store V %more, ptr %p, align 4\n");
    assert_int_equal(count_if(b->m.thread, is_wider_than_a_register), 0);
    assert_int_equal(count_opcode(b->m.thread, LLVMPHI), 1 + REGISTERS);
    end(b);
}

static void tests_of_masks_need_no_whole_mask(void **state) {
    (void)state;
    bench *b = split(
        "  %a = load V, ptr %p, align 4\n  %m = fcmp ogt V %a, zeroinitializer\n"
        "  %bits = bitcast M %m to I\n  switch I %bits, label %some [I 0, label %none\n"
        "    I -1, label %all]\nsome:\n  store i32 1, ptr %p\n  br label %end\nall:\n  store i32 2, ptr %p\n"
        "  br label %end\nnone:\n  br label %end\nend:\n");
    assert_int_equal(count_if(b->m.thread, is_wide_operand), 0);
    end(b);
}

static void masks_in_memory_stay_whole(void **state) {
    (void)state;
    bench *b = split(
        "  %a = load M, ptr %p, align 8\n  %b = xor M %a, splat (i1 true)\n"
        "  store M %b, ptr %q, align 8\n");
    assert_string_equal(accesses(b), "LS");
    end(b);
}

static void a_lane_of_any_vector_is_repeated(void **state) {
    (void)state;
    bench *b = split(
        "  %a = load i32, ptr %p\n  %b = bitcast i32 %a to <1 x float>\n"
        "  %c = shufflevector <1 x float> %b, <1 x float> poison, Z zeroinitializer\n"
        "  store V %c, ptr %p, align 4\n");
    assert_string_equal(accesses(b), "SSSSSSSS");
    end(b);
}

static void other_users_get_the_whole_vector(void **state) {
    (void)state;
    bench *b = split(
        "  %a = load V, ptr %p, align 4\n  %b = fmul V %a, %a\n"
        "  %r = shufflevector V %b, V poison, <2 x i32> <i32 1, i32 63>\n"
        "  store <2 x float> %r, ptr %p, align 4\n  %e = extractelement V %b, i32 17\n"
        "  store float %e, ptr %p, align 4\n");
    assert_string_equal(accesses(b), "LLLLLLLLS");
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_take_turns),
        cmocka_unit_test(four_registers_are_many_and_two_are_not),
        cmocka_unit_test(a_store_that_may_overlap_waits_for_all_loads),
        cmocka_unit_test(a_load_waits_for_earlier_stores),
        cmocka_unit_test(stores_keep_their_order),
        cmocka_unit_test(phi_nodes_are_split),
        cmocka_unit_test(tests_of_masks_need_no_whole_mask),
        cmocka_unit_test(masks_in_memory_stay_whole),
        cmocka_unit_test(a_lane_of_any_vector_is_repeated),
        cmocka_unit_test(other_users_get_the_whole_vector),
    };
    // The pass leaves other targets alone.
    if (!igi_simt_is_for_x86()) return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
