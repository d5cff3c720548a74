// SPDX-License-Identifier: Apache-2.0
// Libraries: where sources come from, options, logs, caching, and all of reflection.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

static const char plain[] =
    "kernel void k(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = i; }\n";

// Runs one thread of a kernel of the library and returns the first word it wrote.
static uint32_t first_word(ig_library *library, const char *kernel) {
    ig_pipeline *pipeline = pipeline_of(library, kernel);
    ig_buffer *buffer = make_buffer(64);
    do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(1)});
    uint32_t word = *(uint32_t *)ig_buffer_contents(buffer);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    return word;
}

static uint32_t word_from(const ig_library_desc *desc) {
    ig_library *library = compile_on(device, desc);
    uint32_t word = first_word(library, "k");
    ig_library_release(library);
    return word;
}

// ---- Sources ----

static void a_source_may_be_part_of_a_text(void **state) {
    (void)state;
    static const char text[] = "kernel void k(device uint *a [[buffer(0)]]) { a[0] = 12; } this is not MSL";
    size_t length = (size_t)(strchr(text, '}') - text) + 1;
    assert_int_equal(word_from(&(ig_library_desc){.source = text, .source_length = length}), 12);
}

static void a_source_is_copied(void **state) {
    (void)state;
    char *text = strdup("kernel void k(device uint *a [[buffer(0)]]) { a[0] = 13; }");
    ig_library *library = compile(text);
    memset(text, 'x', strlen(text));
    free(text);
    assert_string_equal(ig_library_kernel(library, 0)->name, "k");
    assert_int_equal(first_word(library, "k"), 13);
    ig_library_release(library);
}

static void a_file_is_read_with_headers_beside_it_and_in_include_dirs(void **state) {
    (void)state;
    char *directory = make_temp_dir();
    write_text(path_of("%s/beside.h", directory), "#pragma once\n#define ONE 1\n");
    char *other = make_temp_dir();
    write_text(path_of("%s/elsewhere.h", other), "#pragma once\n#include \"deeper.h\"\n");
    write_text(path_of("%s/deeper.h", other), "constant uint forty = 40;\n");
    write_text(path_of("%s/main.metal", directory),
               "#include <metal_stdlib>\n#include \"beside.h\"\n#include <elsewhere.h>\n#include \"elsewhere.h\"\n"
               "kernel void k(device uint *a [[buffer(0)]]) { a[0] = forty + ONE; }\n");
    const char *dirs[] = {other};
    char *path = strdup(path_of("%s/main.metal", directory));
    ig_library_desc desc = {.path = path, .include_dirs = dirs, .include_dir_count = 1};
    assert_int_equal(word_from(&desc), 41);
    // A changed header is noticed, with or without a cache.
    write_text(path_of("%s/deeper.h", other), "constant uint forty = 50;\n");
    assert_int_equal(word_from(&desc), 51);
    free(path);
    remove_temp_dir(directory), remove_temp_dir(other);
}

static void an_error_in_a_header_names_the_header(void **state) {
    (void)state;
    char *directory = make_temp_dir();
    write_text(path_of("%s/broken.h", directory), "// fine\nuint f() { return nothing_here; }\n");
    const char *dirs[] = {directory};
    ig_library *library = NULL;
    ig_error error = {0};
    ig_library_desc desc = {.source = "#include \"broken.h\"\n", .include_dirs = dirs, .include_dir_count = 1};
    assert_status(ig_library_create(device, &desc, &library, &error), IG_STATUS_COMPILE_FAILED);
    assert_contains(error.file, "broken.h");
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 19);
    ig_error_clear(&error);
    remove_temp_dir(directory);
}

static void diagnostics_use_the_name_given(void **state) {
    (void)state;
    ig_library *library = NULL;
    ig_error error = {0};
    static const char *const names[] = {"shader.metal", "with space.metal", "a/b.metal", NULL};
    for (size_t i = 0; i < LENGTH(names); i++) {
        ig_library_desc desc = {.source = "#error no\n", .name = names[i]};
        assert_status(ig_library_create(device, &desc, &library, &error), IG_STATUS_COMPILE_FAILED);
        assert_string_equal(error.file, names[i] ? names[i] : "program_source");
    }
    ig_error_clear(&error);
}

// ---- Options ----

