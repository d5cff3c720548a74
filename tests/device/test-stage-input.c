// SPDX-License-Identifier: Apache-2.0
// [[stage_in]]: every format, every step, regions, and mistakes.
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Real { float4 value [[attribute(3)]]; };\n"
    "struct Half { half2 value [[attribute(3)]]; };\n"
    "struct Integers { int4 value [[attribute(3)]]; };\n"
    "struct Naturals { ushort3 value [[attribute(3)]]; };\n"
    "kernel void reals(Real in [[stage_in]], device float4 *out [[buffer(0)]], uint i [[thread_position_in_grid]])\n"
    "{ out[i] = in.value; }\n"
    "kernel void halves(device float4 *out [[buffer(0)]], const Half in [[stage_in]],\n"
    "                   uint i [[thread_position_in_grid]]) { out[i] = float4(float2(in.value), 7, 7); }\n"
    "kernel void integers(device int4 *out [[buffer(0)]], uint i [[thread_position_in_grid]], Integers in "
    "[[stage_in]])\n"
    "{ out[i] = in.value; }\n"
    "kernel void naturals(Naturals in [[stage_in]], device uint4 *out [[buffer(0)]],\n"
    "                     uint i [[thread_position_in_grid]]) { out[i] = uint4(uint3(in.value), 7); }\n"
    "struct Vertex { float2 place [[attribute(0)]]; uint colour [[attribute(1)]]; float scale [[attribute(2)]]; };\n"
    "kernel void grid(Vertex in [[stage_in]], device float4 *out [[buffer(0)]], uint2 i [[thread_position_in_grid]],\n"
    "                 uint2 n [[threads_per_grid]], uint2 first [[grid_origin]], uint2 size [[grid_size]])\n"
    "{ out[i.y * n.x + i.x] = float4(in.place, in.colour, in.scale) + float4(0, 0, 0, 100 * first.x + 10000 * size.x); "
    "}\n";

static ig_library *library;

static int open_library(void **state) {
    if (open_test_device(state) != 0) return 1;
    library = compile(source);
    return 0;
}

static int close_library(void **state) {
    ig_library_release(library);
    return close_test_device(state);
}

static void expect_last_error(const char *part) {
    ig_error error = {0};
    ig_last_error(&error);
    assert_contains(error.message, part);
    ig_error_clear(&error);
}

// ---- Formats ----

enum { THREADS = 3, STRIDE = 16 };

typedef struct format_case {
    const char *kernel;
    ig_stage_attribute attribute;
    const void *bytes;  // of an element, which every thread reads at an offset of its own
    size_t length;
    double expected[4];
} format_case;

#define BYTES(...)                                            \
    (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]) { \
        __VA_ARGS__                                           \
    }
#define U16S(...)                                               \
    (const uint16_t[]){__VA_ARGS__}, sizeof(const uint16_t[]) { \
        __VA_ARGS__                                             \
    }
#define U32S(...)                                               \
    (const uint32_t[]){__VA_ARGS__}, sizeof(const uint32_t[]) { \
        __VA_ARGS__                                             \
    }
#define F32S(...)                                         \
    (const float[]){__VA_ARGS__}, sizeof(const float[]) { \
        __VA_ARGS__                                       \
    }

