// SPDX-License-Identifier: Apache-2.0
// The example of the README, with its objects released: squares five numbers on the device.
#include <ingot/ingot.h>
#include <stdio.h>

static const char source[] =
    "kernel void square(device float *x, uint i [[thread_position_in_grid]]) { x[i] *= x[i]; }";

static int run(ig_pipeline *pipeline, ig_queue *queue, ig_buffer *numbers, uint64_t count) {
    ig_commands *commands = NULL;
    ig_error error = {0};
    ig_commands_create(queue, NULL, &commands);
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, numbers, 0, 0);
    ig_commands_dispatch_threads(commands, (ig_size){.x = count}, (ig_size){0});
    ig_status status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    if (status != IG_STATUS_OK) {
        ig_commands_get_error(commands, &error);
        fprintf(stderr, "%s\n", error.message);
        ig_error_clear(&error);
    }
    ig_commands_release(commands);
    return status != IG_STATUS_OK;
}

int main(void) {
    ig_device *device = NULL;
    ig_library *library = NULL;
    ig_pipeline *pipeline = NULL;
    ig_queue *queue = NULL;
    ig_buffer *numbers = NULL;
    ig_error error = {0};
    float values[] = {1, 2, 3, 4, 5};
    int failed = 1;
    if (ig_device_create(NULL, &device, &error) ||
        ig_library_create(device, &(ig_library_desc){.source = source}, &library, &error) ||
        ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "square"}, &pipeline, &error) ||
        ig_buffer_create(device, &(ig_buffer_desc){.length = sizeof values, .bytes = values}, &numbers) ||
        ig_queue_create(device, &queue)) {
        fprintf(stderr, "%s\n", error.log ? error.log : error.message ? error.message : "out of memory");
    } else {
        failed = run(pipeline, queue, numbers, 5);
        const float *squares = ig_buffer_contents(numbers);
        for (int i = 0; i < 5 && !failed; i++) printf("%g%s", squares[i], i < 4 ? " " : "\n");
    }
    ig_error_clear(&error);
    ig_queue_release(queue);
    ig_buffer_release(numbers);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
    ig_device_release(device);
    return failed;
}