static void defines_reach_the_source(void **state) {
    (void)state;
    const ig_define defines[] = {{"FLAG", NULL}, {"VALUE", "20 + 1"}, {"TEXT", "\"a b\""}, {"EMPTY", ""}};
    ig_library_desc desc = {
        .source = "kernel void k(device uint *a [[buffer(0)]]) { a[0] = EMPTY FLAG + (VALUE) * 2 + sizeof(TEXT); }\n",
        .defines = defines,
        .define_count = LENGTH(defines)};
    assert_int_equal(word_from(&desc), 1 + 42 + 4);
}

static void libraries_that_differ_in_a_define_are_different(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        char value[8];
        snprintf(value, sizeof value, "%d", i % 2);
        ig_define define = {"N", value};
        ig_library_desc desc = {.source = "kernel void k(device uint *a [[buffer(0)]]) { a[0] = N; }\n",
                                .defines = &define,
                                .define_count = 1};
        assert_int_equal(word_from(&desc), i % 2);
    }
}

static void language_versions_are_told_to_the_source(void **state) {
    (void)state;
    static const uint32_t versions[] = {200, 240, 300, 310, 320, 400, 410};
    for (size_t i = 0; i < LENGTH(versions); i++) {
        ig_library_desc desc = {.source = "kernel void k(device uint *a [[buffer(0)]]) { a[0] = __METAL_VERSION__; }\n",
                                .language_version = versions[i]};
        assert_int_equal(word_from(&desc), versions[i]);
    }
    assert_int_equal(word_from(&(ig_library_desc){
                         .source = "kernel void k(device uint *a [[buffer(0)]]) { a[0] = __METAL_VERSION__; }\n"}),
                     310);
}

static void unknown_language_versions_are_refused(void **state) {
    (void)state;
    static const uint32_t versions[] = {1, 99, 330, 390, 420, 311, UINT32_MAX};
    for (size_t i = 0; i < LENGTH(versions); i++) {
        ig_library *library = NULL;
        ig_error error = {0};
        ig_library_desc desc = {.source = plain, .language_version = versions[i]};
        assert_status(ig_library_create(device, &desc, &library, &error), IG_STATUS_UNSUPPORTED);
        assert_contains(error.message, "4.1");
        ig_error_clear(&error);
    }
}

static void math_modes_differ_where_they_should(void **state) {
    (void)state;
    // Safe mode keeps denormals; fast mode flushes them, as Apple's GPUs do.
    static const char text[] =
        "kernel void k(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
        "    a[0] = as_type<uint>(as_type<float>(a[1] + 0x00800000u) * 0.5f);\n}\n";
    ig_library_desc safe = {.source = text, .math_mode = IG_MATH_SAFE}, fast = {.source = text};
    assert_int_equal(word_from(&safe), 0x00400000);
    assert_int_equal(word_from(&fast), 0);
}

// clang's result differs too, so one mode must not get the other's cached bitcode.
static void math_modes_are_compiled_apart(void **state) {
    (void)state;
    static const char text[] =
        "#ifdef __FAST_MATH__\n"
        "constant uint mode = 1;\n"
        "#else\n"
        "constant uint mode = 2;\n"
        "#endif\n"
        "kernel void k(device uint *a [[buffer(0)]]) { a[0] = mode; }\n";
    ig_library_desc safe = {.source = text, .math_mode = IG_MATH_SAFE}, fast = {.source = text};
    assert_int_equal(word_from(&safe), 2);
    assert_int_equal(word_from(&fast), 1);
    assert_int_equal(word_from(&safe), 2);
}

// ---- Logs and caching ----

static const char warned[] = "kernel void k(device uint *a [[buffer(0)]]) { uint unused; a[0] = 5 / 0; }\n";

static void warnings_are_kept_with_the_library(void **state) {
    (void)state;
    ig_library *quiet = compile(plain), *noisy = compile(warned);
    assert_string_equal(ig_library_log(quiet), "");
    assert_contains(ig_library_log(noisy), "warning:");
    assert_contains(ig_library_log(noisy), "program_source:1:");
    assert_contains(ig_library_log(noisy), "^");
    ig_library_release(quiet), ig_library_release(noisy);
}

