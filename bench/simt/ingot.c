// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: the cases on Ingot's own device.
#include <stdlib.h>
#include <string.h>

#include "bench/common/sources.h"
#include "console/output.h"
#include "core/clock.h"
#include "simt.h"

enum { MAX_PIPELINES = 32 };

typedef struct ingot_runner {
    simt_runner base;
    ig_device *device;
    ig_queue *queue;
    ig_library *library;
    ig_pipeline *pipelines[MAX_PIPELINES];  // created when first needed, in the order of the library's kernels
    const simt_case *test;
    void *const *inputs;
    ig_buffer *buffers[SIMT_MAX_BUFFERS];
    ig_texture *textures[SIMT_MAX_BUFFERS];
    ig_commands *commands;  // being encoded
} ingot_runner;

static bool check(ingot_runner *runner, ig_status status, ig_error *error) {
    if (status != IG_STATUS_OK)
        simt_fail(&runner->base, "%s", error && error->message ? error->message : ig_status_text(status));
    if (error) ig_error_clear(error);
    return status == IG_STATUS_OK;
}

// ---- Launching ----

static ig_pipeline *find_pipeline(ingot_runner *runner, const char *kernel) {
    size_t count = ig_library_kernel_count(runner->library);
    for (size_t i = 0; i < count && i < MAX_PIPELINES; i++) {
        if (strcmp(ig_library_kernel(runner->library, i)->name, kernel) != 0) continue;
        ig_error error = {0};
        if (!runner->pipelines[i])
            check(runner,
                  ig_pipeline_create(runner->library, &(ig_pipeline_desc){.kernel = kernel}, &runner->pipelines[i],
                                     &error),
                  &error);
        return runner->pipelines[i];
    }
    simt_fail(&runner->base, "the library has no kernel '%s'", kernel);
    return NULL;
}

static void set_argument(ingot_runner *runner, uint32_t index, const simt_argument *argument) {
    switch (argument->kind) {
        case SIMT_BUFFER: ig_commands_set_buffer(runner->commands, runner->buffers[argument->number], 0, index); break;
        case SIMT_TEXTURE: ig_commands_set_texture(runner->commands, runner->textures[argument->number], index); break;
        case SIMT_UINT:
            ig_commands_set_bytes(runner->commands, &argument->number, sizeof argument->number, index);
            break;
        case SIMT_FLOAT: ig_commands_set_bytes(runner->commands, &argument->real, sizeof argument->real, index); break;
    }
}

// Encoding errors are reported by the commit.
static void launch(void *target, const simt_launch *launch) {
    ingot_runner *runner = target;
    ig_pipeline *pipeline = find_pipeline(runner, launch->kernel);
    if (!pipeline) return;
    ig_commands_set_pipeline(runner->commands, pipeline);
    for (uint32_t i = 0; i < launch->argument_count; i++) set_argument(runner, i, &launch->arguments[i]);
    ig_commands_dispatch_threads(runner->commands, (ig_size){launch->grid[0], launch->grid[1], launch->grid[2]},
                                 (ig_size){launch->group[0], launch->group[1], launch->group[2]});
}

static double run(simt_runner *base) {
    ingot_runner *runner = (ingot_runner *)base;
    const simt_case *test = runner->test;
    if (test->restore)
        ig_buffer_write(runner->buffers[test->result], 0, runner->inputs[test->result], test->result_bytes);
    ig_error error = {0};
    uint64_t start = igi_now_ns();
    if (!check(runner, ig_commands_create(runner->queue, NULL, &runner->commands), NULL)) return -1;
    test->encode(&(simt_sink){launch, runner});
    ig_status status = ig_commands_commit(runner->commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(runner->commands, IG_FOREVER);
    double seconds = (double)(igi_now_ns() - start) * 1e-9;
    if (status != IG_STATUS_OK) ig_commands_get_error(runner->commands, &error);
    ig_commands_release(runner->commands);
    return check(runner, status, &error) && !base->error[0] ? seconds : -1;
}

// ---- Cases ----

static void finish(simt_runner *base) {
    ingot_runner *runner = (ingot_runner *)base;
    for (size_t i = 0; i < SIMT_MAX_BUFFERS; i++) ig_buffer_release(runner->buffers[i]);
    for (size_t i = 0; i < SIMT_MAX_BUFFERS; i++) ig_texture_release(runner->textures[i]);
    memset(runner->buffers, 0, sizeof runner->buffers);
    memset(runner->textures, 0, sizeof runner->textures);
}

static bool make_texture(ingot_runner *runner, const simt_image *image, const void *pixels, ig_texture **texture) {
    ig_texture_desc desc = {
        .type = IG_TEXTURE_2D, .format = image->format, .width = image->width, .height = image->height};
    return check(runner, ig_texture_create(runner->device, &desc, texture), NULL) &&
           check(runner, ig_texture_write(*texture, NULL, pixels, 0, 0), NULL);
}

static bool prepare(simt_runner *base, const simt_case *test, void *const *inputs) {
    ingot_runner *runner = (ingot_runner *)base;
    runner->test = test;
    runner->inputs = inputs;
    for (size_t i = 0; i < test->buffer_count; i++) {
        if (test->images[i].format) {
            if (!make_texture(runner, &test->images[i], inputs[i], &runner->textures[i])) return false;
            continue;
        }
        ig_buffer_desc desc = {.length = test->bytes[i], .bytes = inputs[i]};
        if (!check(runner, ig_buffer_create(runner->device, &desc, &runner->buffers[i]), NULL)) return false;
    }
    return true;
}

static bool read_result(simt_runner *base, void *result) {
    ingot_runner *runner = (ingot_runner *)base;
    const simt_case *test = runner->test;
    if (runner->textures[test->result])
        return ig_texture_read(runner->textures[test->result], NULL, result, 0, 0) == IG_STATUS_OK;
    return ig_buffer_read(runner->buffers[test->result], 0, result, test->result_bytes) == IG_STATUS_OK;
}

static void close_runner(simt_runner *base) {
    ingot_runner *runner = (ingot_runner *)base;
    for (size_t i = 0; i < MAX_PIPELINES; i++) ig_pipeline_release(runner->pipelines[i]);
    ig_library_release(runner->library);
    ig_queue_release(runner->queue);
    ig_device_release(runner->device);
    free(runner);
}

simt_runner *simt_open_ingot(const char *name) {
    return simt_open_checked(name, 0);
}

simt_runner *simt_open_checked(const char *name, uint32_t checks) {
    static const simt_runner_ops ops = {prepare, run, read_result, finish, close_runner};
    ingot_runner *runner = cli_alloc(sizeof *runner);
    *runner = (ingot_runner){.base.ops = &ops};
    snprintf(runner->base.name, sizeof runner->base.name, "%s", name);
    ig_error error = {0};
    // No disk cache, so that the code of this build is measured.
    ig_device_desc desc = {.cache_dir = "", .check = checks};
    ig_library_desc source = {.source = bench_source("simt.metal"), .name = "simt.metal"};
    if (check(runner, ig_device_create(&desc, &runner->device, &error), &error) &&
        check(runner, ig_queue_create(runner->device, &runner->queue), NULL))
        check(runner, ig_library_create(runner->device, &source, &runner->library, &error), &error);
    return &runner->base;
}
