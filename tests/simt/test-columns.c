// SPDX-License-Identifier: Apache-2.0
// Rows that share what does not depend on y (columns.c): which kernels do, and that their loops over rows are inside.
#include "bench.h"

static bench *grouped(const char *body, uint32_t rows) {
    char source[2000];
    snprintf(
        source, sizeof source,
        METAL
        "kernel void k(device float *a, constant float *f, constant uint &n, uint2 g [[thread_position_in_grid]])\n"
        "{\n%s\n}\n",
        body);
    bench *b = start(source, "k");
    b->request.group[0] = 64, b->request.group[1] = rows, b->request.group[2] = 1;
    assert_ok(run_to(b, igi_simt_pass_group));
    verify(b, "group");
    return b;
}

static bool shares(const char *body) {
    bench *b = grouped(body, 4);
    bool found = b->m.info.columns != 0;
    end(b);
    return found;
}

#define MUCH "float x = g.x; for (int k = 0; k < 8; k++) x = x * f[0] + max(x, f[1]);\n"

static void much_that_depends_on_x_alone_is_shared(void **state) {
    (void)state;
    assert_true(shares(MUCH "a[g.y * n + g.x] = x * g.y;"));
    assert_true(shares(MUCH "if (g.y < n && g.x < n) a[g.y * n + g.x] = x;"));
    assert_false(shares("a[g.y * n + g.x] = f[0] * g.x + f[1] * g.y;"));
    assert_false(
        shares("float x = g.x + g.y; for (int k = 0; k < 8; k++) x = x * f[0] + max(x, f[1]);\n"
               "a[g.y * n + g.x] = x;"));
}

// The loop in which the other is, by the name of its counter.
static const char *outer_loop(const bench *b) {
    LLVMValueRef run = LLVMGetNamedFunction(b->m.module, "ig.run");
    const char *last = "";
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(run); block; block = LLVMGetNextBasicBlock(block)) {
        const char *name = LLVMGetBasicBlockName(block);
        if (strcmp(name, "x") == 0 || strcmp(name, "y") == 0) return name;
        last = name;
    }
    return last;
}

static void rows_are_the_inner_loop(void **state) {
    (void)state;
    bench *b = grouped(MUCH "a[g.y * n + g.x] = x * g.y;", 4);
    assert_string_equal(outer_loop(b), "x");
    end(b);
    b = grouped(MUCH "a[g.y * n + g.x] = x * g.y;", 1);
    assert_string_equal(outer_loop(b), "y");
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(much_that_depends_on_x_alone_is_shared),
        cmocka_unit_test(rows_are_the_inner_loop),
    };
    return cmocka_run_group_tests_name("columns", tests, open_compiler, close_compiler);
}