static void warnings_come_with_every_library_of_the_source(void **state) {
    (void)state;
    static const char *const caches[] = {NULL, ""};
    for (size_t i = 0; i < LENGTH(caches); i++) {
        ig_device *made = open_device(&(ig_device_desc){.cache_dir = caches[i]});
        ig_library *first = compile_on(made, &(ig_library_desc){.source = warned});
        ig_library *second = compile_on(made, &(ig_library_desc){.source = warned});
        assert_contains(ig_library_log(first), "warning:");
        assert_string_equal(ig_library_log(second), ig_library_log(first));
        ig_library_release(first), ig_library_release(second);
        ig_device_release(made);
    }
}

static void the_same_source_is_compiled_once(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    char *directory = make_temp_dir();
    ig_device_stats stats;
    ig_device *made = open_device(&(ig_device_desc){.cache_dir = directory});
    ig_library *first = compile_on(made, &(ig_library_desc){.source = plain});
    ig_device_get_stats(made, &stats);
    assert_int_equal(stats.compilations, 1);
    assert_int_equal(stats.memory_hits + stats.disk_hits, 0);
    ig_library *second = compile_on(made, &(ig_library_desc){.source = plain});
    ig_device_get_stats(made, &stats);
    assert_int_equal(stats.compilations, 1);
    assert_int_equal(stats.memory_hits, 1);
    ig_library_release(first), ig_library_release(second);
    first = compile_on(made, &(ig_library_desc){.source = plain});
    ig_device_get_stats(made, &stats);
    assert_int_equal(stats.compilations, 1);
    assert_int_equal(stats.disk_hits, 1);
    ig_library_release(first);
    ig_device_release(made);
    made = open_device(&(ig_device_desc){.cache_dir = directory});
    first = compile_on(made, &(ig_library_desc){.source = plain});
    ig_device_get_stats(made, &stats);
    assert_int_equal(stats.compilations, 0);
    assert_int_equal(stats.disk_hits, 1);
    ig_library_release(first);
    ig_device_release(made);
    remove_temp_dir(directory);
}

// ---- Reflection ----

static const char reflected[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct settings { float4 color; uint count; packed_float3 where; };\n"
    "constant bool with_bias [[function_constant(2)]];\n"
    "constant float3 tint [[function_constant(7)]];\n"
    "constant short small [[function_constant(1)]];\n"
    "kernel void first(device float4 *out [[buffer(3)]], device const float *in [[buffer(0)]],\n"
    "                  constant settings &s [[buffer(1)]], constant half *table [[buffer(30)]],\n"
    "                  device float *bias [[buffer(5), function_constant(with_bias)]],\n"
    "                  threadgroup float *scratch [[threadgroup(2)]],\n"
    "                  uint3 gid [[thread_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {\n"
    "    threadgroup float shared[100];\n"
    "    shared[lane] = in[gid.x];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    scratch[lane] = shared[31 - lane] + float(table[0]) + (with_bias ? bias[0] : 0.0f) + float(small);\n"
    "    out[gid.x] = s.color * scratch[lane] + float4(tint, 1);\n"
    "}\n"
    "[[kernel, max_total_threads_per_threadgroup(128)]] void second(device uint *a, device const uint *b) {\n"
    "    a[0] = b[0];\n"
    "}\n"
    "template <typename T> kernel void generic(device T *a [[buffer(0)]], device atomic_uint *n [[buffer(1)]]) {\n"
    "    a[0] = T(atomic_fetch_add_explicit(n, 1u, memory_order_relaxed));\n"
    "}\n"
    "template [[host_name(\"generic_f32\")]] kernel void generic<float>(device float *, device atomic_uint *);\n"
    "template [[host_name(\"generic_u8\")]] kernel void generic<uchar>(device uchar *, device atomic_uint *);\n";

static const ig_argument *argument_named(const ig_kernel_info *kernel, const char *name) {
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (strcmp(kernel->arguments[i].name, name) == 0) return &kernel->arguments[i];
    fail_msg("no argument %s", name);
    return NULL;
}

// Other threads may have set a threadgroup variable; nobody else can set a variable of the thread.
static void variables_without_a_value_are_warned_of(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_library *library = compile(
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "#define SHARED threadgroup\n"
        "kernel void k(device float *a [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {\n"
        "    float never;\n"
        "    float sometimes;\n"
        "    threadgroup float first, second;\n"
        "    SHARED float third;\n"
        "    threadgroup\n"
        "        float fourth;\n"
        "    if (l == 0) first = a[0];\n"
        "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "    if (l > 3) sometimes = 2;\n"
        "    a[l] = never + sometimes + first + second + third + fourth;\n}\n");
    const char *log = ig_library_log(library);
    static const char *const said[] = {":14:12: warning: variable 'never'", ":13:9: warning: variable 'sometimes'"};
    static const char *const unsaid[] = {"'first'", "'second'", "'third'", "'fourth'"};
    for (size_t i = 0; i < LENGTH(said); i++) assert_contains(log, said[i]);
    for (size_t i = 0; i < LENGTH(unsaid); i++)
        if (strstr(log, unsaid[i])) fail_msg("%s", log);
    ig_library_release(library);
}

// Whichever is used first.
static void constants_are_listed_in_source_order(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();  // Metal tells of them in no order
    ig_library *library = compile(
        "constant int a [[function_constant(7)]];"
        "constant int b [[function_constant(3)]];"
        "constant int c [[function_constant(5)]];"
        "kernel void k(device int *x) { x[0] = c; x[1] = b; x[2] = a; }");
    static const char *const names[] = {"a", "b", "c"};
    assert_int_equal(ig_library_function_constant_count(library), 3);
    for (size_t i = 0; i < 3; i++) assert_string_equal(ig_library_function_constant(library, i)->name, names[i]);
    ig_library_release(library);
}

static void kernels_are_listed_in_source_order(void **state) {
    (void)state;
    static const char *const names[] = {"first", "second", "generic_f32", "generic_u8"};
    ig_library *library = compile(reflected);
    assert_int_equal(ig_library_kernel_count(library), LENGTH(names));
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_string_equal(ig_library_kernel(library, i)->name, names[i]);
        assert_ptr_equal(ig_library_find_kernel(library, names[i]), ig_library_kernel(library, i));
    }
    assert_null(ig_library_kernel(library, LENGTH(names)));
    assert_null(ig_library_find_kernel(library, "generic"));
    ig_library_release(library);
}