static const format_case format_cases[] = {
    {"reals", {.type = IG_TYPE_F32, .components = 4}, F32S(1.5f, -2, 3, 4), {1.5, -2, 3, 4}},
    {"reals", {.type = IG_TYPE_F32, .components = 2}, F32S(1.5f, -2), {1.5, -2, 0, 1}},
    {"reals", {.type = IG_TYPE_F32, .components = 1}, F32S(9), {9, 0, 0, 1}},
    {"reals", {.type = IG_TYPE_F16, .components = 3}, U16S(0x3c00, 0xc000, 0x3800), {1, -2, 0.5, 1}},
    {"reals", {.type = IG_TYPE_U8, .components = 4, .normalized = true}, BYTES(0, 255, 51, 102), {0, 1, 0.2, 0.4}},
    {"reals", {.type = IG_TYPE_I8, .components = 3, .normalized = true}, BYTES(127, 128, 129), {1, -1, -1, 1}},
    {"reals", {.type = IG_TYPE_U16, .components = 2, .normalized = true}, U16S(65535, 13107), {1, 0.2, 0, 1}},
    {"reals", {.type = IG_TYPE_I16, .components = 2, .normalized = true}, U16S(32767, 0x8000), {1, -1, 0, 1}},
    {"reals",
     {.packing = IG_PACKING_RGB10A2_UNORM},
     U32S(1023u | 0u << 10 | 341u << 20 | 2u << 30),
     {1, 0, 1 / 3., 2 / 3.}},
    {"reals", {.packing = IG_PACKING_RGB10A2_SNORM}, U32S(511u | 513u << 10 | 512u << 20 | 3u << 30), {1, -1, -1, -1}},
    {"reals", {.packing = IG_PACKING_BGRA8_UNORM}, BYTES(0, 51, 255, 102), {1, 0.2, 0, 0.4}},
    {"reals", {.packing = IG_PACKING_RG11B10_FLOAT}, U32S(0x3c0u | 0x400u << 11 | 0x1c0u << 22), {1, 2, 0.5, 1}},
    {"reals", {.packing = IG_PACKING_RGB9E5_FLOAT}, U32S(256u | 128u << 9 | 0u << 18 | 16u << 27), {1, 0.5, 0, 1}},
    {"halves", {.type = IG_TYPE_F32, .components = 4}, F32S(0.25f, 8, 3, 4), {0.25, 8, 7, 7}},
    {"integers", {.type = IG_TYPE_I8, .components = 2}, BYTES(255, 7), {-1, 7, 0, 1}},
    {"integers", {.type = IG_TYPE_I16, .components = 3}, U16S(0x8000, 5, 6), {-32768, 5, 6, 1}},
    {"integers", {.type = IG_TYPE_I32, .components = 4}, U32S(1u << 31, 2, 3, 4), {-2147483648., 2, 3, 4}},
    {"naturals", {.type = IG_TYPE_U8, .components = 4}, BYTES(255, 7, 8, 9), {255, 7, 8, 7}},
    {"naturals", {.type = IG_TYPE_U16, .components = 1}, U16S(65535), {65535, 0, 0, 7}},
    {"naturals", {.type = IG_TYPE_U32, .components = 2}, U32S(70000, 3), {4464, 3, 0, 7}},
};

static ig_pipeline *pipeline_with(const char *kernel, const ig_stage_input *input) {
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    ig_pipeline_desc desc = {.kernel = kernel, .stage_input = input};
    if (ig_pipeline_create(library, &desc, &pipeline, &error) != IG_STATUS_OK) fail_msg("%s", error.message);
    return pipeline;
}

static ig_status run_grid(ig_pipeline *pipeline, ig_buffer *const *buffers, size_t count, ig_size grid, ig_size origin,
                          ig_size size) {
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_commands_set_pipeline(commands, pipeline);
    for (uint32_t i = 0; i < count; i++)
        if (buffers[i]) ig_commands_set_buffer(commands, buffers[i], 0, i);
    if (origin.x || size.x) assert_ok(ig_commands_set_stage_region(commands, origin, size));
    ig_status status = ig_commands_dispatch_threads(commands, grid, (ig_size){0});
    if (status == IG_STATUS_OK) status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, SECONDS(60));
    ig_commands_release(commands);
    ig_queue_release(queue);
    return status;
}

static double element(const void *memory, const char *kernel, int i) {
    if (strcmp(kernel, "integers") == 0) return ((const int32_t *)memory)[i];
    return strcmp(kernel, "naturals") == 0 ? (double)((const uint32_t *)memory)[i] : (double)((const float *)memory)[i];
}

static void formats_are_converted(void **state) {
    (void)state;
    for (size_t c = 0; c < LENGTH(format_cases); c++) {
        const format_case *test = &format_cases[c];
        ig_stage_attribute attribute = test->attribute;
        attribute.index = 3, attribute.offset = 4, attribute.buffer = 2;
        ig_stage_layout layout = {.buffer = 2, .stride = STRIDE + 4};
        ig_stage_input input = {&attribute, 1, &layout, 1, 0, IG_TYPE_U16};
        ig_pipeline *pipeline = pipeline_with(test->kernel, &input);
        ig_buffer *out = make_buffer(THREADS * 16), *in = make_buffer(THREADS * (STRIDE + 4));
        for (int i = 0; i < THREADS; i++)
            memcpy((char *)ig_buffer_contents(in) + i * (STRIDE + 4) + 4, test->bytes, test->length);
        assert_ok(run_grid(pipeline, (ig_buffer *[]){out, NULL, in}, 3, line(THREADS), (ig_size){0}, (ig_size){0}));
        for (int i = 0; i < 4 * THREADS; i++) {
            double got = element(ig_buffer_contents(out), test->kernel, i), wanted = test->expected[i % 4];
            if (fabs(got - wanted) > 1e-6 * fabs(wanted)) fail_msg("case %zu, %d: %.9g, not %.9g", c, i, got, wanted);
        }
        ig_buffer_release(in), ig_buffer_release(out), ig_pipeline_release(pipeline);
    }
}

