// SPDX-License-Identifier: Apache-2.0
// Kernels of a .metallib give the bits of the same kernels compiled from source. kernels/ has AIR as text, shaped like
// what Apple's compiler writes.
#include "helpers.h"
//
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "core/memory.h"
#include "writer.h"

enum { KERNEL = 2 };

// ---- Making libraries ----

static igi_text make_metallib(const char *const *names, size_t count) {
    igi_text file = {0};
    assert_true(assemble_metallib(getenv("AIR_KERNELS"), names, count, &file));
    return file;
}

static ig_library *open_metallib(const char *const *names, size_t count) {
    igi_text file = make_metallib(names, count);
    ig_library *library = compile_on(device, &(ig_library_desc){.data = file.data, .data_length = file.length});
    igi_text_free(&file);
    return library;
}

static ig_library *open_one(const char *name) {
    return open_metallib(&name, 1);
}

static ig_library *compile_safely(const char *source) {
    return compile_on(device, &(ig_library_desc){.source = source, .math_mode = IG_MATH_SAFE});
}

// ---- Running both ----

enum { MOST_BUFFERS = 3 };

typedef struct example {
    const char *source;
    size_t bytes[MOST_BUFFERS], count;
    ig_size grid, group;
    uint64_t threadgroup_bytes;
    void (*fill)(ig_buffer **buffers);
} example;

static void run_example(ig_library *library, const char *name, const example *e, ig_buffer **buffers) {
    ig_pipeline *pipeline = pipeline_of(library, name);
    for (size_t i = 0; i < e->count; i++) {
        buffers[i] = make_buffer(e->bytes[i]);
        memset(ig_buffer_contents(buffers[i]), 0, e->bytes[i]);
    }
    e->fill(buffers);
    do_run(&(run){.pipeline = pipeline,
                  .buffers = buffers,
                  .buffer_count = e->count,
                  .grid = e->grid,
                  .group = e->group,
                  .threadgroup_bytes = e->threadgroup_bytes});
    ig_pipeline_release(pipeline);
}

static void compare(const char *name, const example *e) {
    ig_library *theirs = open_one(name), *ours = compile_safely(e->source);
    ig_buffer *a[MOST_BUFFERS], *b[MOST_BUFFERS];
    run_example(theirs, name, e, a);
    run_example(ours, name, e, b);
    for (size_t i = 0; i < e->count; i++) {
        assert_memory_equal(ig_buffer_contents(a[i]), ig_buffer_contents(b[i]), e->bytes[i]);
        ig_buffer_release(a[i]), ig_buffer_release(b[i]);
    }
    ig_library_release(theirs), ig_library_release(ours);
}

static void fill_floats(ig_buffer *buffer, float from, float step) {
    float *values = ig_buffer_contents(buffer);
    for (size_t i = 0; i < ig_buffer_length(buffer) / sizeof *values; i++) values[i] = from + step * (float)i;
}

// ---- Tests ----

static void fill_arithmetic(ig_buffer **buffers) {
    fill_floats(buffers[0], -20.0f, 0.37f);
    fill_floats(buffers[2], 1.7f, 0);
}

