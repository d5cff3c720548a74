// SPDX-License-Identifier: Apache-2.0
// What is written to threadgroup memory is read from registers (forward.c), in an order that needs few of them (reorder.c).
#include "bench.h"

// Memory of the threadgroup is %p, a buffer %q. The function is the one that runs threadgroups.
static bench *forwarded(const char *body) {
    char text[3000];
    snprintf(text, sizeof text,
             "entry:\n  %%p = load ptr, ptr %%group\n  %%field = getelementptr i8, ptr %%group, i64 %zu\n"
             "  %%q = load ptr, ptr %%field\n  %%p4 = getelementptr i8, ptr %%p, i64 4\n"
             "  %%p16 = getelementptr i8, ptr %%p, i64 16\n%s  ret ptr null\n",
             offsetof(igi_simt_group, arguments), body);
    bench *b = start_body(text);
    LLVMSetValueName2(b->m.thread, "ig.run", 6);
    assert_ok(igi_simt_pass_forward(&b->m));
    verify(b, "forward");
    return b;
}

static bool is_shuffle(LLVMValueRef i) {
    return LLVMIsAShuffleVectorInst(i) != NULL;
}

static size_t loads_after(const char *body) {
    bench *b = forwarded(body);
    size_t found = count_loads(b->m.thread, 4);
    end(b);
    return found;
}

#define ROW(name, at) "  %" name " = load <4 x i32>, ptr %" at ", align 4\n"
#define WRITE(name, at) "  store <4 x i32> %" name ", ptr %" at ", align 4\n"
#define TWO_ROWS ROW("a", "q") ROW("b", "q") WRITE("a", "p") WRITE("b", "p16")

static void a_row_between_two_is_a_shuffle(void **state) {
    (void)state;
    bench *b = forwarded(TWO_ROWS ROW("c", "p4") WRITE("c", "q"));
    assert_int_equal(count_loads(b->m.thread, 4), 2);
    assert_int_equal(count_if(b->m.thread, is_shuffle), 1);
    end(b);
    // A whole row is the value itself.
    b = forwarded(TWO_ROWS ROW("c", "p16") WRITE("c", "q"));
    assert_int_equal(count_loads(b->m.thread, 4), 2);
    assert_int_equal(count_if(b->m.thread, is_shuffle), 0);
    end(b);
}

static void lanes_that_are_off_read_what_they_were_given(void **state) {
    (void)state;
    bench *b = forwarded(ROW("a", "q") WRITE(
        "a", "p") "  %before = getelementptr i8, ptr %p, i64 -4\n"
                  "  %c = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr %before, i32 4, <4 x i1> <i1 false, "
                  "i1 true, i1 true, i1 true>, <4 x i32> <i32 7, i32 7, i32 7, i32 7>)\n" WRITE("c", "q"));
    assert_int_equal(count_calls(b->m.thread, "llvm.masked.load."), 0);
    assert_int_equal(count_if(b->m.thread, is_shuffle), 1);
    end(b);
}

static void memory_that_may_have_changed_is_read(void **state) {
    (void)state;
    assert_int_equal(loads_after(TWO_ROWS ROW("c", "p4") WRITE("c", "q")), 2);
    // A part of it was not written; or another place of the same memory was, or all of it, or a part of a row.
    assert_int_equal(loads_after(ROW("a", "q") WRITE("a", "p") ROW("c", "p4") WRITE("c", "q")), 2);
    assert_int_equal(loads_after(TWO_ROWS "  %n = zext i32 %x to i64\n  %r = getelementptr i32, ptr %p, i64 %n\n" WRITE(
                         "a", "r") ROW("c", "p4") WRITE("c", "q")),
                     3);
    assert_int_equal(loads_after(TWO_ROWS "  call void @__ig_barrier(i32 0)\n" ROW("c", "p4") WRITE("c", "q")), 3);
    assert_int_equal(loads_after(TWO_ROWS "  store i16 1, ptr %p4\n" ROW("c", "p4") WRITE("c", "q")), 3);
    // Buffers are elsewhere.
    assert_int_equal(loads_after(TWO_ROWS WRITE("a", "q") ROW("c", "p4") WRITE("c", "q")), 2);
}

static void rows_that_nobody_reads_are_not_written(void **state) {
    (void)state;
    bench *b = forwarded(TWO_ROWS ROW("c", "p4") WRITE("c", "p") WRITE("c", "p16"));
    assert_int_equal(count_stores(b->m.thread, 4), 2);
    end(b);
    b = forwarded(TWO_ROWS "  %w = load i32, ptr %p4\n  store i32 %w, ptr %q\n" WRITE("b", "p") WRITE("a", "p16"));
    assert_int_equal(count_stores(b->m.thread, 4), 3);
    end(b);
}

static void values_are_computed_where_they_are_needed(void **state) {
    (void)state;
    bench *b =
        forwarded(TWO_ROWS ROW("c", "p") "  %early = add <4 x i32> %c, %a\n  %late = add <4 x i32> %c, %b\n" WRITE(
            "late", "q") WRITE("early", "q"));
    LLVMValueRef between = LLVMGetNextInstruction(value_named(b->m.thread, "late"));
    assert_non_null(LLVMIsAStoreInst(between));
    assert_ptr_equal(LLVMGetNextInstruction(between), value_named(b->m.thread, "early"));
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_between_two_is_a_shuffle),
        cmocka_unit_test(lanes_that_are_off_read_what_they_were_given),
        cmocka_unit_test(memory_that_may_have_changed_is_read),
        cmocka_unit_test(rows_that_nobody_reads_are_not_written),
        cmocka_unit_test(values_are_computed_where_they_are_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