// A buffer must hold the whole object, its padding included.
static void references_need_the_size_of_their_type(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const uint32_t expected[] = {32, 112, 16, 32, 48, 128, 16, 48, 6, 64, 8};
    ig_library *library = compile(
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "struct body { float3 place; float mass; uint id; };\n"
        "struct many { body bodies[3]; char end; };\n"
        "struct tight { packed_float3 place; char end; };\n"
        "struct alignas(32) wide { float a; };\n"
        "struct nested { body b; float a; };\n"
        "static_assert(sizeof(body) == 32 && sizeof(many) == 112 && sizeof(tight) == 16 && sizeof(wide) == 32 &&\n"
        "              sizeof(nested) == 48, \"\");\n"
        "kernel void k(constant body &a [[buffer(0)]], constant many &b [[buffer(1)]], constant tight &c "
        "[[buffer(2)]],\n"
        "              constant wide &d [[buffer(3)]], constant nested &e [[buffer(4)]], constant body (&f)[4] "
        "[[buffer(5)]],\n"
        "              constant float3 &g [[buffer(6)]], constant float3x3 &h [[buffer(7)]],\n"
        "              constant packed_half3 &i [[buffer(8)]], constant array<body, 2> &j [[buffer(9)]],\n"
        "              constant half3 &l [[buffer(10)]], device float *out [[buffer(11)]]) {\n"
        "    out[0] = a.mass + b.bodies[2].mass + c.place[1] + d.a + e.a + f[3].mass + g.y + h[1][2] + i[2] +\n"
        "             j[1].mass + l.x;\n}\n");
    const ig_kernel_info *kernel = ig_library_find_kernel(library, "k");
    for (size_t i = 0; i < LENGTH(expected); i++)
        if (kernel->arguments[i].min_bytes != expected[i])
            fail_msg("%s needs %u bytes", kernel->arguments[i].name, kernel->arguments[i].min_bytes);
    ig_library_release(library);
}