static void arithmetic_is_the_same(void **state) {
    (void)state;
    static const char source[] =
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void arithmetic(device const float4 *in, device float4 *out, constant float &scale, uint id "
        "[[thread_position_in_grid]]) {\n"
        "    float4 x = in[id];\n"
        "    int i0 = int(x.x);\n"
        "    float d = dot(fmax(fabs(x), x), x);\n"
        "    uint flags = (x.z != 0) | (all(x > 0) ? 2 : 0) | (any(x > 0) ? 4 : 0);\n"
        "    int n = clamp(i0, -3, 3) + popcount(i0) + int(ushort(x.x)) + int(clz(id)) * 100 + int(flags) * 10000;\n"
        "    out[id] = float4(fma(d, scale, precise::sin(x.x)), fast::exp(x.y) + float(sqrt(half(x.z))),\n"
        "                     float(n) + float(bfloat(i0)), d);\n"
        "}\n";
    compare("arithmetic", &(example){.source = source,
                                     .bytes = {64 * 16, 64 * 16, 4},
                                     .count = 3,
                                     .grid = line(64),
                                     .group = line(32),
                                     .fill = fill_arithmetic});
}

static void fill_positions(ig_buffer **buffers) {
    fill_floats(buffers[0], -7.3f, 0.11f);
}

static void second_results_of_vectors_are_written(void **state) {
    (void)state;
    static const char source[] =
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void pointers(device const float4 *in, device float4 *out, uint id [[thread_position_in_grid]]) {\n"
        "    float4 x = in[id], c; int4 e; half4 w;\n"
        "    out[id * 6] = precise::sincos(x, c); out[id * 6 + 1] = c;\n"
        "    out[id * 6 + 2] = frexp(x, e); out[id * 6 + 3] = float4(e);\n"
        "    out[id * 6 + 5] = float4(modf(half4(x), w)); out[id * 6 + 4] = float4(w);\n"
        "}\n";
    compare("pointers", &(example){.source = source,
                                   .bytes = {32 * 16, 32 * 96},
                                   .count = 2,
                                   .grid = line(32),
                                   .group = line(32),
                                   .fill = fill_positions});
}

static void fill_quarters(ig_buffer **buffers) {
    fill_floats(buffers[0], -15.5f, 0.25f);
}

static void calls_may_be_recursive(void **state) {
    (void)state;
    static const char source[] =
        "#include <metal_stdlib>\n"
        "float above1(float x) { return x + 1; }\n"
        "float below1(float x) { return x < 0 ? 1 - above1(-x) * 0.5f : x * 3; }\n"
        "float above(float x) { return x > 10 ? below1(x - 20) * 2 : x + 1; }\n"
        "float below(float x) { return x < 0 ? 1 - above(-x) * 0.5f : x * 3; }\n"
        "kernel void recursion(device float *data, uint id [[thread_position_in_grid]]) {\n"
        "    data[id] = below(data[id]) + float(((((7 ^ 1) * 3) ^ 2) * 3 ^ 3) * 3);\n"
        "}\n";
    compare("recursion", &(example){.source = source,
                                    .bytes = {64 * 4},
                                    .count = 1,
                                    .grid = line(64),
                                    .group = line(32),
                                    .fill = fill_quarters});
}

static void recursion_that_is_too_deep_is_a_fault(void **state) {
    (void)state;
    ig_library *library = open_one("recursion");
    ig_pipeline *pipeline = pipeline_of(library, "recursion");
    ig_buffer *buffer = make_buffer(4);
    *(float *)ig_buffer_contents(buffer) = 101;
    use_fault_handlers();
    ig_status status =
        try_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(1), .group = line(1)});
    assert_int_equal(status, IG_STATUS_KERNEL_FAULT);
    ig_buffer_release(buffer), ig_pipeline_release(pipeline), ig_library_release(library);
}

static void fill_words(ig_buffer **buffers) {
    uint32_t *words = ig_buffer_contents(buffers[0]);
    for (uint32_t i = 0; i < 256; i++) words[i] = i * i + 7;
}

static void threadgroup_memory_is_shared(void **state) {
    (void)state;
    static const char source[] =
        "#include <metal_stdlib>\n"
        "[[host_name(\"threadgroup\")]] kernel void k(device uint *data, threadgroup uint *extra [[threadgroup(0)]],\n"
        "    uint local [[thread_position_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {\n"
        "    threadgroup uint shared[64];\n"
        "    uint x = data[group * 64 + local];\n"
        "    shared[local] = x; extra[local] = x;\n"
        "    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);\n"
        "    data[group * 64 + local] = shared[local < 32 ? 63 - local : local - 32] + extra[local ^ 1];\n"
        "}\n";
    compare("threadgroup", &(example){.source = source,
                                      .bytes = {1024},
                                      .count = 1,
                                      .grid = line(256),
                                      .group = line(64),
                                      .threadgroup_bytes = 256,
                                      .fill = fill_words});
}

