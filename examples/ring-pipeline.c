// SPDX-License-Identifier: Apache-2.0
// Three ring kernels in a row: texts go in at the front and come out at the back, without the host in between.
// Run it in the directory of ring-pipeline.metal, or give its path.
#include <ingot/ring.h>
#include <stdio.h>
#include <string.h>

enum { STAGES = 3 };
static const char *const stages[STAGES] = {"reverse", "upper", "reverse"};

static ig_status launch(ig_ring_runtime *runtime, const char *path, ig_ring_kernel **kernels, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    for (int i = 0; i < STAGES && status == IG_STATUS_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "stage-%d", i);
        ig_ring_launch_desc desc = {.name = name, .kernel = stages[i], .path = path, .block = 32, .k2k = true};
        status = ig_ring_launch(runtime, &desc, &kernels[i], error);
        // A kernel can send only to kernels to which it has a route.
        if (status == IG_STATUS_OK && i > 0) status = ig_ring_connect(kernels[i - 1], kernels[i]);
    }
    return status;
}

static ig_status run(ig_ring_kernel *const *kernels) {
    static const char *const texts[] = {"rings of bounded queues", "in memory that host and kernels share",
                                        "carry messages in order"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    ig_message result = {0};
    ig_status status = IG_STATUS_OK;
    for (int i = 0; i < TEXTS && status == IG_STATUS_OK; i++) {
        ig_message message = {.header.payload_size = strlen(texts[i]), .payload = (void *)texts[i]};
        status = ig_ring_send(kernels[0], &message, IG_FOREVER, NULL);
    }
    for (int i = 0; i < TEXTS && status == IG_STATUS_OK; i++) {
        status = ig_ring_receive(kernels[STAGES - 1], &result, IG_FOREVER);
        if (status == IG_STATUS_OK)
            printf("%-40s -> %.*s\n", texts[i], (int)result.header.payload_size, (const char *)result.payload);
    }
    ig_message_clear(&result);
    return status;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "ring-pipeline.metal";
    ig_device *device = NULL;
    ig_ring_runtime *runtime = NULL;
    ig_ring_kernel *kernels[STAGES] = {0};
    ig_error error = {0};
    ig_status status = ig_device_create(NULL, &device, &error);
    if (status == IG_STATUS_OK) status = ig_ring_runtime_create(device, NULL, &runtime);
    if (status == IG_STATUS_OK) status = launch(runtime, path, kernels, &error);
    if (status == IG_STATUS_OK) status = run(kernels);
    if (status != IG_STATUS_OK) fprintf(stderr, "%s\n", error.message ? error.message : ig_status_text(status));
    for (int i = 0; i < STAGES; i++) ig_ring_kernel_release(kernels[i]);
    if (runtime) ig_ring_runtime_shutdown(runtime);
    ig_device_release(device);
    ig_error_clear(&error);
    return status != IG_STATUS_OK;
}
