// SPDX-License-Identifier: Apache-2.0
// Functions that draw or trace rays, beside kernels: they are listed with their kinds and arguments, checked, and no
// pipeline can be made of them.
#include <string.h>

#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\n#include <metal_raytracing>\nusing namespace metal;\nusing namespace metal::raytracing;\n"
    "struct VertexIn { float3 position [[attribute(0)]]; ushort2 corner [[attribute(4)]]; };\n"
    "struct VertexOut { float4 position [[position]]; float2 uv; float weights[9]; };\n"
    "struct Control { float4 at [[attribute(0)]]; };\n"
    "struct Payload { float4 corners[4]; };\n"
    "struct Tile { half4 color [[color(0)]]; };\n"
    "constant bool is_scaled [[function_constant(5)]];\n"
    "vertex VertexOut place(VertexIn in [[stage_in]], constant float4x4 &m [[buffer(1)]], const device float2 *uvs,\n"
    "                       constant float &scale [[buffer(3), function_constant(is_scaled)]], uint id [[vertex_id]]) "
    "{\n"
    "    VertexOut out = {m * float4(in.position * (is_scaled ? scale : 1), 1), uvs[id], {}};\n"
    "    return out;\n}\n"
    "[[patch(quad, 16)]] vertex float4 bend(patch_control_point<Control> points [[stage_in]],\n"
    "                                       float2 at [[position_in_patch]]) { return points[0].at * at.x; }\n"
    "[[early_fragment_tests]] fragment half4 shade(VertexOut [[stage_in]], half4 before [[color(1)]],\n"
    "                       array<texture2d<half>, 3> images [[texture(2)]], sampler s) { return before; }\n"
    "template <typename T> fragment T flat_of(device const T *colors [[buffer(0)]]) { return colors[0]; }\n"
    "template [[host_name(\"flat_half\")]] fragment half4 flat_of<half4>(device const half4 *);\n"
    "template [[host_name(\"flat_float\")]] fragment float4 flat_of<float4>(device const float4 *);\n"
    "[[object, max_total_threads_per_threadgroup(32)]] void spread(object_data Payload &shared [[payload]],\n"
    "    mesh_grid_properties grid, threadgroup float *scratch [[threadgroup(1)]]) { shared.corners[0] = scratch[0]; "
    "}\n"
    "kernel void brighten(imageblock<Tile> block, ushort2 at [[thread_position_in_threadgroup]]) {}\n"
    "[[intersection(triangle, triangle_data)]] bool accept(float2 at [[barycentric_coord]],\n"
    "    ray_data float3 &color [[payload]]) { return at.x > color.x; }\n"
    "kernel void trace(instance_acceleration_structure scene [[buffer(4)]], device float *out [[buffer(1)]],\n"
    "                  intersection_function_table<triangle_data, instancing> table [[buffer(2)]]) { out[0] = 1; }\n"
    "[[visible]] float twice(float x) { return 2 * x; }\n"
    "kernel void copy(device float *a, device const float *b, uint i [[thread_position_in_grid]]) { a[i] = b[i]; }\n";

typedef struct expected_argument {
    ig_argument_kind kind;
    const char *name, *attribute;
    uint32_t index;
} expected_argument;

