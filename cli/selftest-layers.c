// SPDX-License-Identifier: Apache-2.0
// ingot selftest: tensors, ring kernels and halo exchange on the device.
#include <stdio.h>
#include <string.h>

#include "selftest.h"

// ---- Ops: each backend against the reference, as the dispatch does before it uses one ----

typedef struct op_counts {
    size_t validated, rejected;
    char first[160];  // of those rejected
} op_counts;

static void count_op(ig_stream *stream, ig_op op, ig_backend backend, op_counts *counts) {
    ig_op_explanation explanation;
    if (ig_stream_explain(stream, op, true, &explanation) != IG_STATUS_OK) return;
    const ig_op_choice *choice = &explanation.backends[backend];
    counts->validated += choice->state == IG_OP_VALIDATED;
    if (choice->state != IG_OP_REJECTED) return;
    if (!counts->rejected++)
        snprintf(counts->first, sizeof counts->first, "%s: %.120s", explanation.name, choice->reason);
}

static selftest_result check_ops(selftest *test, ig_backend backend) {
    ig_stream *stream = NULL;
    ig_error error = {0};
    op_counts counts = {0};
    ig_status status = ig_stream_create(test->device, NULL, &stream, &error);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "stream", status, &error);
    for (int op = 0; op < IG_OP_COUNT; op++) count_op(stream, (ig_op)op, backend, &counts);
    ig_stream_release(stream);
    if (counts.rejected)
        return selftest_fail(test, "%zu of %zu ops are wrong; %s", counts.rejected, counts.rejected + counts.validated,
                             counts.first);
    if (!counts.validated) return selftest_skip(test, "this machine has no such backend");
    return selftest_pass(test, "%zu ops agree with the reference", counts.validated);
}

static selftest_result check_msl_ops(selftest *test) {
    return check_ops(test, IG_BACKEND_MSL);
}
static selftest_result check_simd_ops(selftest *test) {
    return check_ops(test, IG_BACKEND_SIMD);
}
static selftest_result check_blas_ops(selftest *test) {
    return check_ops(test, IG_BACKEND_BLAS);
}

// ---- Ring kernels ----

static const char ring_source[] =
    "#include <ingot/ring>\n"
    "void add_one(thread ring::context &context) {\n"
    "    context.reply(context.type(), *context.payload<uint>() + 1);\n"
    "}\n"
    "INGOT_RING_KERNEL(adder, add_one)\n";

enum { ROUNDS = 50, NUMBER = 1 };

static selftest_result play(selftest *test, ig_ring_kernel *kernel) {
    ig_message answer = {0};
    uint32_t number = 0;
    for (int i = 0; i < ROUNDS; i++) {
        ig_message question = IG_MESSAGE(NUMBER, &number);
        ig_status status = ig_ring_request(kernel, &question, &answer, 10000000000);
        const uint32_t *back = status == IG_STATUS_OK ? IG_MESSAGE_AS(uint32_t, NUMBER, &answer) : NULL;
        if (!back) {
            ig_message_clear(&answer);
            return selftest_fail(test, "message %d: %s", i, ig_status_text(status));
        }
        number = *back;
    }
    ig_message_clear(&answer);
    return number == ROUNDS ? selftest_pass(test, "%d questions, %d answers", ROUNDS, ROUNDS)
                            : selftest_fail(test, "%u after %d rounds", number, ROUNDS);
}

static selftest_result check_ring(selftest *test, ig_ring_mode mode) {
    ig_ring_runtime *runtime = NULL;
    ig_ring_kernel *kernel = NULL;
    ig_error error = {0};
    ig_ring_launch_desc desc = {.name = "adder", .kernel = "adder", .source = ring_source, .mode = mode, .block = 1};
    ig_status status = ig_ring_runtime_create(test->device, NULL, &runtime);
    if (status == IG_STATUS_OK) status = ig_ring_launch(runtime, &desc, &kernel, &error);
    selftest_result result;
    if (status == IG_STATUS_OK)
        result = play(test, kernel);
    else if (status == IG_STATUS_UNSUPPORTED && mode == IG_RING_PERSISTENT)
        result = selftest_skip(test, "%.200s", error.message ? error.message : "not on this device");
    else
        result = selftest_call_failed(test, "launch", status, &error);
    ig_error_clear(&error);
    ig_ring_kernel_release(kernel);
    if (runtime) ig_ring_runtime_shutdown(runtime);
    return result;
}

static selftest_result check_persistent(selftest *test) {
    return check_ring(test, IG_RING_PERSISTENT);
}
static selftest_result check_event_driven(selftest *test) {
    return check_ring(test, IG_RING_EVENT_DRIVEN);
}

// ---- Halo exchange ----

enum { TILE = 5, TILES = 3, SIDE = TILE * TILES };

// After an exchange, the cells around a tile are its neighbours'.
static bool rims_are_right(const float *field, const ig_halo_layout *layout) {
    for (uint64_t tile = 0; tile < (uint64_t)TILES * TILES; tile++)
        for (uint64_t y = 1; y <= TILE; y++) {
            const float *row = field + (tile * layout->padded.y + y) * layout->padded.x;
            uint64_t column = tile % TILES * TILE, line = tile / TILES * TILE + y - 1;
            if (row[0] != (float)(line * SIDE + (column + SIDE - 1) % SIDE)) return false;
            if (row[TILE + 1] != (float)(line * SIDE + (column + TILE) % SIDE)) return false;
        }
    return true;
}

static selftest_result check_halo(selftest *test) {
    ig_halo_config config = ig_halo_config_2d(TILES, TILES, TILE, TILE, 1);
    config.periodic[0] = config.periodic[1] = true;
    ig_halo *halo = NULL;
    ig_error error = {0};
    float cells[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) cells[i] = (float)i;
    ig_status status = ig_halo_create(test->device, &config, &halo, &error);
    if (status == IG_STATUS_OK) status = ig_halo_scatter(halo, 0, cells);
    if (status == IG_STATUS_OK) status = ig_halo_exchange(halo, IG_HALO_FIELD(0), &error);
    if (status != IG_STATUS_OK) {
        ig_halo_release(halo);
        return selftest_call_failed(test, "halo", status, &error);
    }
    ig_halo_layout layout;
    ig_halo_get_layout(halo, &layout);
    bool right = rims_are_right(ig_buffer_contents(ig_halo_field(halo, 0)), &layout);
    ig_halo_release(halo);
    return right ? selftest_pass(test, "%d x %d tiles, periodic", TILES, TILES)
                 : selftest_fail(test, "a rim has the wrong cells");
}

const selftest_check selftest_layer_checks[] = {
    {"ops on the device", check_msl_ops},
    {"ops with SIMD", check_simd_ops},
    {"ops with BLAS", check_blas_ops},
    {"ring, persistent", check_persistent},
    {"ring, event-driven", check_event_driven},
    {"halo exchange", check_halo},
    {NULL, NULL},
};
