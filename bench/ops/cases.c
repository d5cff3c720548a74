// SPDX-License-Identifier: Apache-2.0
// ingot bench ops: the cases.
#include <stdio.h>
#include <string.h>

#include "ops.h"

enum { SIDE = 4096, FEW = 1000 };  // 16 Mi elements; elements of a small call

#define UNARY(group, rows, columns, name)         \
    {                                             \
        group, OPS_UNARY, #name, rows, columns, { \
            .unary = ig_tensor_##name             \
        }                                         \
    }
#define BINARY(group, rows, columns, name)         \
    {                                              \
        group, OPS_BINARY, #name, rows, columns, { \
            .binary = ig_tensor_##name             \
        }                                          \
    }
#define REDUCE(group, rows, columns, name)         \
    {                                              \
        group, OPS_REDUCE, #name, rows, columns, { \
            .reduce = ig_tensor_##name             \
        }                                          \
    }
#define MATMUL(n) {OPS_PRODUCTS, OPS_MATMUL, "matmul", n, n, {0}}
#define ROWS(group, rows, columns)                          \
    {group, OPS_SOFTMAX, "softmax", rows, columns, {0}}, {  \
        group, OPS_RMS_NORM, "rms_norm", rows, columns, {0} \
    }

const ops_case ops_cases[] = {
    MATMUL(64),
    MATMUL(128),
    MATMUL(256),
    MATMUL(512),
    MATMUL(1024),
    MATMUL(2048),
    BINARY(OPS_LARGE, SIDE, SIDE, add),
    BINARY(OPS_LARGE, SIDE, SIDE, mul),
    BINARY(OPS_LARGE, SIDE, SIDE, maximum),
    UNARY(OPS_LARGE, SIDE, SIDE, neg),
    UNARY(OPS_LARGE, SIDE, SIDE, relu),
    UNARY(OPS_LARGE, SIDE, SIDE, exp),
    UNARY(OPS_LARGE, SIDE, SIDE, tanh),
    UNARY(OPS_LARGE, SIDE, SIDE, sigmoid),
    UNARY(OPS_LARGE, SIDE, SIDE, silu),
    UNARY(OPS_LARGE, SIDE, SIDE, gelu),
    REDUCE(OPS_LARGE, SIDE, SIDE, sum),
    REDUCE(OPS_LARGE, SIDE, SIDE, mean),
    REDUCE(OPS_LARGE, SIDE, SIDE, max),
    REDUCE(OPS_LARGE, SIDE, SIDE, argmax),
    REDUCE(OPS_LARGE, SIDE, SIDE, norm),
    ROWS(OPS_ROWS, SIDE, SIDE),
    {OPS_ROWS, OPS_TRANSPOSE, "transpose", SIDE, SIDE, {0}},
    {OPS_CHAINS, OPS_CHAIN, "mixed5", SIDE, SIDE, {.chain = ops_run_mixed}},
    {OPS_CHAINS, OPS_CHAIN, "swish5", SIDE, SIDE, {.chain = ops_run_swish}},
    {OPS_CHAINS, OPS_CHAIN, "mixed5", 1024, 1024, {.chain = ops_run_mixed}},
    BINARY(OPS_SMALL, 1, FEW, add),
    BINARY(OPS_SMALL, 1, FEW, mul),
    UNARY(OPS_SMALL, 1, FEW, relu),
    UNARY(OPS_SMALL, 1, FEW, exp),
    UNARY(OPS_SMALL, 1, FEW, tanh),
    UNARY(OPS_SMALL, 1, FEW, silu),
    UNARY(OPS_SMALL, 1, FEW, gelu),
    REDUCE(OPS_SMALL, 1, FEW, sum),
    REDUCE(OPS_SMALL, 1, FEW, max),
    REDUCE(OPS_SMALL, 1, FEW, argmax),
    ROWS(OPS_SMALL, 1, FEW),
    {OPS_NN, OPS_ATTENTION, "attention", 512, 512, {0}},
    {OPS_NN, OPS_ATTENTION, "attention", 1, 2048, {0}},
    {OPS_NN, OPS_MATVEC, "q4_0", 1, SIDE, {0}},
    {OPS_NN, OPS_MATVEC, "q4_k", 1, SIDE, {0}},
};
const size_t ops_case_count = sizeof ops_cases / sizeof *ops_cases;

const char *ops_group_name(ops_group group) {
    static const char *const names[] = {"products", "large", "rows", "chains", "small", "nn"};
    return names[group];
}

static const char *what_it_does(const ops_case *test) {
    if (test->kind == OPS_MATVEC) return "matvec";
    return test->rows > 1 ? "prefill" : "decode";
}

void ops_case_name(const ops_case *test, char name[64]) {
    switch (test->group) {
        case OPS_PRODUCTS: snprintf(name, 64, "%s %d", test->op, (int)test->columns); break;
        case OPS_LARGE: snprintf(name, 64, "%s 16M", test->op); break;
        case OPS_ROWS:
        case OPS_CHAINS: snprintf(name, 64, "%s %dx%d", test->op, (int)test->rows, (int)test->columns); break;
        case OPS_SMALL: snprintf(name, 64, "%s %d", test->op, (int)test->columns); break;
        case OPS_NN: snprintf(name, 64, "%s %s %d", test->op, what_it_does(test), (int)test->columns); break;
    }
}

bool ops_case_lower_is_better(const ops_case *test) {
    return test->group == OPS_SMALL || test->group == OPS_NN;
}

const char *ops_case_unit(const ops_case *test) {
    return ops_case_lower_is_better(test) ? "us" : test->kind == OPS_MATMUL ? "GFLOPS" : "GB/s";
}

// Bytes per element, as STREAM counts them: what is read and what is written. Intermediate results of a chain do not
// count.
static double bytes_per_element(ops_kind kind) {
    return kind == OPS_BINARY || kind == OPS_CHAIN ? 12 : kind == OPS_REDUCE ? 4 : 8;
}

double ops_case_figure(const ops_case *test, double seconds) {
    double elements = (double)test->rows * (double)test->columns;
    if (seconds <= 0) return 0;
    if (ops_case_lower_is_better(test)) return seconds * 1e6;
    if (test->kind == OPS_MATMUL) return 2e-9 * elements * (double)test->columns / seconds;
    return 1e-9 * elements * bytes_per_element(test->kind) / seconds;
}