// ---- Steps and regions ----

// Places by x, with two threads each; colours through indices by y; one scale for all.
static const ig_stage_attribute vertex[] = {
    {.index = 0, .type = IG_TYPE_F32, .components = 2, .buffer = 1},
    {.index = 1, .type = IG_TYPE_U8, .components = 1, .offset = 3, .buffer = 2},
    {.index = 2, .type = IG_TYPE_F32, .components = 1, .offset = 8, .buffer = 3},
};
static const ig_stage_layout layouts[] = {
    {.buffer = 1, .stride = 8, .rate = 2},
    {.buffer = 2, .stride = 4, .step = IG_STEP_GRID_Y_INDEXED},
    {.buffer = 3, .step = IG_STEP_CONSTANT},
};
static const ig_stage_input steps = {vertex, 3, layouts, 3, 4, IG_TYPE_U32};

static void fill(ig_buffer *const buffers[5]) {
    float *places = ig_buffer_contents(buffers[1]), *scale = ig_buffer_contents(buffers[3]);
    uint8_t *colours = ig_buffer_contents(buffers[2]);
    uint32_t *indices = ig_buffer_contents(buffers[4]);
    for (int i = 0; i < 16; i++) places[i] = (float)i;
    for (int i = 0; i < 32; i++) colours[i] = (uint8_t)i;
    for (int i = 0; i < 8; i++) indices[i] = (uint32_t)(7 - i);
    scale[2] = 50;
}

static void run_steps(ig_size origin, ig_size size, float *out) {
    ig_pipeline *pipeline = pipeline_with("grid", &steps);
    ig_buffer *buffers[5];
    for (int i = 0; i < 5; i++) buffers[i] = make_buffer(i ? 64 : 8 * 3 * 16);
    fill(buffers);
    assert_ok(run_grid(pipeline, buffers, 5, (ig_size){8, 3, 1}, origin, size));
    memcpy(out, ig_buffer_contents(buffers[0]), 8 * 3 * 16);
    for (int i = 0; i < 5; i++) ig_buffer_release(buffers[i]);
    ig_pipeline_release(pipeline);
}

static void threads_step_through_buffers(void **state) {
    (void)state;
    float out[8 * 3 * 4];
    run_steps((ig_size){0}, (ig_size){0}, out);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 8; x++) {
            const float *v = &out[4 * (8 * y + x)];
            assert_true(v[0] == 2 * (x / 2) && v[1] == 2 * (x / 2) + 1);
            assert_true(v[2] == 4 * (7 - y) + 3);
            assert_true(v[3] == 50 + 10000 * 8);
        }
}

static void a_region_limits_what_is_read(void **state) {
    (void)state;
    float out[8 * 3 * 4];
    run_steps((ig_size){2, 1, 0}, (ig_size){6, 2, 1}, out);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 8; x++) {
            const float *v = &out[4 * (8 * y + x)];
            assert_true(v[0] == (x < 6 ? 2 * (x / 2 + 2) : 0));
            assert_true(v[2] == (y < 2 ? 4 * (7 - (y + 1)) + 3 : 0));
            assert_true(v[3] == 50 + 200 + 10000 * 6);
        }
}

// ---- Strides that are given with buffers ----

// Places by x and colours by y, which lie in one buffer or in two, as commands say.
static const ig_stage_layout open_layouts[] = {
    {.buffer = 1, .stride = IG_STRIDE_DYNAMIC, .rate = 2},
    {.buffer = 2, .stride = IG_STRIDE_DYNAMIC, .step = IG_STEP_GRID_Y},
    {.buffer = 3, .stride = IG_STRIDE_DYNAMIC, .step = IG_STEP_CONSTANT},
};
static const ig_stage_input open_steps = {vertex, 3, open_layouts, 3, 0, IG_TYPE_U16};

enum { WIDE = 8, HIGH = 3 };