static void arguments_are_described(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const struct {
        const char *name, *attribute, *space, *condition;
        ig_argument_kind kind;
        ig_access access;
        uint32_t index, min_bytes;
    } expected[] = {
        {"out", "buffer", "device", "", IG_ARGUMENT_BUFFER, IG_ACCESS_READ_WRITE, 3, 16},
        {"in", "buffer", "device", "", IG_ARGUMENT_BUFFER, IG_ACCESS_READ, 0, 4},
        {"s", "buffer", "constant", "", IG_ARGUMENT_BUFFER, IG_ACCESS_READ, 1, 32},
        {"table", "buffer", "constant", "", IG_ARGUMENT_BUFFER, IG_ACCESS_READ, 30, 2},
        {"bias", "buffer", "device", "with_bias", IG_ARGUMENT_BUFFER, IG_ACCESS_READ_WRITE, 5, 4},
        {"scratch", "threadgroup", "threadgroup", "", IG_ARGUMENT_THREADGROUP, IG_ACCESS_READ_WRITE, 2, 4},
        {"gid", "thread_position_in_grid", "", "", IG_ARGUMENT_BUILTIN, IG_ACCESS_NONE, 0, 0},
        {"lane", "thread_index_in_simdgroup", "", "", IG_ARGUMENT_BUILTIN, IG_ACCESS_NONE, 0, 0},
    };
    ig_library *library = compile(reflected);
    const ig_kernel_info *kernel = ig_library_find_kernel(library, "first");
    assert_int_equal(kernel->argument_count, LENGTH(expected));
    for (size_t i = 0; i < LENGTH(expected); i++) {
        const ig_argument *argument = &kernel->arguments[i];
        assert_string_equal(argument->name, expected[i].name);
        assert_string_equal(argument->attribute, expected[i].attribute);
        assert_string_equal(argument->address_space, expected[i].space);
        assert_string_equal(argument->condition, expected[i].condition);
        assert_int_equal(argument->kind, expected[i].kind);
        if (argument->access != expected[i].access)
            fail_msg("access of %s is %d", argument->name, (int)argument->access);
        assert_int_equal(argument->index, expected[i].index);
        // Exact for references; the IR may not have the size of a pointer's element.
        bool exact = strchr(argument->type, '&') || argument->kind == IG_ARGUMENT_BUILTIN;
        if (argument->min_bytes > expected[i].min_bytes || (exact && argument->min_bytes < expected[i].min_bytes))
            fail_msg("%s needs %u bytes", argument->name, argument->min_bytes);
        assert_true(strlen(argument->type) > 0);
    }
    assert_contains(argument_named(kernel, "in")->type, "const float");
    assert_contains(argument_named(kernel, "s")->type, "settings");
    assert_int_equal(kernel->static_threadgroup_memory, 400);
    assert_int_equal(kernel->max_total_threads, 0);
    ig_library_release(library);
}

static void open_slots_are_numbered_and_limits_read(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_library *library = compile(reflected);
    const ig_kernel_info *kernel = ig_library_find_kernel(library, "second");
    assert_int_equal(kernel->max_total_threads, 128);
    assert_int_equal(argument_named(kernel, "a")->index, 0);
    assert_int_equal(argument_named(kernel, "b")->index, 1);
    assert_int_equal(argument_named(kernel, "a")->access, IG_ACCESS_READ_WRITE);
    assert_int_equal(argument_named(kernel, "b")->access, IG_ACCESS_READ);
    ig_library_release(library);
}

static void instances_of_templates_have_their_own_types(void **state) {
    (void)state;
    ig_library *library = compile(reflected);
    const ig_kernel_info *f32 = ig_library_find_kernel(library, "generic_f32");
    const ig_kernel_info *u8 = ig_library_find_kernel(library, "generic_u8");
    assert_contains(argument_named(f32, "a")->type, "float");
    assert_contains(argument_named(u8, "a")->type, "uchar");
    assert_int_equal(argument_named(f32, "n")->access, IG_ACCESS_READ_WRITE);
    ig_library_release(library);
}

static void function_constants_are_listed(void **state) {
    (void)state;
    static const ig_function_constant_info expected[] = {
        {"with_bias", 2, IG_TYPE_BOOL, 1}, {"tint", 7, IG_TYPE_F32, 3}, {"small", 1, IG_TYPE_I16, 1}};
    ig_library *library = compile(reflected);
    assert_int_equal(ig_library_function_constant_count(library), LENGTH(expected));
    for (size_t i = 0; i < LENGTH(expected); i++) {
        bool found = false;
        for (size_t k = 0; k < LENGTH(expected); k++) {
            const ig_function_constant_info *info = ig_library_function_constant(library, k);
            if (strcmp(info->name, expected[i].name) != 0) continue;
            found = true;
            assert_int_equal(info->id, expected[i].id);
            assert_int_equal(info->type, expected[i].type);
            assert_int_equal(info->components, expected[i].components);
        }
        assert_true(found);
    }
    assert_null(ig_library_function_constant(library, LENGTH(expected)));
    ig_library_release(library);
}

