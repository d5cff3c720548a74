// SPDX-License-Identifier: Apache-2.0
// A token goes around a ring of kernels; each passes it to the next without the host. Run it in the directory of
// ring-token.metal, or give its path.
#include <ingot/ring.h>
#include <stdio.h>
#include <time.h>

enum { KERNELS = 6, HOPS = 6000 };

typedef struct token {
    uint32_t hops_left, hops;
} token;

static double seconds_now(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static ig_status launch(ig_ring_runtime *runtime, const char *path, ig_ring_kernel **kernels, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    for (int i = 0; i < KERNELS && status == IG_STATUS_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "holder-%d", i);
        // More kernels than cores: event-driven ones share a few threads.
        ig_ring_launch_desc desc = {.name = name,
                                    .kernel = "hand_on_token",
                                    .path = path,
                                    .mode = IG_RING_EVENT_DRIVEN,
                                    .block = 1,
                                    .k2k = true};
        status = ig_ring_launch(runtime, &desc, &kernels[i], error);
    }
    for (int i = 0; i < KERNELS && status == IG_STATUS_OK; i++)
        status = ig_ring_connect(kernels[i], kernels[(i + 1) % KERNELS]);
    return status;
}

// The kernel where the token ends, HOPS places on, sends it to the host.
static ig_status pass(ig_ring_kernel *const *kernels) {
    token t = {.hops_left = HOPS};
    ig_message message = IG_MESSAGE(0, &t), last = {0};
    double start = seconds_now();
    ig_status status = ig_ring_send(kernels[0], &message, IG_FOREVER, NULL);
    if (status == IG_STATUS_OK) status = ig_ring_receive(kernels[(HOPS - 1) % KERNELS], &last, IG_FOREVER);
    double seconds = seconds_now() - start;
    const token *back = status == IG_STATUS_OK ? IG_MESSAGE_AS(token, 0, &last) : NULL;
    if (back)
        printf("the token went around %d kernels %u times, %.2f us from one to the next\n", KERNELS,
               back->hops / KERNELS, seconds * 1e6 / back->hops);
    for (int i = 0; i < KERNELS && back; i++) {
        ig_ring_status work;
        ig_ring_get_status(kernels[i], &work);
        printf("  %s held it %llu times\n", ig_ring_kernel_name(kernels[i]), (unsigned long long)work.processed);
    }
    ig_message_clear(&last);
    return status;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "ring-token.metal";
    ig_device *device = NULL;
    ig_ring_runtime *runtime = NULL;
    ig_ring_kernel *kernels[KERNELS] = {0};
    ig_error error = {0};
    ig_status status = ig_device_create(NULL, &device, &error);
    if (status == IG_STATUS_OK) status = ig_ring_runtime_create(device, NULL, &runtime);
    if (status == IG_STATUS_OK) status = launch(runtime, path, kernels, &error);
    if (status == IG_STATUS_OK) status = pass(kernels);
    if (status != IG_STATUS_OK) fprintf(stderr, "%s\n", error.message ? error.message : ig_status_text(status));
    for (int i = 0; i < KERNELS; i++) ig_ring_kernel_release(kernels[i]);
    if (runtime) ig_ring_runtime_shutdown(runtime);
    ig_device_release(device);
    ig_error_clear(&error);
    return status != IG_STATUS_OK;
}
