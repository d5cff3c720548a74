// SPDX-License-Identifier: Apache-2.0
// The whole way from MSL text to machine code: mutated sources compile or are refused, and never cause harm.
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "fuzz.h"
#include "ingot/ingot.h"

static ig_device *device;
static char *cache_dir;

static void close_device(void) {
    ig_device_release(device);
    igi_remove_tree(cache_dir);
    free(cache_dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    cache_dir = igi_make_temp_dir();
    MUST(cache_dir);
    ig_device_desc desc = {.cache_dir = cache_dir, .worker_count = 1};
    MUST(ig_device_create(&desc, &device, NULL) == IG_STATUS_OK);
    atexit(close_device);
    return 0;
}

// The statuses that content may lead to. Any other would be our own mistake.
static void check_status(ig_status status, const ig_error *error, const char *what) {
    static const ig_status allowed[] = {IG_STATUS_OK,
                                        IG_STATUS_COMPILE_FAILED,
                                        IG_STATUS_COMPILER_CRASHED,
                                        IG_STATUS_COMPILER_TIMEOUT,
                                        IG_STATUS_UNSUPPORTED,
                                        IG_STATUS_WRONG_CONSTANT,
                                        IG_STATUS_NOT_FOUND,
                                        IG_STATUS_OVERFLOW,
                                        IG_STATUS_THREADGROUP_TOO_LARGE};
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        if (status != allowed[i]) continue;
        if (status == IG_STATUS_OK) return;
        MUST(error->status == status && error->message && *error->message);
        if (status == IG_STATUS_COMPILER_CRASHED) fprintf(stderr, "note: %s\n", error->message);
        return;
    }
    fprintf(stderr, "%s: %s: %s\n", what, ig_status_name(status), error->message ? error->message : "");
    abort();
}

static void make_pipelines(ig_library *library) {
    for (size_t i = 0; i < ig_library_kernel_count(library) && i < 4; i++) {
        ig_pipeline *pipeline = NULL;
        ig_error error = {0};
        ig_pipeline_desc desc = {.kernel = ig_library_kernel(library, i)->name};
        check_status(ig_pipeline_create(library, &desc, &pipeline, &error), &error, "pipeline");
        ig_error_clear(&error);
        ig_pipeline_release(pipeline);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    ig_library *library = NULL;
    ig_error error = {0};
    ig_library_desc desc = {.source = (const char *)data, .source_length = size, .timeout_ns = 20000000000u};
    check_status(ig_library_create(device, &desc, &library, &error), &error, "library");
    ig_error_clear(&error);
    if (library) make_pipelines(library);
    ig_library_release(library);
    return 0;
}