static const struct {
    ig_function_kind kind;
    const char *name;
    size_t argument_count;
    expected_argument arguments[7];
} expected[] = {
    {IG_FUNCTION_VERTEX,
     "place",
     7,
     {{IG_ARGUMENT_BUILTIN, "in", "stage_in", 0},
      {IG_ARGUMENT_BUFFER, "m", "buffer", 1},
      {IG_ARGUMENT_BUFFER, "uvs", "buffer", 0},
      {IG_ARGUMENT_BUFFER, "scale", "buffer", 3},
      {IG_ARGUMENT_BUILTIN, "id", "vertex_id", 0},
      {IG_ARGUMENT_STAGE_INPUT, "position", "attribute", 0},
      {IG_ARGUMENT_STAGE_INPUT, "corner", "attribute", 4}}},
    {IG_FUNCTION_VERTEX,
     "bend",
     2,
     {{IG_ARGUMENT_BUILTIN, "points", "stage_in", 0}, {IG_ARGUMENT_BUILTIN, "at", "position_in_patch", 0}}},
    {IG_FUNCTION_FRAGMENT,
     "shade",
     4,
     {{IG_ARGUMENT_BUILTIN, "", "stage_in", 0},
      {IG_ARGUMENT_BUILTIN, "before", "color", 1},
      {IG_ARGUMENT_TEXTURE, "images", "texture", 2},
      {IG_ARGUMENT_SAMPLER, "s", "sampler", 0}}},
    {IG_FUNCTION_FRAGMENT, "flat_half", 1, {{IG_ARGUMENT_BUFFER, "colors", "buffer", 0}}},
    {IG_FUNCTION_FRAGMENT, "flat_float", 1, {{IG_ARGUMENT_BUFFER, "colors", "buffer", 0}}},
    {IG_FUNCTION_OBJECT,
     "spread",
     3,
     {{IG_ARGUMENT_BUILTIN, "shared", "payload", 0},
      {IG_ARGUMENT_BUILTIN, "grid", "", 0},
      {IG_ARGUMENT_THREADGROUP, "scratch", "threadgroup", 1}}},
    {IG_FUNCTION_TILE,
     "brighten",
     2,
     {{IG_ARGUMENT_BUILTIN, "block", "", 0}, {IG_ARGUMENT_BUILTIN, "at", "thread_position_in_threadgroup", 0}}},
    {IG_FUNCTION_INTERSECTION,
     "accept",
     2,
     {{IG_ARGUMENT_BUILTIN, "at", "barycentric_coord", 0}, {IG_ARGUMENT_BUILTIN, "color", "payload", 0}}},
    {IG_FUNCTION_RAY_TRACING,
     "trace",
     3,
     {{IG_ARGUMENT_ACCELERATION_STRUCTURE, "scene", "buffer", 4},
      {IG_ARGUMENT_BUFFER, "out", "buffer", 1},
      {IG_ARGUMENT_FUNCTION_TABLE, "table", "buffer", 2}}},
};

static void expect_all(const ig_library *library) {
    assert_int_equal(ig_library_other_count(library), LENGTH(expected));
    for (size_t i = 0; i < LENGTH(expected); i++) {
        const ig_kernel_info *info = ig_library_other(library, i);
        assert_string_equal(info->name, expected[i].name);
        assert_string_equal(ig_library_other_name(library, i), expected[i].name);
        assert_int_equal(ig_library_other_kind(library, i), expected[i].kind);
        assert_int_equal(info->kind, expected[i].kind);
        if (info->argument_count != expected[i].argument_count)
            fail_msg("%s has %zu arguments", info->name, info->argument_count);
        for (size_t k = 0; k < info->argument_count; k++) {
            const ig_argument *argument = &info->arguments[k];
            const expected_argument *wanted = &expected[i].arguments[k];
            assert_string_equal(argument->name, wanted->name);
            assert_string_equal(argument->attribute, wanted->attribute);
            assert_int_equal(argument->kind, wanted->kind);
            assert_int_equal(argument->index, wanted->index);
        }
    }
}

// From the compiler, from the bitcode of a library that is open, and from the cache.
static void they_are_listed_with_their_arguments(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_library *fresh = compile(source), *again = compile(source);
    ig_device *other = open_device(NULL);
    ig_library *cached = compile_on(other, &(ig_library_desc){.source = source});
    ig_library *libraries[] = {fresh, again, cached};
    for (size_t i = 0; i < LENGTH(libraries); i++) {
        expect_all(libraries[i]);
        assert_int_equal(ig_library_kernel_count(libraries[i]), 1);
        assert_int_equal(ig_library_kernel(libraries[i], 0)->kind, IG_FUNCTION_KERNEL);
        assert_int_equal(ig_library_function_count(libraries[i]), 1);
        ig_library_release(libraries[i]);
    }
    ig_device_release(other);
}

