// SPDX-License-Identifier: Apache-2.0
// A kernel of a .metallib fills an indirect command buffer; another library's kernel is executed.
#include <stdlib.h>

#include "assemble.h"
#include "core/memory.h"
#include "helpers.h"

enum { COMMANDS = 8 };

static const char added[] =
    "kernel void add(device uint *a [[buffer(0)]], constant uint &b [[buffer(1)]],\n"
    "                threadgroup uint *t [[threadgroup(0)]],\n"
    "                uint i [[thread_position_in_grid]]) { a[i] += b; }";

static ig_library *open_library(void) {
    static const char *const names[] = {"recording", "drawing"};
    igi_text file = {0};
    assert_true(assemble_metallib(getenv("AIR_KERNELS"), names, 2, &file));
    ig_library *library = compile_on(device, &(ig_library_desc){.data = file.data, .data_length = file.length});
    igi_text_free(&file);
    return library;
}

static ig_indirect_commands *make_indirect(uint32_t count) {
    ig_indirect_commands *made = NULL;
    assert_ok(ig_indirect_commands_create(device, &(ig_indirect_commands_desc){.count = count}, &made));
    return made;
}

static void a_translated_kernel_records(void **state) {
    (void)state;
    ig_library *library = open_library();
    ig_pipeline *recording = pipeline_of(library, "recording"), *add = make_pipeline(added, "add");
    ig_indirect_commands *commands = make_indirect(COMMANDS), *ready = make_indirect(1);
    ig_buffer *data = make_buffer(64 * sizeof(uint32_t)), *three = make_buffer(sizeof(uint32_t)),
              *work = make_buffer(32);
    ig_queue *queue = make_queue();
    uint64_t *handles = ig_buffer_contents(work);
    *(uint32_t *)ig_buffer_contents(three) = 3;
    handles[0] = ig_indirect_commands_device_address(commands);
    assert_ok(ig_pipeline_resource_id(add, &handles[1]));
    handles[2] = ig_buffer_device_address(data);
    handles[3] = ig_indirect_commands_device_address(ready);
    assert_ok(ig_indirect_commands_set_pipeline(ready, 0, add));
    assert_ok(ig_indirect_commands_set_buffer(ready, 0, three, 0, 1));
    assert_ok(ig_indirect_commands_set_threadgroup_memory(ready, 0, 16, 0));
    ig_commands *list = make_commands(queue);
    ig_commands_set_pipeline(list, recording);
    ig_commands_set_buffer(list, work, 0, 0);
    ig_commands_set_buffer(list, three, 0, 1);
    assert_ok(ig_commands_dispatch_threads(list, line(COMMANDS), line(COMMANDS)));
    assert_ok(ig_commands_execute(list, commands, 0, COMMANDS));
    assert_ok(ig_commands_commit(list));
    assert_ok(ig_commands_wait(list, SECONDS(60)));
    // Command i adds 3 to the words from 4 * i on: to 8 of them if i is even, to 3 if it is odd.
    const uint32_t *words = ig_buffer_contents(data);
    for (uint32_t w = 0; w < 64; w++) {
        uint32_t expected = 0;
        for (uint32_t i = 0; i < COMMANDS; i++) expected += w - 4 * i < (i % 2 ? 3u : 8u) ? 3 : 0;
        assert_int_equal(words[w], expected);
    }
    ig_commands_release(list), ig_queue_release(queue);
    ig_buffer_release(data), ig_buffer_release(three), ig_buffer_release(work);
    ig_indirect_commands_release(ready), ig_indirect_commands_release(commands);
    ig_pipeline_release(add), ig_pipeline_release(recording), ig_library_release(library);
}

static void render_commands_are_refused(void **state) {
    (void)state;
    ig_library *library = open_library();
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_status(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "drawing"}, &pipeline, &error),
                  IG_STATUS_UNSUPPORTED);
    assert_contains(error.message, "air.draw_primitives_render_command");
    ig_error_clear(&error);
    ig_library_release(library);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_translated_kernel_records),
        cmocka_unit_test(render_commands_are_refused),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