// What the kernel `grid` computes for elements that are so far apart.
static void expect_strides(const float *out, const ig_buffer *places, const ig_buffer *colours, uint32_t stride_x,
                           uint32_t stride_y) {
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++) {
            float place[2];
            memcpy(place, (const char *)ig_buffer_contents((ig_buffer *)places) + (uint32_t)(x / 2) * stride_x,
                   sizeof place);
            uint8_t colour = ((const uint8_t *)ig_buffer_contents((ig_buffer *)colours))[(uint32_t)y * stride_y + 3];
            const float *v = &out[4 * (WIDE * y + x)];
            assert_true(v[0] == place[0] && v[1] == place[1] && v[2] == colour && v[3] == 50 + 10000 * WIDE);
        }
}

// Two dispatches of one command buffer have strides of their own.
static void strides_are_given_with_buffers(void **state) {
    (void)state;
    static const uint32_t strides[][2] = {{8, 4}, {12, 5}, {4, 1}};
    ig_pipeline *pipeline = pipeline_with("grid", &open_steps);
    ig_buffer *buffers[5], *out[LENGTH(strides)];
    for (int i = 0; i < 5; i++) buffers[i] = make_buffer(64);
    fill(buffers);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_commands_set_pipeline(commands, pipeline);
    for (uint32_t i = 1; i < 4; i++) ig_commands_set_buffer(commands, buffers[i], 0, i);
    for (size_t i = 0; i < LENGTH(strides); i++) {
        out[i] = make_buffer(WIDE * HIGH * 16);
        ig_commands_set_buffer(commands, out[i], 0, 0);
        assert_ok(ig_commands_set_attribute_stride(commands, strides[i][0], 1));
        assert_ok(ig_commands_set_attribute_stride(commands, strides[i][1], 2));
        assert_ok(ig_commands_dispatch_threads(commands, (ig_size){WIDE, HIGH, 1}, (ig_size){0}));
    }
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, SECONDS(60)));
    for (size_t i = 0; i < LENGTH(strides); i++) {
        expect_strides(ig_buffer_contents(out[i]), buffers[1], buffers[2], strides[i][0], strides[i][1]);
        ig_buffer_release(out[i]);
    }
    for (int i = 0; i < 5; i++) ig_buffer_release(buffers[i]);
    ig_commands_release(commands), ig_queue_release(queue), ig_pipeline_release(pipeline);
}

static void refuse_stride(ig_pipeline *pipeline, ig_buffer *const *buffers, uint32_t stride, ig_status status,
                          const char *message) {
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_commands_set_pipeline(commands, pipeline);
    for (uint32_t i = 0; i < 4; i++) ig_commands_set_buffer(commands, buffers[i], 0, i);
    assert_ok(ig_commands_set_attribute_stride(commands, 4, 2));
    assert_ok(ig_commands_set_attribute_stride(commands, stride, 1));
    assert_status(ig_commands_dispatch_threads(commands, (ig_size){WIDE, HIGH, 1}, (ig_size){0}), status);
    expect_last_error(message);
    ig_commands_release(commands), ig_queue_release(queue);
}

static void strides_that_do_not_fit_are_refused(void **state) {
    (void)state;
    ig_pipeline *pipeline = pipeline_with("grid", &open_steps);
    ig_buffer *buffers[4];
    for (int i = 0; i < 4; i++) buffers[i] = make_buffer(i ? 64 : WIDE * HIGH * 16);
    refuse_stride(pipeline, buffers, 0, IG_STATUS_UNBOUND_ARGUMENT,
                  "the stride of buffer 1 is dynamic and was not set");
    refuse_stride(pipeline, buffers, 6, IG_STATUS_INVALID_ARGUMENT, "buffer 1 is 6, and must be a multiple of 4");
    refuse_stride(pipeline, buffers, 20, IG_STATUS_BUFFER_TOO_SMALL,
                  "in buffer 1 need 68 bytes, but only 64 are bound");
    refuse_stride(pipeline, buffers, 0xfffffffc, IG_STATUS_BUFFER_TOO_SMALL, "need 12884901884 bytes");
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    assert_status(ig_commands_set_attribute_stride(commands, 4, 31), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_set_attribute_stride(commands, IG_STRIDE_DYNAMIC, 1), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_set_attribute_stride(NULL, 4, 1), IG_STATUS_INVALID_ARGUMENT);
    ig_commands_release(commands), ig_queue_release(queue);
    for (int i = 0; i < 4; i++) ig_buffer_release(buffers[i]);
    ig_pipeline_release(pipeline);
}