static void fill_lanes(ig_buffer **buffers) {
    fill_floats(buffers[0], 1, 1.25f);
}

static void lanes_work_together(void **state) {
    (void)state;
    static const char source[] =
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void lanes(device const float *in, device float2 *out, uint id [[thread_position_in_grid]],\n"
        "                  uint lane [[thread_index_in_simdgroup]]) {\n"
        "    float x = in[id]; uint n = uint(x);\n"
        "    uint m = simd_prefix_exclusive_sum(n) + uint(ulong(simd_ballot(n & 1))) + simd_shuffle_xor(lane, 3) * "
        "32;\n"
        "    out[id] = float2(simd_sum(x) + simd_shuffle_down(x, 1) + quad_sum(x), as_type<float>(m));\n"
        "}\n";
    // The last lane of each simdgroup shuffles from nowhere, and gets what it had.
    compare("lanes", &(example){.source = source,
                                .bytes = {64 * 4, 64 * 8},
                                .count = 2,
                                .grid = line(64),
                                .group = line(64),
                                .fill = fill_lanes});
}

static void fill_matrices(ig_buffer **buffers) {
    fill_floats(buffers[0], -3, 0.13f);
    fill_floats(buffers[1], 2, -0.07f);
}

// The second factor is loaded with strides (8, 1): transposed.
static void matrices_are_spread_over_threads(void **state) {
    (void)state;
    static const char source[] =
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void matrices(device const float *a, device const float *b, device float *out) {\n"
        "    simdgroup_float8x8 x, y, z = make_filled_simdgroup_matrix<float, 8>(0.5f);\n"
        "    simdgroup_load(x, a, 8); simdgroup_load(y, b, 8, 0, true);\n"
        "    for (int i = 0; i < 3; i++) simdgroup_multiply_accumulate(z, x, y, z);\n"
        "    z.thread_elements() += z.thread_elements();\n"
        "    simdgroup_store(z, out, 8);\n"
        "}\n";
    compare("matrices", &(example){.source = source,
                                   .bytes = {256, 256, 256},
                                   .count = 3,
                                   .grid = line(32),
                                   .group = line(32),
                                   .fill = fill_matrices});
}

static void atomics_and_argument_buffers_work(void **state) {
    (void)state;
    ig_library *library = open_one("atomics");
    ig_pipeline *pipeline = pipeline_of(library, "atomics");
    ig_buffer *out = make_buffer(8), *buffers[] = {make_buffer(16), make_buffer(4)};
    struct {
        uint64_t address;
        uint32_t weight, unused;
    } table = {ig_buffer_device_address(out), 3, 0};
    memcpy(ig_buffer_contents(buffers[0]), &table, sizeof table);
    memset(ig_buffer_contents(buffers[1]), 0, 4);
    memset(ig_buffer_contents(out), 0, 8);
    do_run(&(run){.pipeline = pipeline, .buffers = buffers, .buffer_count = 2, .grid = line(48), .group = line(48)});
    const uint32_t *words = ig_buffer_contents(out);
    assert_int_equal(words[0], 3 * 48);
    assert_int_equal(words[1], 47);
    assert_true(*(const float *)ig_buffer_contents(buffers[1]) == 24.0f);
    ig_buffer_release(out), ig_buffer_release(buffers[0]), ig_buffer_release(buffers[1]);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

static int32_t run_constants(ig_library *library, int32_t count, bool extra, bool by_name) {
    const uint8_t flag = extra;
    const ig_function_constant values[] = {
        {.name = by_name ? "count" : NULL, .id = 3, .type = IG_TYPE_I32, .value = &count},
        {.name = by_name ? "extra" : NULL, .id = 7, .type = IG_TYPE_BOOL, .value = &flag}};
    ig_pipeline *pipeline = NULL;
    assert_ok(ig_pipeline_create(library,
                                 &(ig_pipeline_desc){.kernel = "constants", .constants = values, .constant_count = 2},
                                 &pipeline, NULL));
    assert_int_equal(ig_pipeline_kernel(pipeline)->argument_count, extra ? 3 : 2);
    ig_buffer *buffers[] = {make_buffer(4), make_buffer(4)};
    *(int32_t *)ig_buffer_contents(buffers[1]) = 5;
    do_run(&(run){
        .pipeline = pipeline, .buffers = buffers, .buffer_count = extra ? 2 : 1, .grid = line(1), .group = line(1)});
    int32_t result = *(int32_t *)ig_buffer_contents(buffers[0]);
    ig_buffer_release(buffers[0]), ig_buffer_release(buffers[1]);
    ig_pipeline_release(pipeline);
    return result;
}

static void function_constants_have_values(void **state) {
    (void)state;
    ig_library *library = open_one("constants");
    assert_int_equal(ig_library_function_constant_count(library), 2);
    assert_string_equal(ig_library_function_constant(library, 1)->name, "extra");
    assert_int_equal(run_constants(library, 21, false, false), 1042);
    assert_int_equal(run_constants(library, 21, true, false), 47);
    assert_int_equal(run_constants(library, -4, true, true), -3);
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_status(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "constants"}, &pipeline, &error),
                  IG_STATUS_WRONG_CONSTANT);
    assert_contains(error.message, "'count'");
    ig_error_clear(&error);
    ig_library_release(library);
}

static int32_t run_conditions(ig_library *library, bool has_mask) {
    const uint8_t flag = has_mask;
    const ig_function_constant value = {.id = 20, .type = IG_TYPE_BOOL, .value = &flag};
    ig_pipeline *pipeline = NULL;
    assert_ok(ig_pipeline_create(library,
                                 &(ig_pipeline_desc){.kernel = "conditions", .constants = &value, .constant_count = 1},
                                 &pipeline, NULL));
    assert_int_equal(ig_pipeline_kernel(pipeline)->argument_count, has_mask ? 3 : 2);
    ig_buffer *buffers[] = {make_buffer(4), make_buffer(4)};
    *(int32_t *)ig_buffer_contents(buffers[1]) = 41;
    do_run(&(run){
        .pipeline = pipeline, .buffers = buffers, .buffer_count = has_mask ? 2 : 1, .grid = line(1), .group = line(1)});
    int32_t result = *(int32_t *)ig_buffer_contents(buffers[0]);
    ig_buffer_release(buffers[0]), ig_buffer_release(buffers[1]);
    ig_pipeline_release(pipeline);
    return result;
}

static void a_reference_whose_condition_is_false_reads_zeros(void **state) {
    (void)state;
    ig_library *library = open_one("conditions");
    assert_int_equal(ig_library_function_constant_count(library), 1);
    assert_int_equal(run_conditions(library, true), 42);
    assert_int_equal(run_conditions(library, false), 1);
    ig_library_release(library);
}

static void arguments_are_described(void **state) {
    (void)state;
    ig_library *library = open_one("arithmetic");
    const ig_kernel_info *kernel = ig_library_kernel(library, 0);
    assert_string_equal(kernel->name, "arithmetic");
    assert_int_equal(kernel->max_total_threads, 128);
    assert_int_equal(kernel->argument_count, 4);
    const ig_argument *a = kernel->arguments;
    assert_string_equal(a[0].name, "in");
    assert_string_equal(a[0].type, "const float4*");
    assert_int_equal(a[0].access, IG_ACCESS_READ);
    assert_string_equal(a[1].type, "float4*");
    assert_int_equal(a[1].access, IG_ACCESS_READ_WRITE);
    assert_string_equal(a[2].type, "const float&");
    assert_string_equal(a[2].address_space, "constant");
    assert_int_equal(a[2].min_bytes, 4);
    assert_int_equal(a[3].kind, IG_ARGUMENT_BUILTIN);
    assert_string_equal(a[3].attribute, "thread_position_in_grid");
    ig_library_release(library);
    library = open_one("threadgroup");
    assert_int_equal(ig_library_kernel(library, 0)->static_threadgroup_memory, 256);
    ig_library_release(library);
}

static void members_of_structures_are_listed(void **state) {
    (void)state;
    ig_library *library = open_one("structures");
    const ig_kernel_info *kernel = ig_library_find_kernel(library, "structures");
    assert_int_equal(kernel->argument_count, 2);
    assert_null(kernel->arguments[0].layout);
    static const struct {
        const char *name, *type;
        uint32_t depth, offset, size, components, count;
        ig_layout_kind kind;
        ig_type scalar;
    } expected[] = {{"", "shape", 0, 0, 64, 0, 0, IG_LAYOUT_STRUCT, 0},
                    {"rows", "int", 1, 0, 4, 1, 0, IG_LAYOUT_SCALAR, IG_TYPE_I32},
                    {"steps", "long", 1, 8, 16, 0, 2, IG_LAYOUT_ARRAY, 0},
                    {"", "long", 2, 0, 8, 1, 0, IG_LAYOUT_SCALAR, IG_TYPE_I64},
                    {"colour", "float4", 1, 32, 16, 4, 0, IG_LAYOUT_SCALAR, IG_TYPE_F32},
                    {"limits", "limits", 1, 48, 8, 0, 0, IG_LAYOUT_STRUCT, 0},
                    {"low", "half2", 2, 0, 4, 2, 0, IG_LAYOUT_SCALAR, IG_TYPE_F16},
                    {"high", "uint", 2, 4, 4, 1, 0, IG_LAYOUT_SCALAR, IG_TYPE_U32},
                    {"flipped", "bool", 1, 56, 1, 1, 0, IG_LAYOUT_SCALAR, IG_TYPE_BOOL}};
    const ig_argument *argument = &kernel->arguments[1];
    assert_int_equal(argument->layout_count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < argument->layout_count; i++) {
        const ig_layout *part = &argument->layout[i];
        assert_string_equal(part->name, expected[i].name);
        assert_string_equal(part->type, expected[i].type);
        assert_int_equal(part->depth, expected[i].depth);
        assert_int_equal(part->kind, expected[i].kind);
        assert_int_equal(part->offset, expected[i].offset);
        assert_int_equal(part->size, expected[i].size);
        assert_int_equal(part->scalar, expected[i].scalar);
        assert_int_equal(part->components, expected[i].components);
        assert_int_equal(part->count, expected[i].count);
    }
    ig_library_release(library);
}

// The smallest normal number, halved by the library's kernel; releases the library.
static float halve_smallest(ig_library *library) {
    ig_pipeline *pipeline = pipeline_of(library, "denormals");
    ig_buffer *buffer = make_buffer(4);
    *(float *)ig_buffer_contents(buffer) = 0x1p-126f;
    do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(1), .group = line(1)});
    float half = *(float *)ig_buffer_contents(buffer);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
    return half;
}

