// SPDX-License-Identifier: Apache-2.0
// Names and sizes of element types; names of kinds of functions.
#include <ingot/device.h>

static const struct {
    const char *name;
    uint32_t size;
} types[IG_TYPE_COUNT] = {
    [IG_TYPE_BOOL] = {"bool", 1}, [IG_TYPE_I8] = {"i8", 1},   [IG_TYPE_U8] = {"u8", 1},     [IG_TYPE_I16] = {"i16", 2},
    [IG_TYPE_U16] = {"u16", 2},   [IG_TYPE_I32] = {"i32", 4}, [IG_TYPE_U32] = {"u32", 4},   [IG_TYPE_I64] = {"i64", 8},
    [IG_TYPE_U64] = {"u64", 8},   [IG_TYPE_F16] = {"f16", 2}, [IG_TYPE_BF16] = {"bf16", 2}, [IG_TYPE_F32] = {"f32", 4},
};

const char *ig_type_name(ig_type type) {
    return (unsigned)type < IG_TYPE_COUNT ? types[type].name : "unknown";
}

uint32_t ig_type_size(ig_type type) {
    return (unsigned)type < IG_TYPE_COUNT ? types[type].size : 0;
}

static const char *const function_kinds[IG_FUNCTION_KIND_COUNT] = {
    [IG_FUNCTION_KERNEL] = "kernel",
    [IG_FUNCTION_VISIBLE] = "visible",
    [IG_FUNCTION_VERTEX] = "vertex",
    [IG_FUNCTION_FRAGMENT] = "fragment",
    [IG_FUNCTION_OBJECT] = "object",
    [IG_FUNCTION_MESH] = "mesh",
    [IG_FUNCTION_TILE] = "tile",
    [IG_FUNCTION_INTERSECTION] = "intersection",
    [IG_FUNCTION_RAY_TRACING] = "ray-tracing",
};

const char *ig_function_kind_name(ig_function_kind kind) {
    return (unsigned)kind < IG_FUNCTION_KIND_COUNT ? function_kinds[kind] : "unknown";
}