enum { HOST, KERNEL, INHERITED, RECORDED };

static const char recording[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void record(device command_buffer &commands [[buffer(0)]], constant ulong *at [[buffer(1)]],\n"
    "                   device compute_pipeline_state *pipeline [[buffer(2)]]) {\n"
    "  compute_command c(commands, 1);\n"
    "  c.set_compute_pipeline_state(*pipeline);\n"
    "  c.set_kernel_buffer((device float *)at[0], 0);\n"
    "  c.set_kernel_buffer((device float *)at[1], size_t(12), 1);\n"
    "  c.set_kernel_buffer((constant uchar *)at[2], size_t(5), 2);\n"
    "  c.set_kernel_buffer((device float *)at[3], 3);\n"
    "  c.set_kernel_buffer((device float *)at[4], 4);\n"
    "  c.concurrent_dispatch_threads(uint3(8, 3, 1), uint3(8, 3, 1)); }\n";

static ig_indirect_commands *make_recorded(bool inherit) {
    ig_indirect_commands *made = NULL;
    assert_ok(ig_indirect_commands_create(device, &(ig_indirect_commands_desc){.count = 2, .inherit_buffers = inherit},
                                          &made));
    return made;
}

static void record_on_host(ig_indirect_commands *list, ig_pipeline *pipeline, ig_buffer *out,
                           ig_buffer *const *buffers) {
    assert_ok(ig_indirect_commands_set_pipeline(list, 0, pipeline));
    if (out) assert_ok(ig_indirect_commands_set_buffer(list, 0, out, 0, 0));
    for (uint32_t i = 1; out && i < 5; i++) assert_ok(ig_indirect_commands_set_buffer(list, 0, buffers[i], 0, i));
    if (out) assert_ok(ig_indirect_commands_set_attribute_stride(list, 0, 8, 1));
    if (out) assert_ok(ig_indirect_commands_set_attribute_stride(list, 0, 4, 2));
    assert_ok(ig_indirect_commands_dispatch_threads(list, 0, (ig_size){WIDE, HIGH, 1}, (ig_size){WIDE, HIGH, 1}));
}

static void record_with_kernel(ig_commands *commands, ig_pipeline *writer, ig_indirect_commands *list,
                               ig_pipeline *pipeline, const uint64_t *addresses) {
    uint64_t id, at = ig_indirect_commands_device_address(list);
    assert_ok(ig_pipeline_resource_id(pipeline, &id));
    ig_commands_set_pipeline(commands, writer);
    ig_commands_set_bytes(commands, &at, sizeof at, 0);
    ig_commands_set_bytes(commands, addresses, 5 * sizeof *addresses, 1);
    ig_commands_set_bytes(commands, &id, sizeof id, 2);
    assert_ok(ig_commands_dispatch_threads(commands, line(1), line(1)));
}

// By the host, by a kernel, and where they are executed.
static void strides_are_recorded(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const uint32_t strides[RECORDED][2] = {{8, 4}, {12, 5}, {4, 1}};
    ig_pipeline *pipeline = pipeline_with("grid", &open_steps), *writer = make_pipeline(recording, "record");
    ig_buffer *buffers[5], *out[RECORDED];
    for (int i = 0; i < 5; i++) buffers[i] = make_buffer(64);
    fill(buffers);
    for (int i = 0; i < RECORDED; i++) out[i] = make_buffer(WIDE * HIGH * 16);
    uint64_t addresses[5] = {ig_buffer_device_address(out[KERNEL])};
    for (int i = 1; i < 5; i++) addresses[i] = ig_buffer_device_address(buffers[i]);
    ig_indirect_commands *list = make_recorded(false), *inheriting = make_recorded(true);
    record_on_host(list, pipeline, out[HOST], buffers), record_on_host(inheriting, pipeline, NULL, NULL);
    assert_status(ig_indirect_commands_set_attribute_stride(list, 0, IG_STRIDE_DYNAMIC, 1), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_indirect_commands_set_attribute_stride(list, 0, 4, 31), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_indirect_commands_set_attribute_stride(list, 2, 4, 1), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_indirect_commands_set_attribute_stride(inheriting, 0, 4, 1), IG_STATUS_WRONG_STATE);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    record_with_kernel(commands, writer, list, pipeline, addresses);
    assert_ok(ig_commands_execute(commands, list, 0, 2));
    ig_commands_set_buffer(commands, out[INHERITED], 0, 0);
    for (uint32_t i = 1; i < 5; i++) ig_commands_set_buffer(commands, buffers[i], 0, i);
    for (uint32_t i = 0; i < 2; i++) ig_commands_set_attribute_stride(commands, strides[INHERITED][i], i + 1);
    assert_ok(ig_commands_execute(commands, inheriting, 0, 1));
    for (uint32_t i = 0; i < 2; i++) ig_commands_set_attribute_stride(commands, 0, i + 1);
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, SECONDS(60)));
    for (int i = 0; i < RECORDED; i++) {
        expect_strides(ig_buffer_contents(out[i]), buffers[1], buffers[2], strides[i][0], strides[i][1]);
        ig_buffer_release(out[i]);
    }
    for (int i = 0; i < 5; i++) ig_buffer_release(buffers[i]);
    ig_indirect_commands_release(list), ig_indirect_commands_release(inheriting);
    ig_commands_release(commands), ig_queue_release(queue), ig_pipeline_release(pipeline), ig_pipeline_release(writer);
}

