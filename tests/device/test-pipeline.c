// SPDX-License-Identifier: Apache-2.0
// Pipelines: function constants, specialised arguments, properties, threadgroup sizes, caching, emitted code.
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "helpers.h"

// ---- Function constants ----

static const char constants_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant bool flag [[function_constant(0)]];\n"
    "constant char c8 [[function_constant(1)]];\n"
    "constant uchar u8 [[function_constant(2)]];\n"
    "constant short c16 [[function_constant(3)]];\n"
    "constant ushort u16 [[function_constant(4)]];\n"
    "constant int c32 [[function_constant(5)]];\n"
    "constant uint u32 [[function_constant(6)]];\n"
    "constant long c64 [[function_constant(7)]];\n"
    "constant ulong u64 [[function_constant(8)]];\n"
    "constant half f16 [[function_constant(9)]];\n"
    "constant float f32 [[function_constant(10)]];\n"
    "constant float2 v2 [[function_constant(11)]];\n"
    "constant uint3 v3 [[function_constant(12)]];\n"
    "constant int4 v4 [[function_constant(13)]];\n"
    "constant bfloat bf16 [[function_constant(14)]];\n"
    "constant uint doubled = is_function_constant_defined(u32) ? u32 * 2 : 7;\n"
    "kernel void all(device long *out [[buffer(0)]]) {\n"
    "    out[0] = flag; out[1] = c8; out[2] = u8; out[3] = c16; out[4] = u16; out[5] = c32; out[6] = u32;\n"
    "    out[7] = c64; out[8] = long(u64); out[9] = long(f16 * 4.0h); out[10] = long(f32 * 4.0f);\n"
    "    out[11] = long(v2.x * 10.0f + v2.y); out[12] = v3.x * 100 + v3.y * 10 + v3.z;\n"
    "    out[13] = v4.x + v4.y * 10 + v4.z * 100 + v4.w * 1000; out[14] = long(float(bf16) * 4.0f);\n"
    "}\n"
    "kernel void derived(device uint *out [[buffer(0)]]) { out[0] = doubled; }\n"
    "kernel void branch(device uint *out [[buffer(0)]], device uint *extra [[buffer(1), function_constant(flag)]]) {\n"
    "    out[0] = 1;\n"
    "    if (flag) out[0] = extra[0] + 1;\n"
    "}\n"
    "constant bool has_flag = is_function_constant_defined(flag);\n"
    "kernel void open(device uint *out [[buffer(0)]], device uint *in [[buffer(1), function_constant(has_flag)]],\n"
    "                 threadgroup uint *t [[threadgroup(0), function_constant(has_flag)]]) {\n"
    "    if (has_flag) { t[0] = in[0]; out[0] = t[0]; } else { out[0] = 3; }\n"
    "}\n"
    "kernel void none(device uint *out [[buffer(0)]]) { out[0] = 5; }\n";

static ig_status make_with(ig_library *library, const char *kernel, const ig_function_constant *constants, size_t count,
                           ig_pipeline **pipeline) {
    ig_pipeline_desc desc = {.kernel = kernel, .constants = constants, .constant_count = count};
    ig_error error = {0};
    ig_status status = ig_pipeline_create(library, &desc, pipeline, &error);
    ig_error_clear(&error);
    return status;
}

static void run_into(ig_pipeline *pipeline, ig_buffer *buffer) {
    do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(1)});
}

static const bool flag = true;
static const int8_t c8 = -8;
static const uint8_t u8 = 200;
static const int16_t c16 = -1600;
static const uint16_t u16 = 60000, f16 = 0x4100 /* 2.5 */, bf16 = 0x4020 /* 2.5 */;
static const int32_t c32 = -320000, v4[4] = {1, 2, 3, 4};
static const uint32_t u32 = 4000000000u, v3[3] = {1, 2, 3};
static const int64_t c64 = INT64_MIN;
static const uint64_t u64 = 1ull << 62;
static const float f32 = 2.5f, v2[2] = {3, 4};

