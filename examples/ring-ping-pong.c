// SPDX-License-Identifier: Apache-2.0
// Ping-pong with a ring kernel: a question and an answer, over and over, and how long each round trip took.
#include <ingot/ring.h>
#include <stdio.h>

// The handler is called for every message; its reply goes back to the sender.
static const char source[] =
    "#include <ingot/ring>\n"
    "void pong(thread ring::context &context) {\n"
    "    context.reply(context.type(), *context.payload<uint>() + 1);\n"
    "}\n"
    "INGOT_RING_KERNEL(ping_pong, pong)\n";

enum { ROUNDS = 10000, BALL = 1 };

static ig_status play(ig_ring_kernel *kernel) {
    ig_message answer = {0};
    ig_status status = IG_STATUS_OK;
    uint32_t ball = 0;
    for (int i = 0; i < ROUNDS && status == IG_STATUS_OK; i++) {
        ig_message question = IG_MESSAGE(BALL, &ball);
        status = ig_ring_request(kernel, &question, &answer, IG_FOREVER);
        const uint32_t *back = status == IG_STATUS_OK ? IG_MESSAGE_AS(uint32_t, BALL, &answer) : NULL;
        if (back) ball = *back;
    }
    ig_message_clear(&answer);
    printf("the ball came back %u times\n", ball);
    return ball == ROUNDS ? status : IG_STATUS_INTERNAL;
}

static void show(const ig_ring_kernel *kernel, const char *mode) {
    ig_ring_status status;
    ig_ring_get_status(kernel, &status);
    printf("%s: %llu messages, half of the answers within %.3g us, 99%% within %.3g us\n", mode,
           (unsigned long long)status.processed, (double)ig_ring_latency_quantile(&status, 0.5) * 1e-3,
           (double)ig_ring_latency_quantile(&status, 0.99) * 1e-3);
}

int main(void) {
    static const char *const modes[] = {"persistent", "event-driven"};
    ig_device *device = NULL;
    ig_ring_runtime *runtime = NULL;
    ig_error error = {0};
    ig_status status = ig_device_create(NULL, &device, &error);
    if (status == IG_STATUS_OK) status = ig_ring_runtime_create(device, NULL, &runtime);
    // The same handler runs in both modes: on a dedicated thread, or whenever there is a message.
    for (int mode = 0; mode < 2 && status == IG_STATUS_OK; mode++) {
        ig_ring_launch_desc desc = {
            .name = modes[mode], .kernel = "ping_pong", .source = source, .mode = (ig_ring_mode)mode, .block = 1};
        ig_ring_kernel *kernel = NULL;
        status = ig_ring_launch(runtime, &desc, &kernel, &error);
        if (status == IG_STATUS_OK) status = play(kernel);
        if (status == IG_STATUS_OK) show(kernel, modes[mode]);
        ig_ring_kernel_release(kernel);
    }
    if (status != IG_STATUS_OK) fprintf(stderr, "%s\n", error.message ? error.message : ig_status_text(status));
    if (runtime) ig_ring_runtime_shutdown(runtime);
    ig_device_release(device);
    ig_error_clear(&error);
    return status != IG_STATUS_OK;
}