// ---- Regions that kernels compute ----

static void a_region_can_be_read_when_the_dispatch_runs(void **state) {
    (void)state;
    float direct[8 * 3 * 4];
    run_steps((ig_size){2, 1, 0}, (ig_size){6, 2, 1}, direct);
    ig_pipeline *pipeline = pipeline_with("grid", &steps);
    ig_pipeline *writer = make_pipeline(
        "kernel void region(device uint *r) { r[2] = 2; r[3] = 1; r[4] = 0; r[5] = 6; r[6] = 2; r[7] = 1; }", "region");
    ig_buffer *buffers[5], *region = make_buffer(32);
    for (int i = 0; i < 5; i++) buffers[i] = make_buffer(i ? 64 : 8 * 3 * 16);
    fill(buffers);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_commands_set_pipeline(commands, writer);
    ig_commands_set_buffer(commands, region, 0, 0);
    assert_ok(ig_commands_dispatch_threads(commands, line(1), line(1)));
    ig_commands_set_pipeline(commands, pipeline);
    for (uint32_t i = 0; i < 5; i++) ig_commands_set_buffer(commands, buffers[i], 0, i);
    assert_ok(ig_commands_set_stage_region_indirect(commands, region, 8));
    assert_ok(ig_commands_dispatch_threads(commands, (ig_size){8, 3, 1}, (ig_size){0}));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, SECONDS(60)));
    assert_memory_equal(ig_buffer_contents(buffers[0]), direct, sizeof direct);
    ig_commands_release(commands);
    commands = make_commands(queue);
    assert_status(ig_commands_set_stage_region_indirect(commands, region, 12), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_set_stage_region_indirect(commands, region, 6), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_set_stage_region_indirect(commands, NULL, 0), IG_STATUS_INVALID_ARGUMENT);
    ig_commands_release(commands), ig_queue_release(queue), ig_buffer_release(region);
    for (int i = 0; i < 5; i++) ig_buffer_release(buffers[i]);
    ig_pipeline_release(writer), ig_pipeline_release(pipeline);
}

// ---- Reflection ----

static void attributes_are_reflected(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    const ig_kernel_info *kernel = ig_library_find_kernel(library, "grid");
    const char *const names[] = {"place", "colour", "scale"}, *const types[] = {"float2", "uint", "float"};
    size_t found = 0;
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        if (argument->kind != IG_ARGUMENT_STAGE_INPUT) continue;
        assert_string_equal(argument->attribute, "attribute");
        assert_in_range(argument->index, 0, 2);
        assert_string_equal(argument->name, names[argument->index]);
        assert_string_equal(argument->type, types[argument->index]);
        found++;
    }
    assert_int_equal(found, 3);
    assert_int_equal(ig_library_function_constant_count(library), 0);
}

// ---- Mistakes ----

static void refused(const char *kernel, const ig_stage_input *input, ig_status status, const char *message) {
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    ig_pipeline_desc desc = {.kernel = kernel, .stage_input = input};
    assert_status(ig_pipeline_create(library, &desc, &pipeline, &error), status);
    assert_contains(error.message, message);
    ig_error_clear(&error);
}

