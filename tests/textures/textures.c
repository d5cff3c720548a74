// SPDX-License-Identifier: Apache-2.0
#include "textures.h"

ig_library *library;

int open_all(void **state) {
    if (open_test_device(state) != 0) return -1;
    library = compile(textures_source);
    return 0;
}

int close_all(void **state) {
    ig_library_release(library);
    return close_test_device(state);
}

ig_texture *make_texture(ig_texture_desc desc) {
    ig_texture *texture = NULL;
    assert_ok(ig_texture_create(device, &desc, &texture));
    return texture;
}

ig_status try_kernel(const char *kernel, const bound *b, ig_size grid, ig_error *error) {
    ig_pipeline *pipeline = pipeline_of(library, kernel);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    assert_ok(ig_commands_set_pipeline(commands, pipeline));
    for (uint32_t i = 0; i < LENGTH(b->textures); i++)
        if (b->textures[i]) assert_ok(ig_commands_set_texture(commands, b->textures[i], i));
    for (uint32_t i = 0; i < LENGTH(b->samplers); i++)
        if (b->samplers[i]) assert_ok(ig_commands_set_sampler(commands, b->samplers[i], i));
    for (uint32_t i = 0; i < LENGTH(b->buffers); i++)
        if (b->buffers[i]) assert_ok(ig_commands_set_buffer(commands, b->buffers[i], 0, i));
    ig_status status = ig_commands_dispatch_threads(commands, grid, (ig_size){0});
    if (status == IG_STATUS_OK) status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    if (error) ig_commands_get_error(commands, error);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_pipeline_release(pipeline);
    return status;
}

void run_kernel(const char *kernel, const bound *b, ig_size grid) {
    ig_error error = {0};
    ig_status status = try_kernel(kernel, b, grid, &error);
    if (status != IG_STATUS_OK) fail_msg("%s: %s", kernel, error.message);
    ig_error_clear(&error);
}
