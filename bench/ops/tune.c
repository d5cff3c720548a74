// SPDX-License-Identifier: Apache-2.0
// ingot bench ops --tune: the least work for which each backend beats those after it.
#include <stdlib.h>
#include <string.h>

#include "bench/common/context.h"
#include "console/output.h"
#include "console/progress.h"
#include "ops.h"

enum { SIZES = 7, TRIES = 3 };
static const uint64_t elements[SIZES] = {64, 256, 1024, 4096, 16384, 65536, 1 << 20};
static const uint64_t sides[SIZES] = {4, 8, 16, 32, 64, 128, 256};  // of matrix products
static const double try_seconds = 1e-3;

// Ops with the same calling form; the others keep their defaults.
#define UNARY(id, name, type) {IG_OP_##id, {OPS_ROWS, OPS_UNARY, #name, 0, 0, {.unary = ig_tensor_##name}}},
#define BINARY(id, name, type) {IG_OP_##id, {OPS_ROWS, OPS_BINARY, #name, 0, 0, {.binary = ig_tensor_##name}}},
#define REDUCE(id, name, type) {IG_OP_##id, {OPS_ROWS, OPS_REDUCE, #name, 0, 0, {.reduce = ig_tensor_##name}}},
static const struct {
    ig_op op;
    ops_case test;
} tuned[] = {IG_UNARY_LIST(UNARY) IG_BINARY_LIST(BINARY)
                 IG_REDUCE_LIST(REDUCE){IG_OP_MATMUL, {OPS_PRODUCTS, OPS_MATMUL, "matmul", 0, 0, {0}}},
             {IG_OP_SOFTMAX, {OPS_ROWS, OPS_SOFTMAX, "softmax", 0, 0, {0}}},
             {IG_OP_RMS_NORM, {OPS_ROWS, OPS_RMS_NORM, "rms_norm", 0, 0, {0}}},
             {IG_OP_COPY, {OPS_ROWS, OPS_TRANSPOSE, "transpose", 0, 0, {0}}}};
enum { TUNED = sizeof tuned / sizeof *tuned };

typedef struct timings {
    double seconds[SIZES][IG_BACKEND_COUNT];  // of the best try; 0: it has no such op
    uint64_t work[SIZES];
} timings;

static double best_of(ops_tensors *tensors, const ops_case *test, ig_backend backend) {
    double once = ops_time_calls(tensors, test, backend, 1), best = 0;
    if (once < 0) return 0;
    double fit = try_seconds / (once + 1e-9);
    uint64_t calls = fit < 1 ? 1 : fit > 1000 ? 1000 : (uint64_t)fit;
    for (int i = 0; i < TRIES; i++) {
        double seconds = ops_time_calls(tensors, test, backend, calls);
        if (seconds > 0 && (best == 0 || seconds < best)) best = seconds;
        if (once > 20 * try_seconds) break;
    }
    return best;
}

static ig_status measure(ops_tensors *tensors, ops_case test, timings *t) {
    for (int i = 0; i < SIZES; i++) {
        bool product = test.kind == OPS_MATMUL;
        test.columns = product ? sides[i] : elements[i] < 1024 ? elements[i] : 1024;
        test.rows = product ? sides[i] : elements[i] / test.columns;
        t->work[i] = test.rows * test.columns * (product ? test.columns : 1);
        ig_status status = ops_tensors_fill(tensors, &test);
        if (status != IG_STATUS_OK) return status;
        for (int b = IG_BACKEND_SCALAR; b < IG_BACKEND_COUNT; b++)
            t->seconds[i][b] = best_of(tensors, &test, (ig_backend)b);
    }
    return IG_STATUS_OK;
}

// Whether the backend is faster than all those after it, by more than chance.
static bool wins(const timings *t, int size, const ig_backend *rest) {
    double own = t->seconds[size][*rest];
    if (own == 0) return false;
    for (const ig_backend *b = rest + 1; *b != IG_BACKEND_ANY; b++)
        if (t->seconds[size][*b] > 0 && t->seconds[size][*b] < own * 1.02) return false;
    return true;
}

// The least work for which, and above which, it always wins; UINT64_MAX: never.
static uint64_t threshold(const timings *t, const ig_backend *rest) {
    uint64_t least = UINT64_MAX;
    for (int i = SIZES - 1; i >= 0 && wins(t, i, rest); i--) least = i == 0 ? 0 : t->work[i];
    return least;
}

static ig_status tune_op(ops_tensors *tensors, size_t which, bool *changed) {
    ig_op_explanation told;
    timings t;
    ig_op op = tuned[which].op;
    ig_status status = measure(tensors, tuned[which].test, &t);
    if (status == IG_STATUS_OK) status = ig_stream_explain(tensors->stream, op, false, &told);
    for (const ig_backend *b = told.order; status == IG_STATUS_OK && *b != IG_BACKEND_ANY; b++) {
        const ig_op_choice *choice = &told.backends[*b];
        if (*b == IG_BACKEND_SCALAR || choice->state != IG_OP_VALIDATED) continue;
        uint64_t least = threshold(&t, b);
        *changed = *changed || least != choice->threshold;
        status = ig_stream_set_threshold(tensors->stream, op, *b, least);
    }
    return status;
}

int ops_tune(const bench_context *context) {
    ops_tensors tensors = {0};
    ig_error error = {0};
    size_t measured = 0, changed = 0;
    cli_progress progress = {.label = "tuning", .total = TUNED};
    ig_status status = ops_tensors_open(&tensors, &error);
    for (size_t i = 0; i < TUNED && status == IG_STATUS_OK; i++) {
        bool differs = false;
        cli_progress_update(&progress, i);
        if (!ops_wanted(context, &tuned[i].test)) continue;
        status = tune_op(&tensors, i, &differs);
        changed += differs, measured++;
    }
    cli_progress_end(&progress);
    if (status == IG_STATUS_OK) status = ig_stream_save_thresholds(tensors.stream, &error);
    if (status == IG_STATUS_OK)
        cli_note("measured the thresholds of %zu ops and stored them; %zu changed", measured, changed);
    int result = status == IG_STATUS_OK ? CLI_CONTINUE : cli_report(status, &error);
    ops_tensors_close(&tensors);
    ig_error_clear(&error);
    return result;
}