static const ig_function_constant by_name[] = {
    {.name = "flag", .type = IG_TYPE_BOOL, .value = &flag},
    {.name = "c8", .type = IG_TYPE_I8, .value = &c8},
    {.name = "u8", .type = IG_TYPE_U8, .value = &u8},
    {.name = "c16", .type = IG_TYPE_I16, .value = &c16},
    {.name = "u16", .type = IG_TYPE_U16, .value = &u16},
    {.name = "c32", .type = IG_TYPE_I32, .value = &c32},
    {.name = "u32", .type = IG_TYPE_U32, .value = &u32},
    {.name = "c64", .type = IG_TYPE_I64, .value = &c64},
    {.name = "u64", .type = IG_TYPE_U64, .value = &u64},
    {.name = "f16", .type = IG_TYPE_F16, .value = &f16},
    {.name = "f32", .type = IG_TYPE_F32, .value = &f32},
    {.name = "v2", .type = IG_TYPE_F32, .value = v2, .components = 2},
    {.name = "v3", .type = IG_TYPE_U32, .value = v3, .components = 3},
    {.name = "v4", .type = IG_TYPE_I32, .value = v4, .components = 4},
    {.name = "bf16", .type = IG_TYPE_BF16, .value = &bf16},
};

static void expect_all(const ig_function_constant *constants, size_t count) {
    static const int64_t expected[] = {1,         -8, 200, -1600, 60000, -320000, 4000000000, INT64_MIN,
                                       1ll << 62, 10, 10,  34,    123,   4321,    10};
    ig_library *library = compile(constants_source);
    ig_pipeline *pipeline = NULL;
    ig_buffer *buffer = make_buffer(8 * LENGTH(expected));
    assert_ok(make_with(library, "all", constants, count, &pipeline));
    run_into(pipeline, buffer);
    const int64_t *words = ig_buffer_contents(buffer);
    for (size_t i = 0; i < LENGTH(expected); i++)
        if (words[i] != expected[i]) fail_msg("constant %d is %lld", (int)i, (long long)words[i]);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

static void constants_of_every_type_arrive_by_name(void **state) {
    (void)state;
    expect_all(by_name, LENGTH(by_name));
}

static void constants_of_every_type_arrive_by_id(void **state) {
    (void)state;
    ig_function_constant by_id[LENGTH(by_name)];
    for (size_t i = 0; i < LENGTH(by_name); i++) {
        by_id[i] = by_name[LENGTH(by_name) - 1 - i];
        by_id[i].id = (uint32_t)(LENGTH(by_name) - 1 - i);
        by_id[i].name = NULL;
    }
    expect_all(by_id, LENGTH(by_id));
}

static void values_are_copied(void **state) {
    (void)state;
    ig_library *library = compile(constants_source);
    uint32_t value = 21;
    char name[] = "u32";
    ig_function_constant constant = {.name = name, .type = IG_TYPE_U32, .value = &value};
    ig_pipeline *pipeline = NULL;
    ig_buffer *buffer = make_buffer(64);
    assert_ok(make_with(library, "derived", &constant, 1, &pipeline));
    value = 99;
    name[0] = 'x';
    run_into(pipeline, buffer);
    assert_int_equal(*(uint32_t *)ig_buffer_contents(buffer), 42);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

static void undefined_constants_can_be_asked_for(void **state) {
    (void)state;
    ig_library *library = compile(constants_source);
    ig_pipeline *pipeline = NULL;
    ig_buffer *buffer = make_buffer(64);
    assert_ok(make_with(library, "derived", NULL, 0, &pipeline));
    run_into(pipeline, buffer);
    assert_int_equal(*(uint32_t *)ig_buffer_contents(buffer), 7);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

static void constants_that_are_not_set_are_zero_on_request(void **state) {
    (void)state;
    ig_library *library = compile(constants_source);
    ig_pipeline *pipeline = NULL, *derived = NULL;
    ig_buffer *buffer = make_buffer(8 * 15);
    assert_status(make_with(library, "all", by_name, 5, &pipeline), IG_STATUS_WRONG_CONSTANT);
    ig_pipeline_desc desc = {.kernel = "all", .constants = by_name, .constant_count = 5};
    desc.unset_constants_are_zero = true;
    assert_ok(ig_pipeline_create(library, &desc, &pipeline, NULL));
    run_into(pipeline, buffer);
    const int64_t expected[15] = {1, -8, 200, -1600, 60000};
    assert_memory_equal(ig_buffer_contents(buffer), expected, sizeof expected);
    desc.kernel = "derived";
    assert_ok(ig_pipeline_create(library, &desc, &derived, NULL));
    run_into(derived, buffer);
    assert_int_equal(*(uint32_t *)ig_buffer_contents(buffer), 7);  // still not defined
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    ig_pipeline_release(derived);
    ig_library_release(library);
}

static void unknown_constants_are_ignored(void **state) {
    (void)state;
    ig_library *library = compile(constants_source);
    const uint32_t value = 1;
    const ig_function_constant strangers[] = {{.name = "not_there", .type = IG_TYPE_U32, .value = &value},
                                              {.id = 77, .type = IG_TYPE_U32, .value = &value}};
    ig_pipeline *pipeline = NULL;
    assert_ok(make_with(library, "none", strangers, 2, &pipeline));
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

// Metal's API has no strings for such bytes.
static void names_that_are_not_utf_8_name_nothing(void **state) {
    (void)state;
    const ig_function_constant odd = {.name = "\xff", .type = IG_TYPE_U32, .value = &u32};
    char *cache = igi_format("%s/caf\xe9", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    ig_device *on = open_device(&(ig_device_desc){.cache_dir = cache});
    ig_library *library = compile_on(on, &(ig_library_desc){.source = constants_source});
    ig_pipeline_desc desc = {.kernel = "none", .constants = &odd, .constant_count = 1, .label = "caf\xe9"};
    ig_pipeline *pipeline = NULL;
    assert_ok(ig_pipeline_create(library, &desc, &pipeline, NULL));
    ig_pipeline_release(pipeline);
    desc.kernel = "\xff";
    assert_status(ig_pipeline_create(library, &desc, &pipeline, NULL), IG_STATUS_NOT_FOUND);
    ig_library_release(library);
    ig_device_release(on);
    igi_remove_tree(cache);
    free(cache);
}

static void constants_of_another_length_are_refused(void **state) {
    (void)state;
    ig_library *library =
        compile("constant int n [[function_constant(0)]]; kernel void k(device int *a) { a[0] = n; }");
    const int values[4] = {1, 2, 3, 4};
    for (uint32_t components = 0; components <= 4; components++) {
        ig_pipeline *pipeline = NULL;
        const ig_function_constant constant = {.type = IG_TYPE_I32, .value = values, .components = components};
        assert_status(make_with(library, "k", &constant, 1, &pipeline),
                      components <= 1 ? IG_STATUS_OK : IG_STATUS_WRONG_CONSTANT);
        ig_pipeline_release(pipeline);
    }
    ig_library_release(library);
}

static void private_memory_has_a_limit(void **state) {
    (void)state;
    ig_library *library = compile(
        "kernel void k(device int *a, uint i [[thread_position_in_grid]]) {\n"
        "    int own[(64 << 18) + 1];\n"
        "    for (int j = 0; j < a[0]; j++) own[a[j]] = j;\n"
        "    a[i] = own[a[i]];\n}\n");
    ig_pipeline *pipeline = NULL;
    assert_status(make_with(library, "k", NULL, 0, &pipeline), IG_STATUS_UNSUPPORTED);
    assert_null(pipeline);
    ig_error error = {0};
    ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "k"}, &pipeline, &error);
    assert_contains(error.message, "bytes of private memory per thread; at most 67108864 are supported");
    ig_error_clear(&error);
    ig_library_release(library);
}

static void every_missing_constant_a_kernel_needs_is_refused(void **state) {
    (void)state;
    ig_library *library = compile(constants_source);
    ig_pipeline *pipeline = NULL;
    for (size_t i = 0; i < LENGTH(by_name); i++) {
        ig_function_constant all_but[LENGTH(by_name)];
        memcpy(all_but, by_name, sizeof by_name);
        all_but[i] = by_name[i ? 0 : 1];
        assert_status(make_with(library, "all", all_but, LENGTH(by_name), &pipeline), IG_STATUS_WRONG_CONSTANT);
    }
    assert_null(pipeline);
    ig_library_release(library);
}

static void arguments_switched_off_are_left_out(void **state) {
    (void)state;
    ig_library *library = compile(constants_source);
    for (int on = 0; on < 2; on++) {
        const bool value = on;
        ig_function_constant constant = {.name = "flag", .type = IG_TYPE_BOOL, .value = &value};
        ig_pipeline *pipeline = NULL;
        ig_buffer *buffers[2] = {make_buffer(64), make_buffer(64)};
        *(uint32_t *)ig_buffer_contents(buffers[1]) = 10;
        assert_ok(make_with(library, "branch", &constant, 1, &pipeline));
        assert_int_equal(ig_pipeline_kernel(pipeline)->argument_count, 1 + on);
        run r = {.pipeline = pipeline, .buffers = buffers, .buffer_count = 1 + (size_t)on, .grid = line(1)};
        do_run(&r);
        assert_int_equal(*(uint32_t *)ig_buffer_contents(buffers[0]), on ? 11 : 1);
        r.buffer_count = 1;
        assert_status(try_run(&r), on ? IG_STATUS_UNBOUND_ARGUMENT : IG_STATUS_OK);
        for (int i = 0; i < 2; i++) ig_buffer_release(buffers[i]);
        ig_pipeline_release(pipeline);
    }
    ig_library_release(library);
}

static void arguments_that_are_not_used_need_not_be_set(void **state) {
    (void)state;
    ig_library *library = compile(
        "kernel void some(device uint *out [[buffer(0)]], constant float4x4 &large [[buffer(1)]],\n"
        "                 device uint *other [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
        "    uint unread = large[0][0] > 0;\n"
        "    out[i] = i + 1;\n"
        "}\n");
    ig_pipeline *pipeline = NULL;
    ig_buffer *buffers[2] = {make_buffer(64), make_buffer(4)};  // the second is too small
    assert_ok(make_with(library, "some", NULL, 0, &pipeline));
    assert_int_equal(ig_pipeline_kernel(pipeline)->arguments[0].access, IG_ACCESS_READ_WRITE);
    for (int i = 1; i < 3; i++) assert_int_equal(ig_pipeline_kernel(pipeline)->arguments[i].access, IG_ACCESS_NONE);
    for (size_t count = 1; count < 3; count++) {
        run r = {.pipeline = pipeline, .buffers = buffers, .buffer_count = count, .grid = line(4)};
        do_run(&r);
        assert_int_equal(((uint32_t *)ig_buffer_contents(buffers[0]))[3], 4);
    }
    for (int i = 0; i < 2; i++) ig_buffer_release(buffers[i]);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

static void arguments_of_derived_conditions_may_be_left_open(void **state) {
    (void)state;
    ig_library *library = compile(constants_source);
    ig_pipeline *pipeline = NULL;
    ig_buffer *buffers[2] = {make_buffer(64), make_buffer(64)};
    assert_ok(make_with(library, "open", NULL, 0, &pipeline));
    run_into(pipeline, buffers[0]);
    assert_int_equal(*(uint32_t *)ig_buffer_contents(buffers[0]), 3);
    ig_pipeline_release(pipeline);
    *(uint32_t *)ig_buffer_contents(buffers[1]) = 10;
    assert_ok(make_with(library, "open", by_name, 1, &pipeline));
    do_run(
        &(run){.pipeline = pipeline, .buffers = buffers, .buffer_count = 2, .grid = line(1), .threadgroup_bytes = 64});
    assert_int_equal(*(uint32_t *)ig_buffer_contents(buffers[0]), 10);
    for (int i = 0; i < 2; i++) ig_buffer_release(buffers[i]);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

// ---- Properties ----

static const char shapes_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void plain(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = i; }\n"
    "[[max_total_threads_per_threadgroup(48)]]\n"
    "kernel void limited(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = i; }\n"
    "[[max_total_threads_per_threadgroup(20)]]\n"
    "kernel void tiny(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = i; }\n"
    "kernel void local(device uint *a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
    "    threadgroup uint x[100];\n"
    "    threadgroup ulong y[10];\n"
    "    x[i] = a[i];\n"
    "    y[i % 10] = i;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    a[i] = x[99 - i] + uint(y[0]);\n"
    "}\n";

static void properties_are_reported(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        uint32_t threads, memory;
    } expected[] = {{"plain", 1024, 0}, {"limited", 48, 0}, {"tiny", 20, 0}, {"local", 1024, 480}};
    for (size_t i = 0; i < LENGTH(expected); i++) {
        ig_pipeline *pipeline = make_pipeline(shapes_source, expected[i].kernel);
        ig_pipeline_properties p;
        ig_pipeline_get_properties(pipeline, &p);
        assert_int_equal(p.max_threads_per_threadgroup, expected[i].threads);
        assert_int_equal(p.execution_width, 32);
        assert_true(p.static_threadgroup_memory >= expected[i].memory);
        assert_true(p.static_threadgroup_memory <= expected[i].memory + 128);
        if (on_software_device()) assert_true(p.simt_width >= 1 && p.simt_width <= 32);
        assert_string_equal(ig_pipeline_kernel(pipeline)->name, expected[i].kernel);
        ig_pipeline_release(pipeline);
    }
}

static void a_stated_limit_binds_dispatches(void **state) {
    (void)state;
    ig_pipeline *pipeline = make_pipeline(shapes_source, "limited");
    ig_buffer *buffer = make_buffer(4000);
    run r = {.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(1000), .group = line(49)};
    assert_status(try_run(&r), IG_STATUS_THREADGROUP_TOO_LARGE);
    r.group = line(48);
    do_run(&r);
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(((uint32_t *)ig_buffer_contents(buffer))[i], i);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

// ---- Threadgroup sizes ----

static bool is_power_of_two(uint64_t value) {
    return value && !(value & (value - 1));
}

static void check_size(const ig_pipeline *pipeline, ig_size grid) {
    ig_pipeline_properties p;
    ig_pipeline_get_properties(pipeline, &p);
    ig_size size = ig_pipeline_threadgroup_size(pipeline, grid);
    bool good = is_power_of_two(size.x) && is_power_of_two(size.y) && is_power_of_two(size.z) &&
                size.x * size.y * size.z <= p.max_threads_per_threadgroup;
    // No side is so long that half of it would be enough.
    good = good && (size.x == 1 || size.x / 2 < grid.x) && (size.y == 1 || size.y / 2 < grid.y) &&
           (size.z == 1 || size.z / 2 < grid.z);
    if (!good)
        fail_msg("grid %llu %llu %llu: group %llu %llu %llu", (unsigned long long)grid.x, (unsigned long long)grid.y,
                 (unsigned long long)grid.z, (unsigned long long)size.x, (unsigned long long)size.y,
                 (unsigned long long)size.z);
}

static void chosen_sizes_are_powers_of_two_within_the_limits(void **state) {
    (void)state;
    static const char *const kernels[] = {"plain", "limited", "tiny", "local"};
    random_state random = {11};
    for (size_t k = 0; k < LENGTH(kernels); k++) {
        ig_pipeline *pipeline = make_pipeline(shapes_source, kernels[k]);
        for (int i = 0; i < 2000; i++) {
            ig_size grid = {random_u64(&random) >> (32 + random_below(&random, 32)),
                            random_below(&random, 3) ? 1 : random_u64(&random) >> (32 + random_below(&random, 32)),
                            random_below(&random, 3) ? 1 : random_u64(&random) >> (32 + random_below(&random, 32))};
            check_size(pipeline, grid);
        }
        check_size(pipeline, (ig_size){0, 0, 0});
        check_size(pipeline, (ig_size){UINT32_MAX, UINT32_MAX, UINT32_MAX});
        ig_pipeline_release(pipeline);
    }
}

static void chosen_sizes_fill_simdgroups(void **state) {
    (void)state;
    ig_pipeline *pipeline = make_pipeline(shapes_source, "plain");
    ig_size size = ig_pipeline_threadgroup_size(pipeline, line(1 << 20));
    assert_true(size.x >= 32 && size.y == 1 && size.z == 1);
    size = ig_pipeline_threadgroup_size(pipeline, (ig_size){1000, 1000, 1});
    assert_true(size.x >= 32 && size.y >= 2 && size.z == 1);
    size = ig_pipeline_threadgroup_size(pipeline, (ig_size){8, 1000, 100});
    assert_true(size.x == 8 && size.x * size.y * size.z >= 32);
    size = ig_pipeline_threadgroup_size(pipeline, (ig_size){4, 4, 1000});
    assert_true(size.x == 4 && size.y == 4 && size.z >= 2);
    ig_pipeline_release(pipeline);
}

// ---- Caching ----

static void pipelines_are_made_once(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    char *directory = make_temp_dir();
    ig_device_stats stats;
    ig_device *made = open_device(&(ig_device_desc){.cache_dir = directory});
    ig_pipeline *first = make_pipeline_on(made, shapes_source, "plain");
    ig_pipeline *second = make_pipeline_on(made, shapes_source, "plain");
    ig_device_get_stats(made, &stats);
    assert_int_equal(stats.compilations, 1);
    assert_int_equal(stats.disk_hits, 0);
    assert_int_equal(stats.memory_hits, 2);  // the library and the pipeline
    ig_pipeline_release(first);
    ig_pipeline *other = make_pipeline_on(made, shapes_source, "local");
    ig_device_get_stats(made, &stats);
    assert_int_equal(stats.compilations, 1);
    assert_int_equal(stats.memory_hits, 3);  // the library alone
    ig_pipeline_release(second), ig_pipeline_release(other);
    ig_device_release(made);
    made = open_device(&(ig_device_desc){.cache_dir = directory});
    first = make_pipeline_on(made, shapes_source, "plain");
    ig_device_get_stats(made, &stats);
    assert_int_equal(stats.compilations, 0);
    assert_int_equal(stats.disk_hits, 2);
    ig_pipeline_release(first);
    ig_device_release(made);
    remove_temp_dir(directory);
}

static void pipelines_of_different_constants_do_not_mix(void **state) {
    (void)state;
    enum { COUNT = 20 };
    ig_library *library = compile(constants_source);
    ig_pipeline *pipelines[COUNT] = {0};
    ig_buffer *buffer = make_buffer(64);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            ig_function_constant constant = {.name = "u32", .type = IG_TYPE_U32, .value = &i};
            assert_ok(make_with(library, "derived", &constant, 1, &pipelines[i]));
        }
        for (uint32_t i = 0; i < COUNT; i++) {
            run_into(pipelines[i], buffer);
            assert_int_equal(*(uint32_t *)ig_buffer_contents(buffer), i * 2);
        }
        for (uint32_t i = 0; i < COUNT; i++) ig_pipeline_release(pipelines[i]);
    }
    ig_buffer_release(buffer);
    ig_library_release(library);
}

static void kernels_of_the_same_name_in_two_libraries_do_not_mix(void **state) {
    (void)state;
    static const char *const sources[] = {"kernel void k(device uint *a [[buffer(0)]]) { a[0] = 1; }\n",
                                          "kernel void k(device uint *a [[buffer(0)]]) { a[0] = 2; }\n"};
    ig_pipeline *pipelines[2];
    ig_buffer *buffer = make_buffer(64);
    for (int i = 0; i < 2; i++) pipelines[i] = make_pipeline(sources[i], "k");
    for (uint32_t i = 0; i < 2; i++) {
        run_into(pipelines[i], buffer);
        assert_int_equal(*(uint32_t *)ig_buffer_contents(buffer), i + 1);
    }
    for (int i = 0; i < 2; i++) ig_pipeline_release(pipelines[i]);
    ig_buffer_release(buffer);
}

static void a_thousand_pipelines_can_come_and_go(void **state) {
    (void)state;
    ig_library *library = compile(shapes_source);
    ig_buffer *buffer = make_buffer(64);
    for (int i = 0; i < 1000; i++) {
        ig_pipeline *pipeline = pipeline_of(library, "plain");
        if (i % 100 == 0) run_into(pipeline, buffer);
        ig_pipeline_release(pipeline);
    }
    ig_buffer_release(buffer);
    ig_library_release(library);
}

// ---- Emitted code ----

static void code_can_be_read_at_every_stage(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const struct {
        const char *stage, *part;
    } stages[] = {{"llvm", "define"}, {"simt", "ig.info"}, {"asm", ".text"}};
    ig_pipeline *pipeline = make_pipeline(shapes_source, "local");
    for (size_t i = 0; i < LENGTH(stages); i++) {
        char *text = NULL;
        assert_ok(ig_pipeline_emit(pipeline, stages[i].stage, &text));
        assert_contains(text, stages[i].part);
        free(text);
    }
    char *text = (char *)1;
    assert_status(ig_pipeline_emit(pipeline, "spirv", &text), IG_STATUS_INVALID_ARGUMENT);
    assert_ptr_equal(text, (char *)1);
    ig_pipeline_release(pipeline);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_of_every_type_arrive_by_name),
        cmocka_unit_test(constants_of_every_type_arrive_by_id),
        cmocka_unit_test(values_are_copied),
        cmocka_unit_test(undefined_constants_can_be_asked_for),
        cmocka_unit_test(constants_that_are_not_set_are_zero_on_request),
        cmocka_unit_test(unknown_constants_are_ignored),
        cmocka_unit_test(names_that_are_not_utf_8_name_nothing),
        cmocka_unit_test(constants_of_another_length_are_refused),
        cmocka_unit_test(every_missing_constant_a_kernel_needs_is_refused),
        cmocka_unit_test(arguments_switched_off_are_left_out),
        cmocka_unit_test(private_memory_has_a_limit),
        cmocka_unit_test(arguments_of_derived_conditions_may_be_left_open),
        cmocka_unit_test(properties_are_reported),
        cmocka_unit_test(a_stated_limit_binds_dispatches),
        cmocka_unit_test(chosen_sizes_are_powers_of_two_within_the_limits),
        cmocka_unit_test(chosen_sizes_fill_simdgroups),
        cmocka_unit_test(pipelines_are_made_once),
        cmocka_unit_test(pipelines_of_different_constants_do_not_mix),
        cmocka_unit_test(kernels_of_the_same_name_in_two_libraries_do_not_mix),
        cmocka_unit_test(arguments_that_are_not_used_need_not_be_set),
        cmocka_unit_test(a_thousand_pipelines_can_come_and_go),
        cmocka_unit_test(code_can_be_read_at_every_stage),
    };
    return cmocka_run_group_tests_name("pipeline", tests, open_test_device, close_test_device);
}
