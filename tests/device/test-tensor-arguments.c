// SPDX-License-Identifier: Apache-2.0
// Tensors of Metal 4 as arguments: extents, strides, offsets, and mistakes.
#include <string.h>

#include "helpers.h"

static const char kernels[] =
    "#include <metal_stdlib>\n"
    "#include <metal_tensor>\n"
    "using namespace metal;\n"
    "kernel void copy(tensor<device float, dextents<int32_t, 2>> in [[buffer(0)]],\n"
    "                 tensor<device float, dextents<int32_t, 2>> out [[buffer(1)]],\n"
    "                 uint2 at [[thread_position_in_grid]]) { out[at.x, at.y] = in[at.x, at.y]; }\n";

enum { COLUMNS = 5, ROWS = 3, FLOATS = 64 };

typedef struct fixture {
    ig_pipeline *pipeline;
    ig_queue *queue;
    ig_buffer *in, *out;
} fixture;

static float *floats_of(ig_buffer *buffer) {
    return ig_buffer_contents(buffer);
}

static void open_fixture(fixture *f) {
    ig_library *library = compile_on(device, &(ig_library_desc){.source = kernels, .language_version = 400});
    f->pipeline = pipeline_of(library, "copy");
    ig_library_release(library);
    f->queue = make_queue();
    f->in = make_buffer(FLOATS * sizeof(float));
    f->out = make_buffer(FLOATS * sizeof(float));
    for (int i = 0; i < FLOATS; i++) floats_of(f->in)[i] = (float)i;
}

static void close_fixture(fixture *f) {
    ig_buffer_release(f->out);
    ig_buffer_release(f->in);
    ig_queue_release(f->queue);
    ig_pipeline_release(f->pipeline);
}

static void copy(fixture *f, const ig_tensor_argument *in, const ig_tensor_argument *out) {
    memset(floats_of(f->out), 0, FLOATS * sizeof(float));
    ig_commands *commands = make_commands(f->queue);
    ig_commands_set_pipeline(commands, f->pipeline);
    ig_commands_set_tensor(commands, in, 0);
    ig_commands_set_tensor(commands, out, 1);
    ig_commands_dispatch_threads(commands, (ig_size){COLUMNS, ROWS, 1}, (ig_size){COLUMNS, 1, 1});
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, SECONDS(60)));
    ig_commands_release(commands);
}

static void dense_and_strided_tensors_are_copied(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f);
    ig_tensor_argument dense = {.buffer = f.out, .rank = 2, .extents = {COLUMNS, ROWS}};
    ig_tensor_argument padded = {
        .buffer = f.in, .offset = 2 * sizeof(float), .rank = 2, .extents = {COLUMNS, ROWS}, .strides = {1, 8}};
    ig_tensor_argument transposed = padded;
    transposed.strides[0] = ROWS, transposed.strides[1] = 1;
    const ig_tensor_argument *all[] = {&padded, &transposed};
    for (int t = 0; t < 2; t++) {
        copy(&f, all[t], &dense);
        for (uint64_t y = 0; y < ROWS; y++)
            for (uint64_t x = 0; x < COLUMNS; x++)
                assert_float_equal(floats_of(f.out)[y * COLUMNS + x],
                                   (float)(2 + x * all[t]->strides[0] + y * all[t]->strides[1]), 0);
        assert_float_equal(floats_of(f.out)[ROWS * COLUMNS], 0, 0);
    }
    close_fixture(&f);
}

static void expect_refused(fixture *f, ig_tensor_argument tensor, ig_status expected) {
    ig_commands *commands = make_commands(f->queue);
    ig_commands_set_pipeline(commands, f->pipeline);
    assert_int_equal(ig_commands_set_tensor(commands, &tensor, 0), expected);
    ig_commands_release(commands);
}

static void wrong_tensors_are_refused(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f);
    ig_tensor_argument right = {.buffer = f.in, .rank = 2, .extents = {COLUMNS, ROWS}}, wrong = right;
    wrong.rank = 0;
    expect_refused(&f, wrong, IG_STATUS_OUT_OF_RANGE);
    wrong.rank = 17;
    expect_refused(&f, wrong, IG_STATUS_OUT_OF_RANGE);
    wrong = right, wrong.offset = FLOATS * sizeof(float);
    expect_refused(&f, wrong, IG_STATUS_OUT_OF_RANGE);
    wrong = right, wrong.extents[0] = wrong.extents[1] = UINT64_MAX / 2;
    expect_refused(&f, wrong, IG_STATUS_OUT_OF_RANGE);
    wrong = right, wrong.extents[0] = 0, wrong.extents[1] = UINT64_MAX;
    expect_refused(&f, wrong, IG_STATUS_OUT_OF_RANGE);
    wrong = right, wrong.strides[0] = 1, wrong.strides[1] = UINT64_MAX;
    expect_refused(&f, wrong, IG_STATUS_OUT_OF_RANGE);
    wrong = right, wrong.buffer = NULL;
    expect_refused(&f, wrong, IG_STATUS_INVALID_ARGUMENT);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_and_strided_tensors_are_copied),
        cmocka_unit_test(wrong_tensors_are_refused),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