static void fast_math_joins_and_assumes_nothing(void **state) {
    (void)state;
    ig_library *library = open_one("fast");
    ig_pipeline *pipeline = pipeline_of(library, "fast");
    const float in[] = {1 + 0x1p-12f, 1 + 0x1p-11f, 0x1p30f, NAN, 1 + 0x1p-12f},
                expected[] = {0x1p-24f, 0, 0x1p-24f, 0, 1};
    ig_buffer *buffers[] = {make_buffer(sizeof in), make_buffer(sizeof expected)};
    memcpy(ig_buffer_contents(buffers[0]), in, sizeof in);
    do_run(&(run){.pipeline = pipeline, .buffers = buffers, .buffer_count = 2, .grid = line(1), .group = line(1)});
    const float *out = ig_buffer_contents(buffers[1]);
    for (size_t i = 0; i < 5; i++) assert_true(out[i] == expected[i]);
    ig_buffer_release(buffers[0]), ig_buffer_release(buffers[1]);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

static void denormals_are_as_the_module_asks(void **state) {
    (void)state;
    assert_true(halve_smallest(open_one("denormals")) == 0.0f);
}

static void a_source_can_ask_for_denormals_to_be_flushed(void **state) {
    (void)state;
    ig_library_desc desc = {.source = "kernel void denormals(device float *data) { *data *= 0.5f; }",
                            .math_mode = IG_MATH_SAFE};
    assert_true(halve_smallest(compile_on(device, &desc)) == 0x1p-127f);
    desc.flush_denormals = true;
    assert_true(halve_smallest(compile_on(device, &desc)) == 0.0f);
    desc.flush_denormals = false;
    assert_true(halve_smallest(compile_on(device, &desc)) == 0x1p-127f);
}

// Apple's compiler asks for flushed denormals in safe math too, where the precise functions run.
static void logarithms_of_zero_are_infinite_where_denormals_are_flushed(void **state) {
    (void)state;
    ig_library_desc desc = {.source =
                                "#include <metal_stdlib>\n"
                                "kernel void logarithms(device float *x) {"
                                "    x[1] = metal::precise::log(x[0]); x[2] = metal::precise::log2(x[0]);"
                                "    x[3] = metal::precise::log10(x[0]); x[4] = metal::fast::log(x[0]); }",
                            .math_mode = IG_MATH_SAFE,
                            .flush_denormals = true};
    ig_library *library = compile_on(device, &desc);
    ig_pipeline *pipeline = pipeline_of(library, "logarithms");
    ig_buffer *buffer = make_buffer(5 * sizeof(float));
    float *x = ig_buffer_contents(buffer);
    const float zeros[] = {0.0f, -0.0f, 0x1p-149f, 0x1.8p-127f};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        x[0] = zeros[i];
        do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(1), .group = line(1)});
        for (int k = 1; k < 5; k++) assert_true(x[k] == -INFINITY);
    }
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