static void wrong_descriptions_are_refused(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_stage_attribute a = {.index = 3, .type = IG_TYPE_F32, .components = 4, .buffer = 2};
    ig_stage_layout layout = {.buffer = 2, .stride = 16};
    ig_stage_input input = {&a, 1, &layout, 1, 0, IG_TYPE_U16};
    refused("reals", NULL, IG_STATUS_INVALID_ARGUMENT, "'value' from [[attribute(3)]]");
    refused("integers", &input, IG_STATUS_INVALID_ARGUMENT, "attribute 3 is f32 x 4, which 'value' (int4) cannot hold");
    layout.buffer = 1;
    refused("reals", &input, IG_STATUS_INVALID_ARGUMENT, "buffer 2, which has no layout");
    layout.buffer = 2, layout.stride = 0;
    refused("reals", &input, IG_STATUS_INVALID_ARGUMENT, "no stride");
    layout.stride = 18;
    refused("reals", &input, IG_STATUS_INVALID_ARGUMENT, "multiples of 4");
    layout.stride = 16, a.components = 5;
    refused("reals", &input, IG_STATUS_INVALID_ARGUMENT, "does not exist");
    a.components = 4, a.buffer = 31;
    refused("reals", &input, IG_STATUS_OUT_OF_RANGE, "the highest");
    a.buffer = 2, layout.step = IG_STEP_GRID_X_INDEXED, input.index_buffer = 31;
    refused("reals", &input, IG_STATUS_OUT_OF_RANGE, "index buffer");
}

static void what_is_bound_must_be_long_enough(void **state) {
    (void)state;
    ig_pipeline *pipeline = pipeline_with("grid", &steps);
    ig_buffer *buffers[5];
    for (int i = 0; i < 5; i++) buffers[i] = make_buffer(i ? 32 : 8 * 3 * 16);
    ig_size grid = {8, 3, 1}, none = {0};
    assert_ok(run_grid(pipeline, buffers, 5, grid, none, none));
    assert_status(run_grid(pipeline, buffers, 5, grid, (ig_size){1, 0, 0}, grid), IG_STATUS_BUFFER_TOO_SMALL);
    expect_last_error("in buffer 1 need 40 bytes, but only 32 are bound");
    assert_status(run_grid(pipeline, buffers, 5, grid, (ig_size){0, 6, 0}, grid), IG_STATUS_BUFFER_TOO_SMALL);
    expect_last_error("the indices of [[stage_in]] in buffer 4 need 36 bytes");
    assert_status(run_grid(pipeline, buffers, 3, grid, none, none), IG_STATUS_UNBOUND_ARGUMENT);
    for (int i = 0; i < 5; i++) ig_buffer_release(buffers[i]);
    ig_pipeline_release(pipeline);
}

// ---- In the background ----

static void keep_pipeline(ig_pipeline *pipeline, ig_status status, const ig_error *error, void *user) {
    (void)error;
    __atomic_store_n((ig_pipeline **)user, status == IG_STATUS_OK ? pipeline : NULL, __ATOMIC_RELEASE);
}

static void descriptions_are_copied(void **state) {
    (void)state;
    ig_stage_attribute attributes[3];
    ig_pipeline *pipeline = NULL;
    memcpy(attributes, vertex, sizeof vertex);
    ig_stage_input input = steps;
    input.attributes = attributes;
    ig_pipeline_desc desc = {.kernel = "grid", .stage_input = &input};
    assert_ok(ig_pipeline_create_async(library, &desc, keep_pipeline, &pipeline));
    memset(attributes, 0xff, sizeof attributes);
    for (int i = 0; i < 6000 && !__atomic_load_n(&pipeline, __ATOMIC_ACQUIRE); i++) usleep(10000);
    assert_non_null(pipeline);
    ig_pipeline_release(pipeline);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_converted),
        cmocka_unit_test(threads_step_through_buffers),
        cmocka_unit_test(a_region_limits_what_is_read),
        cmocka_unit_test(attributes_are_reflected),
        cmocka_unit_test(wrong_descriptions_are_refused),
        cmocka_unit_test(what_is_bound_must_be_long_enough),
        cmocka_unit_test(descriptions_are_copied),
        cmocka_unit_test(strides_are_given_with_buffers),
        cmocka_unit_test(strides_that_do_not_fit_are_refused),
        cmocka_unit_test(strides_are_recorded),
        cmocka_unit_test(a_region_can_be_read_when_the_dispatch_runs),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
