// SPDX-License-Identifier: Apache-2.0
// ingot demo, ring kernels: a token passed from one to the next, without the host.
#include <ingot/ring.h>

#include "console/options.h"
#include "console/output.h"
#include "core/clock.h"
#include "demo.h"
#include "format.h"

enum { KERNELS = 8, ROUNDS = 500 };
static const uint64_t patience_ns = 30000000000u;

typedef struct token {
    uint32_t hops_left, hops;
} token;

static ig_status launch(ig_ring_runtime *runtime, const char *source, ig_ring_kernel **kernels, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    for (int i = 0; i < KERNELS && status == IG_STATUS_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "holder-%d", i);
        ig_ring_launch_desc desc = {.name = name,
                                    .kernel = "hand_on_token",
                                    .source = source,
                                    .mode = IG_RING_EVENT_DRIVEN,
                                    .block = 1,
                                    .k2k = true};
        status = ig_ring_launch(runtime, &desc, &kernels[i], error);
    }
    for (int i = 0; i < KERNELS && status == IG_STATUS_OK; i++)
        status = ig_ring_connect(kernels[i], kernels[(i + 1) % KERNELS]);
    return status;
}

static int show(const token *back, uint64_t ns) {
    double each = (double)ns / (ROUNDS * KERNELS);
    char text[CLI_FORMAT_TEXT];
    if (!back || back->hops != ROUNDS * KERNELS) return cli_error(CLI_FAILED, "the token was lost");
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "act", "token");
        igi_json_put_u64(row, "kernels", KERNELS);
        igi_json_put_u64(row, "hops", back->hops);
        igi_json_put_double(row, "ns_per_hop", each);
        cli_end_row();
    } else {
        printf("  %d times around %d kernels: %s from each to the next, dispatch included\n", ROUNDS, KERNELS,
               cli_format_time(each, text));
    }
    return CLI_CONTINUE;
}

// The last of them notifies the host.
static int pass(ig_ring_kernel *const *kernels) {
    token t = {.hops_left = ROUNDS * KERNELS};
    ig_message message = IG_MESSAGE(0, &t), last = {0};
    uint64_t start = igi_now_ns();
    ig_status status = ig_ring_send(kernels[0], &message, patience_ns, NULL);
    if (status == IG_STATUS_OK) status = ig_ring_receive(kernels[KERNELS - 1], &last, patience_ns);
    uint64_t elapsed = igi_now_ns() - start;
    int result = status == IG_STATUS_OK ? show(IG_MESSAGE_AS(token, 0, &last), elapsed) : cli_report(status, NULL);
    ig_message_clear(&last);
    return result;
}

int demo_pass_token(const demo_stage *stage) {
    const igi_embedded *source = demo_find_file("ring-token.metal");
    ig_ring_runtime *runtime = NULL;
    ig_ring_kernel *kernels[KERNELS] = {0};
    ig_error error = {0};
    if (!source) return cli_error(CLI_FAILED, "ring-token.metal is not part of this build");
    ig_status status = ig_ring_runtime_create(stage->device, NULL, &runtime);
    if (status == IG_STATUS_OK) status = launch(runtime, source->data, kernels, &error);
    int result = status == IG_STATUS_OK ? pass(kernels) : cli_report_and_clear(status, &error);
    for (int i = 0; i < KERNELS; i++) ig_ring_kernel_release(kernels[i]);
    if (runtime) ig_ring_runtime_shutdown(runtime);
    return result;
}