static void what_is_not_known_is_named_and_the_rest_runs(void **state) {
    (void)state;
    const char *const names[] = {"unknown", "denormals"};
    ig_library *library = open_metallib(names, 2);
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_int_equal(ig_library_kernel_count(library), 2);
    assert_status(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "unknown"}, &pipeline, &error),
                  IG_STATUS_UNSUPPORTED);
    assert_contains(error.message, "kernel 'unknown' uses air.predict_weather.f32");
    assert_int_equal(ig_library_find_kernel(library, "unknown")->argument_count, 0);
    assert_int_equal(ig_library_find_kernel(library, "denormals")->argument_count, 1);
    ig_error_clear(&error);
    ig_library_release(library);
}

static void check_refused(const char *name, const char *reason) {
    ig_library *library = open_one(name);
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_status(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = name}, &pipeline, &error),
                  IG_STATUS_UNSUPPORTED);
    assert_contains(error.message, reason);
    ig_error_clear(&error);
    ig_library_release(library);
}

// Where a function gives something else than it does in Metal.
static void results_of_another_type_are_refused(void **state) {
    (void)state;
    check_refused("misused", "kernel 'misused' uses air.get_read_sampler");
}

// Its name is shorter than the start of AIR's.
static void arguments_of_another_kind_are_refused(void **state) {
    (void)state;
    check_refused("foreign", "kernel 'foreign' uses an argument of kind x");
}

