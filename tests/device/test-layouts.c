// SPDX-License-Identifier: Apache-2.0
// Layouts of arguments' types, against what kernels themselves see of offsets and sizes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

static const char types[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "enum { first_id = 7 };\n"
    "struct Inner { float3 a; packed_float3 p; half2 h[3][2]; bool flag; };\n"
    "struct Base { uchar tag; ulong big; };\n"
    "struct Derived : Base { short s; alignas(32) uint wide; };\n"
    "template <typename T> struct Pair { T x; T y; };\n"
    "struct All {\n"
    "    uint n; float4 v; Inner inner; array<float, 4> arr; float3x2 m; Inner list[2]; atomic_uint counter;\n"
    "    uint8_t bytes[5]; bfloat b; Pair<char4> pair; Derived derived; long l; ushort3 u3; packed_half4 ph;\n"
    "};\n"
    "struct Node { device Node *next; constant float4x4 *matrix; };\n"
    "struct Arguments {\n"
    "    device float *data [[id(first_id)]];\n"
    "    constant Inner &inner [[id(1 + 1)]];\n"
    "    texture2d<float, access::sample> image [[id(10)]];\n"
    "    array<texture2d<half, access::write>, 4> images;\n"
    "    sampler s;\n"
    "    uint count;\n"
    "    Pair<uint> nested;\n"
    "    device Node *node;\n"
    "};\n"
    "#define PUT(name) out[i++] = (uint)((ulong)&all.name - (ulong)&all), out[i++] = (uint)sizeof(all.name)\n"
    "kernel void measure(device const All &all [[buffer(0)]], device uint *out [[buffer(1)]],\n"
    "                    device const Arguments *arguments [[buffer(2)]], device const float4 *plain [[buffer(3)]],\n"
    "                    device const half2x3 *unused [[buffer(4)]],\n"
    "                    uint thread [[thread_position_in_grid]]) {\n"
    "    uint i = 0;\n"
    "    PUT(n); PUT(v); PUT(inner); PUT(arr); PUT(m); PUT(list); PUT(counter); PUT(bytes); PUT(b); PUT(pair);\n"
    "    PUT(derived); PUT(l); PUT(u3); PUT(ph);\n"
    "    out[i++] = sizeof(All); out[i++] = alignof(All);\n"
    "    out[i++] = sizeof(Arguments); out[i++] = alignof(Arguments);\n"
    "}\n";

static const ig_layout *member(const ig_argument *argument, const char *name) {
    for (size_t i = 0; i < argument->layout_count; i++)
        if (argument->layout[i].depth == 1 && strcmp(argument->layout[i].name, name) == 0) return &argument->layout[i];
    fail_msg("there is no member '%s'", name);
    return NULL;
}

static ig_library *described(void) {
    return compile_on(device, &(ig_library_desc){.source = types, .describe_types = true});
}

static void offsets_and_sizes_are_those_that_kernels_see(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const char *const names[] = {"n",     "v", "inner", "arr",     "m", "list", "counter",
                                        "bytes", "b", "pair",  "derived", "l", "u3",   "ph"};
    ig_library *library = described();
    const ig_kernel_info *kernel = ig_library_find_kernel(library, "measure");
    ig_pipeline *pipeline = pipeline_of(library, "measure");
    ig_buffer *buffers[5];
    for (size_t i = 0; i < 5; i++) buffers[i] = make_buffer(4096);
    do_run(&(run){.pipeline = pipeline, .buffers = buffers, .buffer_count = 5, .grid = line(1)});
    const uint32_t *seen = ig_buffer_contents(buffers[1]);
    for (size_t i = 0; i < LENGTH(names); i++) {
        const ig_layout *part = member(&kernel->arguments[0], names[i]);
        assert_int_equal(part->offset, *seen++);
        assert_int_equal(part->size, *seen++);
    }
    for (size_t i = 0; i < 3; i += 2) {
        assert_int_equal(kernel->arguments[i].layout[0].size, *seen++);
        assert_int_equal(kernel->arguments[i].layout[0].alignment, *seen++);
    }
    for (size_t i = 0; i < 5; i++) ig_buffer_release(buffers[i]);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

static void parts_have_their_types(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const struct {
        const char *name, *type;
        ig_layout_kind kind;
        ig_type scalar;
        uint32_t components, columns, count, stride;
    } expected[] = {
        {"n", "uint", IG_LAYOUT_SCALAR, IG_TYPE_U32, 1, 1, 0, 0},
        {"v", "float4", IG_LAYOUT_SCALAR, IG_TYPE_F32, 4, 1, 0, 0},
        {"inner", "Inner", IG_LAYOUT_STRUCT, 0, 0, 0, 0, 0},
        {"arr", "float[4]", IG_LAYOUT_ARRAY, 0, 0, 0, 4, 4},
        {"m", "float3x2", IG_LAYOUT_SCALAR, IG_TYPE_F32, 2, 3, 0, 0},
        {"list", "Inner[2]", IG_LAYOUT_ARRAY, 0, 0, 0, 2, 64},
        {"counter", "uint", IG_LAYOUT_SCALAR, IG_TYPE_U32, 1, 1, 0, 0},
        {"bytes", "uchar[5]", IG_LAYOUT_ARRAY, 0, 0, 0, 5, 1},
        {"b", "bfloat", IG_LAYOUT_SCALAR, IG_TYPE_BF16, 1, 1, 0, 0},
        {"u3", "ushort3", IG_LAYOUT_SCALAR, IG_TYPE_U16, 3, 1, 0, 0},
        {"ph", "packed_half4", IG_LAYOUT_SCALAR, IG_TYPE_F16, 4, 1, 0, 0},
    };
    ig_library *library = described();
    const ig_argument *all = &ig_library_find_kernel(library, "measure")->arguments[0];
    for (size_t i = 0; i < LENGTH(expected); i++) {
        const ig_layout *part = member(all, expected[i].name);
        assert_string_equal(part->type, expected[i].type);
        assert_int_equal(part->kind, expected[i].kind);
        assert_int_equal(part->count, expected[i].count);
        assert_int_equal(part->stride, expected[i].stride);
        if (part->kind != IG_LAYOUT_SCALAR) continue;
        assert_int_equal(part->scalar, expected[i].scalar);
        assert_int_equal(part->components, expected[i].components);
        assert_int_equal(part->columns, expected[i].columns);
    }
    const ig_layout *derived = member(all, "derived");
    assert_string_equal(derived[1].name, "tag");
    assert_string_equal(derived[3].name, "s");
    assert_int_equal(derived->alignment, 32);
    assert_string_equal(ig_library_find_kernel(library, "measure")->arguments[3].layout->type, "float4");
    const ig_layout *unused = ig_library_find_kernel(library, "measure")->arguments[4].layout;
    assert_string_equal(unused->type, "half2x3");
    assert_int_equal(unused->size, 16);
    ig_library_release(library);
}

// Stated ones may be expressions; the others count on, and arrays and structs take one for each part.
static void ids_are_stated_or_count_on(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const struct {
        const char *name;
        uint32_t id;
        ig_access access;
    } expected[] = {
        {"data", 7, IG_ACCESS_READ_WRITE}, {"inner", 2, IG_ACCESS_READ},       {"image", 10, IG_ACCESS_READ},
        {"images", 11, IG_ACCESS_NONE},    {"s", 15, IG_ACCESS_NONE},          {"count", 16, IG_ACCESS_NONE},
        {"nested", 17, IG_ACCESS_NONE},    {"node", 19, IG_ACCESS_READ_WRITE},
    };
    ig_library *library = described();
    const ig_argument *arguments = &ig_library_find_kernel(library, "measure")->arguments[2];
    for (size_t i = 0; i < LENGTH(expected); i++) {
        const ig_layout *part = member(arguments, expected[i].name);
        assert_int_equal(part->id, expected[i].id);
        assert_int_equal(part->access, expected[i].access);
    }
    assert_string_equal(member(arguments, "image")->type, "texture2d<float, access::sample>");
    assert_string_equal(member(arguments, "images")[1].type, "texture2d<half, access::write>");
    const ig_layout *next = member(arguments, "node") + 2;
    assert_string_equal(next->name, "next");
    assert_int_equal(next->kind, IG_LAYOUT_POINTER);
    assert_string_equal(next[1].name, "matrix");  // a struct does not contain itself without end
    ig_library_release(library);
}

static void they_come_from_the_cache_too_and_only_when_asked_for(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_library *first = described(), *second = described();
    size_t count = ig_library_kernel(first, 0)->arguments[0].layout_count;
    assert_true(count > 20);
    assert_int_equal(ig_library_kernel(second, 0)->arguments[0].layout_count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(ig_library_kernel(first, 0)->arguments[0].layout[i].type,
                            ig_library_kernel(second, 0)->arguments[0].layout[i].type);
    ig_library *without = compile(types);
    assert_null(ig_library_kernel(without, 0)->arguments[0].layout);
    ig_library_release(first);
    ig_library_release(second);
    ig_library_release(without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_and_sizes_are_those_that_kernels_see),
        cmocka_unit_test(parts_have_their_types),
        cmocka_unit_test(ids_are_stated_or_count_on),
        cmocka_unit_test(they_come_from_the_cache_too_and_only_when_asked_for),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