static void reflection_is_the_same_from_the_cache(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_library *fresh = compile(reflected);
    ig_device *other = open_device(NULL);
    ig_library *cached = compile_on(other, &(ig_library_desc){.source = reflected});
    ig_device_stats stats;
    ig_device_get_stats(other, &stats);
    assert_int_equal(stats.disk_hits, 1);
    assert_int_equal(ig_library_kernel_count(cached), ig_library_kernel_count(fresh));
    for (size_t i = 0; i < ig_library_kernel_count(fresh); i++) {
        const ig_kernel_info *a = ig_library_kernel(fresh, i), *b = ig_library_kernel(cached, i);
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->argument_count, b->argument_count);
        assert_int_equal(a->static_threadgroup_memory, b->static_threadgroup_memory);
        assert_int_equal(a->max_total_threads, b->max_total_threads);
        for (size_t k = 0; k < a->argument_count; k++) {
            const ig_argument *x = &a->arguments[k], *y = &b->arguments[k];
            assert_string_equal(x->name, y->name);
            assert_string_equal(x->type, y->type);
            assert_string_equal(x->attribute, y->attribute);
            assert_string_equal(x->address_space, y->address_space);
            assert_string_equal(x->condition, y->condition);
            assert_true(x->kind == y->kind && x->access == y->access && x->index == y->index &&
                        x->min_bytes == y->min_bytes);
        }
    }
    ig_library_release(cached), ig_library_release(fresh);
    ig_device_release(other);
}

static void types_have_names_and_sizes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t size;
    } expected[IG_TYPE_COUNT] = {{"bool", 1}, {"i8", 1},  {"u8", 1},  {"i16", 2}, {"u16", 2},  {"i32", 4},
                                 {"u32", 4},  {"i64", 8}, {"u64", 8}, {"f16", 2}, {"bf16", 2}, {"f32", 4}};
    for (int i = 0; i < IG_TYPE_COUNT; i++) {
        assert_string_equal(ig_type_name((ig_type)i), expected[i].name);
        assert_int_equal(ig_type_size((ig_type)i), expected[i].size);
    }
    assert_string_equal(ig_type_name(IG_TYPE_COUNT), "unknown");
    assert_string_equal(ig_type_name((ig_type)-1), "unknown");
    assert_int_equal(ig_type_size(IG_TYPE_COUNT), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_may_be_part_of_a_text),
        cmocka_unit_test(a_source_is_copied),
        cmocka_unit_test(a_file_is_read_with_headers_beside_it_and_in_include_dirs),
        cmocka_unit_test(an_error_in_a_header_names_the_header),
        cmocka_unit_test(diagnostics_use_the_name_given),
        cmocka_unit_test(defines_reach_the_source),
        cmocka_unit_test(libraries_that_differ_in_a_define_are_different),
        cmocka_unit_test(language_versions_are_told_to_the_source),
        cmocka_unit_test(unknown_language_versions_are_refused),
        cmocka_unit_test(math_modes_differ_where_they_should),
        cmocka_unit_test(math_modes_are_compiled_apart),
        cmocka_unit_test(warnings_are_kept_with_the_library),
        cmocka_unit_test(warnings_come_with_every_library_of_the_source),
        cmocka_unit_test(the_same_source_is_compiled_once),
        cmocka_unit_test(constants_are_listed_in_source_order),
        cmocka_unit_test(kernels_are_listed_in_source_order),
        cmocka_unit_test(arguments_are_described),
        cmocka_unit_test(references_need_the_size_of_their_type),
        cmocka_unit_test(variables_without_a_value_are_warned_of),
        cmocka_unit_test(open_slots_are_numbered_and_limits_read),
        cmocka_unit_test(instances_of_templates_have_their_own_types),
        cmocka_unit_test(function_constants_are_listed),
        cmocka_unit_test(reflection_is_the_same_from_the_cache),
        cmocka_unit_test(types_have_names_and_sizes),
    };
    return cmocka_run_group_tests_name("library", tests, open_test_device, close_test_device);
}