static void bitcode_that_is_damaged_is_refused(void **state) {
    (void)state;
    igi_text file = {0};
    const written_function functions[] = {{.name = "a", .kind = KERNEL, .bitcode = "BC\xc0\xde", .bitcode_length = 4},
                                          {.name = "b", .kind = KERNEL, .bitcode = "", .bitcode_length = 0}};
    write_metallib(functions, 2, &file);
    ig_library *library = compile_on(device, &(ig_library_desc){.data = file.data, .data_length = file.length});
    for (int i = 0; i < 2; i++) {
        ig_pipeline *pipeline = NULL;
        ig_error error = {0};
        assert_status(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = functions[i].name}, &pipeline, &error),
                      IG_STATUS_BAD_FORMAT);
        assert_contains(error.message, "cannot be read");
        ig_error_clear(&error);
    }
    ig_library_release(library);
    igi_text_free(&file);
}

static void files_are_recognised_by_what_is_in_them(void **state) {
    (void)state;
    const char *name = "denormals";
    igi_text file = make_metallib(&name, 1);
    char path[600];
    snprintf(path, sizeof path, "%s/library.bin", cache_dir);
    FILE *out = fopen(path, "wb");
    assert_int_equal(fwrite(file.data, 1, file.length, out), file.length);
    fclose(out);
    ig_library *library = compile_on(device, &(ig_library_desc){.path = path});
    assert_int_equal(ig_library_find_kernel(library, name)->argument_count, 1);
    ig_library_release(library);
    ig_error error = {0};
    assert_status(ig_library_create(device, &(ig_library_desc){.data = "MTLB", .data_length = 4}, &library, &error),
                  IG_STATUS_BAD_FORMAT);
    ig_error_clear(&error);
    assert_status(ig_library_create(device, &(ig_library_desc){.data = "x", .source = "x"}, &library, &error),
                  IG_STATUS_INVALID_ARGUMENT);
    ig_error_clear(&error);
    igi_text_free(&file);
}