static void details_of_arguments_are_described(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_library *library = compile(source);
    const ig_kernel_info *place = ig_library_find_other(library, "place"),
                         *shade = ig_library_find_other(library, "shade");
    assert_string_equal(place->arguments[0].type, "VertexIn");
    assert_string_equal(place->arguments[1].address_space, "constant");
    assert_int_equal(place->arguments[1].min_bytes, 64);
    assert_int_equal(place->arguments[2].access, IG_ACCESS_READ);
    assert_string_equal(place->arguments[3].condition, "is_scaled");
    assert_string_equal(place->arguments[6].type, "ushort2");
    assert_int_equal(shade->arguments[2].array_length, 3);
    assert_int_equal(ig_library_find_other(library, "spread")->max_total_threads, 32);
    assert_null(ig_library_find_other(library, "copy"));
    assert_null(ig_library_find_other(library, NULL));
    assert_null(ig_library_other(library, LENGTH(expected)));
    assert_null(ig_library_other_name(library, LENGTH(expected)));
    ig_library_release(library);
}

static void expect_refusal(ig_library *library, const ig_pipeline_desc *desc, const char *message) {
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_status(ig_pipeline_create(library, desc, &pipeline, &error), IG_STATUS_UNSUPPORTED);
    assert_null(pipeline);
    assert_contains(error.message, message);
    ig_error_clear(&error);
}

static void no_pipeline_is_made_of_them(void **state) {
    (void)state;
    ig_library *library = compile(on_software_device() ? source : "fragment float4 shade() { return 0; }");
    expect_refusal(library, &(ig_pipeline_desc){.kernel = "shade"},
                   "Ingot does not run fragment functions, and 'shade' is one");
    if (on_software_device()) {
        expect_refusal(library, &(ig_pipeline_desc){.kernel = "trace"},
                       "Ingot does not run ray-tracing functions, and 'trace' is one");
        expect_refusal(library, &(ig_pipeline_desc){.kernel = "twice"}, "'twice' is a visible function, not a kernel");
        const ig_linked_function linked = {.name = "accept"};
        const ig_pipeline_desc desc = {.kernel = "copy", .linked_functions = &linked, .linked_function_count = 1};
        expect_refusal(library, &desc, "Ingot does not run intersection functions, and 'accept' is one");
        ig_pipeline_release(pipeline_of(library, "copy"));
    }
    ig_library_release(library);
}

// What MSL demands of a kernel's buffers, it demands of theirs.
static void their_arguments_are_checked(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const struct {
        const char *source, *message;
    } wrong[] = {
        {"vertex float4 v(device float *a [[buffer(1)]], device float *b [[buffer(1)]]) { return a[0] + b[0]; }",
         "buffer index 1 of 'b' is already used by 'a'"},
        {"fragment float4 f(device float *a [[buffer(40)]]) { return a[0]; }", "out of range"},
        {"fragment float4 f(float *a [[buffer(0)]]) { return a[0]; }", "explicit address space qualifier"},
        {"vertex float4 same() { return 0; }\n"
         "template <typename T> fragment T g() { return 0; }\n"
         "template [[host_name(\"same\")]] fragment float4 g<float4>();",
         "two functions are called 'same'"},
    };
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        ig_library *library = NULL;
        ig_error error = {0};
        assert_status(ig_library_create(device, &(ig_library_desc){.source = wrong[i].source}, &library, &error),
                      IG_STATUS_COMPILE_FAILED);
        assert_contains(error.log, wrong[i].message);
        ig_error_clear(&error);
    }
}

static void kinds_have_names(void **state) {
    (void)state;
    static const char *const names[IG_FUNCTION_KIND_COUNT] = {
        "kernel", "visible", "vertex", "fragment", "object", "mesh", "tile", "intersection", "ray-tracing"};
    for (int i = 0; i < IG_FUNCTION_KIND_COUNT; i++)
        assert_string_equal(ig_function_kind_name((ig_function_kind)i), names[i]);
    assert_string_equal(ig_function_kind_name(IG_FUNCTION_KIND_COUNT), "unknown");
    assert_string_equal(ig_function_kind_name((ig_function_kind)-1), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_listed_with_their_arguments),
        cmocka_unit_test(details_of_arguments_are_described),
        cmocka_unit_test(no_pipeline_is_made_of_them),
        cmocka_unit_test(their_arguments_are_checked),
        cmocka_unit_test(kinds_have_names),
    };
    return cmocka_run_group_tests_name("other-functions", tests, open_test_device, close_test_device);
}
