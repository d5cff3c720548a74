// SPDX-License-Identifier: Apache-2.0
// Kernels of a .metallib with [[stage_in]]: the same numbers as by the definition of each format, and as from a source.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "core/memory.h"
#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct In { float2 place [[attribute(0)]]; uchar colour [[attribute(5)]]; half3 weights [[attribute(30)]];\n"
    "            short4 parts [[attribute(7)]]; };\n"
    "kernel void attributes(In in [[stage_in]], device float *out [[buffer(0)]], uint id [[thread_position_in_grid]]) "
    "{\n"
    "    device float *o = out + 10 * id;\n"
    "    o[0] = in.place.x, o[1] = in.place.y, o[2] = in.colour, o[3] = in.weights.x, o[4] = in.weights.y;\n"
    "    o[5] = in.weights.z, o[6] = in.parts.x, o[7] = in.parts.y, o[8] = in.parts.z, o[9] = in.parts.w;\n"
    "}\n";

enum { THREADS = 40, OUTPUTS = 10, STRIDE = 24, ELEMENTS = 48, BYTES = ELEMENTS * STRIDE };

// Buffer 1: places and parts by x, through indices in buffer 3; buffer 2: colours and weights, two threads each.
static const ig_stage_attribute attributes[] = {
    {.index = 0, .type = IG_TYPE_F16, .components = 2, .offset = 4, .buffer = 1},
    {.index = 5, .type = IG_TYPE_U8, .components = 1, .offset = 3, .buffer = 2},
    {.index = 7, .type = IG_TYPE_I8, .components = 2, .offset = 9, .buffer = 1},
    {.index = 30, .type = IG_TYPE_I16, .components = 3, .normalized = true, .offset = 10, .buffer = 2},
};
static const ig_stage_layout layouts[] = {{.buffer = 1, .stride = STRIDE, .step = IG_STEP_GRID_X_INDEXED},
                                          {.buffer = 2, .stride = IG_STRIDE_DYNAMIC, .rate = 2}};
static const ig_stage_input input = {attributes, LENGTH(attributes), layouts, LENGTH(layouts), 3, IG_TYPE_U16};

static ig_library *open_library(void) {
    static const char *const names[] = {"attributes"};
    igi_text file = {0};
    assert_true(assemble_metallib(getenv("AIR_KERNELS"), names, 1, &file));
    ig_library *library = compile_on(device, &(ig_library_desc){.data = file.data, .data_length = file.length});
    igi_text_free(&file);
    return library;
}

static ig_pipeline *pipeline_with(ig_library *library, const ig_stage_input *described) {
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    const ig_pipeline_desc desc = {.kernel = "attributes", .stage_input = described};
    if (ig_pipeline_create(library, &desc, &pipeline, &error) != IG_STATUS_OK) fail_msg("%s", error.message);
    return pipeline;
}

static void fill(ig_buffer *const buffers[4]) {
    uint8_t *places = ig_buffer_contents(buffers[1]), *colours = ig_buffer_contents(buffers[2]);
    uint16_t *indices = ig_buffer_contents(buffers[3]);
    for (int i = 0; i < BYTES; i++) places[i] = (uint8_t)(i * 7 % 61), colours[i] = (uint8_t)(i * 13);
    for (int i = 0; i < ELEMENTS; i++) indices[i] = (uint16_t)(i * 5 % ELEMENTS);
}

static void run_attributes(ig_library *library, ig_buffer *const buffers[4]) {
    ig_pipeline *pipeline = pipeline_with(library, &input);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_commands_set_pipeline(commands, pipeline);
    for (uint32_t i = 0; i < 4; i++) ig_commands_set_buffer(commands, buffers[i], 0, i);
    assert_ok(ig_commands_set_attribute_stride(commands, 20, 2));
    assert_ok(ig_commands_set_stage_region(commands, (ig_size){3, 0, 0}, (ig_size){THREADS - 2, 1, 1}));
    assert_ok(ig_commands_dispatch_threads(commands, line(THREADS), line(16)));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, SECONDS(60)));
    ig_commands_release(commands), ig_queue_release(queue), ig_pipeline_release(pipeline);
}