// The second device translates nothing: what it needs is on disk, keyed by content.
static void translations_are_kept_on_disk(void **state) {
    (void)state;
    const char *name = "denormals";
    igi_text file = make_metallib(&name, 1);
    const ig_library_desc desc = {.data = file.data, .data_length = file.length};
    ig_library *library = compile_on(device, &desc);
    assert_int_equal(ig_library_kernel(library, 0)->argument_count, 1);
    ig_library_release(library);
    ig_device *second = open_device(&(ig_device_desc){0});
    ig_device_stats before, after;
    ig_device_get_stats(second, &before);
    library = compile_on(second, &desc);
    assert_int_equal(ig_library_kernel(library, 0)->argument_count, 1);
    ig_device_get_stats(second, &after);
    assert_int_equal(after.disk_hits, before.disk_hits + 1);
    ig_library_release(library);
    ig_device_release(second);
    igi_text_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_is_the_same),
        cmocka_unit_test(second_results_of_vectors_are_written),
        cmocka_unit_test(calls_may_be_recursive),
        cmocka_unit_test(recursion_that_is_too_deep_is_a_fault),
        cmocka_unit_test(threadgroup_memory_is_shared),
        cmocka_unit_test(lanes_work_together),
        cmocka_unit_test(matrices_are_spread_over_threads),
        cmocka_unit_test(atomics_and_argument_buffers_work),
        cmocka_unit_test(function_constants_have_values),
        cmocka_unit_test(a_reference_whose_condition_is_false_reads_zeros),
        cmocka_unit_test(arguments_are_described),
        cmocka_unit_test(members_of_structures_are_listed),
        cmocka_unit_test(fast_math_joins_and_assumes_nothing),
        cmocka_unit_test(denormals_are_as_the_module_asks),
        cmocka_unit_test(a_source_can_ask_for_denormals_to_be_flushed),
        cmocka_unit_test(logarithms_of_zero_are_infinite_where_denormals_are_flushed),
        cmocka_unit_test(what_is_not_known_is_named_and_the_rest_runs),
        cmocka_unit_test(results_of_another_type_are_refused),
        cmocka_unit_test(arguments_of_another_kind_are_refused),
        cmocka_unit_test(bitcode_that_is_damaged_is_refused),
        cmocka_unit_test(files_are_recognised_by_what_is_in_them),
        cmocka_unit_test(translations_are_kept_on_disk),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