// IEEE 754, numbers that are not denormal and zero.
static double half_of(const uint8_t *bytes) {
    int word = bytes[0] | bytes[1] << 8, exponent = word >> 10 & 31, fraction = word & 1023;
    double value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return word >> 15 ? -value : value;
}

// As docs/msl-support.md has it.
static void expect(const ig_buffer *const buffers[4], int thread, double expected[OUTPUTS]) {
    const uint8_t *places = ig_buffer_contents((ig_buffer *)buffers[1]),
                  *colours = ig_buffer_contents((ig_buffer *)buffers[2]);
    const uint16_t *indices = ig_buffer_contents((ig_buffer *)buffers[3]);
    const uint8_t *place = places + indices[3 + thread] * STRIDE, *colour = colours + (3 + thread / 2) * 20;
    expected[0] = half_of(place + 4), expected[1] = half_of(place + 6);
    expected[2] = colour[3];
    for (int i = 0; i < 3; i++) {
        int16_t word = (int16_t)(colour[10 + 2 * i] | colour[11 + 2 * i] << 8);
        expected[3 + i] = word == INT16_MIN ? -1 : word / 32767.;
    }
    expected[6] = (int8_t)place[9], expected[7] = (int8_t)place[10], expected[8] = 0, expected[9] = 1;
    for (int i = 0; i < OUTPUTS && thread >= THREADS - 2; i++) expected[i] = 0;
}

static void attributes_are_fetched(void **state) {
    (void)state;
    ig_library *library = open_library(), *compiled = compile(source);
    ig_buffer *buffers[4], *again[4];
    for (int i = 0; i < 4; i++) buffers[i] = make_buffer(i ? BYTES : THREADS * OUTPUTS * 4);
    fill(buffers);
    memcpy(again, buffers, sizeof again);
    again[0] = make_buffer(THREADS * OUTPUTS * 4);
    run_attributes(library, buffers);
    run_attributes(compiled, again);
    const float *got = ig_buffer_contents(buffers[0]);
    for (int thread = 0; thread < THREADS; thread++) {
        double expected[OUTPUTS];
        expect((const ig_buffer *const *)buffers, thread, expected);
        for (int i = 0; i < OUTPUTS; i++)
            // Weights are halves.
            if (fabs(got[OUTPUTS * thread + i] - expected[i]) > 0x1p-10 * fabs(expected[i]) * (i >= 3 && i < 6))
                fail_msg("thread %d, %d: %g, not %g", thread, i, got[OUTPUTS * thread + i], expected[i]);
    }
    assert_memory_equal(got, ig_buffer_contents(again[0]), THREADS * OUTPUTS * 4);
    ig_buffer_release(again[0]);
    for (int i = 0; i < 4; i++) ig_buffer_release(buffers[i]);
    ig_library_release(library), ig_library_release(compiled);
}

static void attributes_are_reflected_and_wanted(void **state) {
    (void)state;
    ig_library *library = open_library();
    const ig_kernel_info *kernel = ig_library_kernel(library, 0);
    assert_int_equal(kernel->argument_count, 6);
    assert_int_equal(kernel->arguments[3].kind, IG_ARGUMENT_STAGE_INPUT);
    assert_int_equal(kernel->arguments[3].index, 30);
    assert_string_equal(kernel->arguments[3].type, "half3");
    assert_string_equal(kernel->arguments[3].attribute, "attribute");
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_status(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "attributes"}, &pipeline, &error),
                  IG_STATUS_INVALID_ARGUMENT);
    assert_contains(error.message, "reads 'place' from [[attribute(0)]]");
    ig_error_clear(&error);
    ig_library_release(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_are_fetched),
        cmocka_unit_test(attributes_are_reflected_and_wanted),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
