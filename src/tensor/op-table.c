// SPDX-License-Identifier: Apache-2.0
// The list of ops.
#include "tensor/op-table.h"

#include <string.h>

// Name and type of the result come from the public lists.
#define UNARY(id, name, type) [IG_OP_##id] = {#name, IGI_TYPE_##type, IGI_FAMILY_UNARY, 1, IGI_SHAPE_BROADCAST},
#define BINARY(id, name, type) [IG_OP_##id] = {#name, IGI_TYPE_##type, IGI_FAMILY_BINARY, 2, IGI_SHAPE_BROADCAST},
#define REDUCE(id, name, type) [IG_OP_##id] = {#name, IGI_TYPE_##type, IGI_FAMILY_REDUCE, 1, IGI_SHAPE_REDUCE},
#define OTHER(id, name, type) [IG_OP_##id] = {#name, IGI_TYPE_##type, REST_OF_##id},

// Family, inputs at most, shape of the result.
#define REST_OF_LEAKY_RELU IGI_FAMILY_UNARY, 1, IGI_SHAPE_BROADCAST
#define REST_OF_CLAMP IGI_FAMILY_UNARY, 1, IGI_SHAPE_BROADCAST
#define REST_OF_CAST IGI_FAMILY_CONVERT, 1, IGI_SHAPE_BROADCAST
#define REST_OF_COPY IGI_FAMILY_CONVERT, 1, IGI_SHAPE_BROADCAST
#define REST_OF_WHERE IGI_FAMILY_TERNARY, 3, IGI_SHAPE_BROADCAST
#define REST_OF_CUMSUM IGI_FAMILY_SCAN, 1, IGI_SHAPE_SAME
#define REST_OF_MATMUL IGI_FAMILY_MATMUL, 3, IGI_SHAPE_OWN
#define REST_OF_SOFTMAX IGI_FAMILY_NORMALIZE, 1, IGI_SHAPE_SAME
#define REST_OF_LOG_SOFTMAX IGI_FAMILY_NORMALIZE, 1, IGI_SHAPE_SAME
#define REST_OF_LAYER_NORM IGI_FAMILY_NORMALIZE, 3, IGI_SHAPE_SAME
#define REST_OF_RMS_NORM IGI_FAMILY_NORMALIZE, 2, IGI_SHAPE_SAME
#define REST_OF_GATHER IGI_FAMILY_INDEX, 2, IGI_SHAPE_OWN
#define REST_OF_SCATTER IGI_FAMILY_INDEX, 3, IGI_SHAPE_SAME
#define REST_OF_INDEX_SELECT IGI_FAMILY_INDEX, 2, IGI_SHAPE_OWN
#define REST_OF_SORT IGI_FAMILY_SORT, 1, IGI_SHAPE_SAME
#define REST_OF_FILL IGI_FAMILY_GENERATE, 0, IGI_SHAPE_OWN
#define REST_OF_ARANGE IGI_FAMILY_GENERATE, 0, IGI_SHAPE_OWN
#define REST_OF_RANDOM_UNIFORM IGI_FAMILY_GENERATE, 0, IGI_SHAPE_OWN
#define REST_OF_RANDOM_NORMAL IGI_FAMILY_GENERATE, 0, IGI_SHAPE_OWN
#define REST_OF_CONV IGI_FAMILY_CONVOLVE, 3, IGI_SHAPE_OWN
#define REST_OF_MAX_POOL IGI_FAMILY_CONVOLVE, 1, IGI_SHAPE_OWN
#define REST_OF_AVG_POOL IGI_FAMILY_CONVOLVE, 1, IGI_SHAPE_OWN
#define REST_OF_MASKED_SOFTMAX IGI_FAMILY_ATTENTION, 2, IGI_SHAPE_SAME
#define REST_OF_ROPE IGI_FAMILY_ATTENTION, 2, IGI_SHAPE_SAME
#define REST_OF_ATTENTION IGI_FAMILY_ATTENTION, 3, IGI_SHAPE_OWN
#define REST_OF_QUANTIZE IGI_FAMILY_QUANTIZED, 1, IGI_SHAPE_OWN
#define REST_OF_DEQUANTIZE IGI_FAMILY_QUANTIZED, 1, IGI_SHAPE_OWN
#define REST_OF_WEIGHT_MATMUL IGI_FAMILY_QUANTIZED, 2, IGI_SHAPE_OWN

const igi_op igi_ops[IG_OP_COUNT] = {IG_UNARY_LIST(UNARY) IG_BINARY_LIST(BINARY) IG_REDUCE_LIST(REDUCE)
                                         IG_OTHER_LIST(OTHER) IG_NN_LIST(OTHER)};

const char *const igi_family_names[IGI_FAMILY_COUNT] = {
    [IGI_FAMILY_UNARY] = "unary",         [IGI_FAMILY_BINARY] = "binary",       [IGI_FAMILY_TERNARY] = "ternary",
    [IGI_FAMILY_CONVERT] = "convert",     [IGI_FAMILY_REDUCE] = "reduce",       [IGI_FAMILY_SCAN] = "scan",
    [IGI_FAMILY_MATMUL] = "matmul",       [IGI_FAMILY_NORMALIZE] = "normalize", [IGI_FAMILY_INDEX] = "index",
    [IGI_FAMILY_SORT] = "sort",           [IGI_FAMILY_GENERATE] = "generate",   [IGI_FAMILY_CONVOLVE] = "convolve",
    [IGI_FAMILY_ATTENTION] = "attention", [IGI_FAMILY_QUANTIZED] = "quantized",
};

static const char *const backend_names[IG_BACKEND_COUNT] = {
    [IG_BACKEND_ANY] = "any",   [IG_BACKEND_SCALAR] = "scalar", [IG_BACKEND_SIMD] = "simd",
    [IG_BACKEND_BLAS] = "blas", [IG_BACKEND_METAL] = "metal",
};

const char *ig_op_name(ig_op op) {
    return (unsigned)op < IG_OP_COUNT ? igi_ops[op].name : "unknown";
}

const char *ig_backend_name(ig_backend backend) {
    return (unsigned)backend < IG_BACKEND_COUNT ? backend_names[backend] : "unknown";
}

static bool is(const char *name, const char *text, size_t length) {
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

bool igi_op_find(const char *name, size_t length, ig_op *op) {
    for (int i = 0; i < IG_OP_COUNT; i++) {
        if (!is(igi_ops[i].name, name, length)) continue;
        *op = (ig_op)i;
        return true;
    }
    return false;
}

bool igi_backend_find(const char *name, size_t length, ig_backend *backend) {
    for (int i = 0; i < IG_BACKEND_COUNT; i++) {
        if (!is(backend_names[i], name, length)) continue;
        *backend = (ig_backend)i;
        return true;
    }
    return false;
}

// ---- Types ----

// Ops that give a bool its own kind back: nothing is computed with it.
static bool keeps_bool(ig_op op) {
    return op == IG_OP_COPY || op == IG_OP_WHERE || op == IG_OP_MAXIMUM || op == IG_OP_MINIMUM || op == IG_OP_MAX ||
           op == IG_OP_MIN || op == IG_OP_SORT || igi_ops[op].family == IGI_FAMILY_INDEX;
}

void igi_op_types(ig_op op, ig_type common, ig_type *operand, ig_type *result) {
    bool fraction = igi_is_float(common);
    *operand = *result = common;
    switch (igi_ops[op].type_rule) {
        case IGI_TYPE_KEEP:
            if (common == IG_TYPE_BOOL && !keeps_bool(op)) *operand = *result = IG_TYPE_I32;
            break;
        case IGI_TYPE_FLOAT:
            if (!fraction) *operand = *result = IG_TYPE_F32;
            break;
        case IGI_TYPE_BOOL: *result = IG_TYPE_BOOL; break;
        case IGI_TYPE_INDEX: *result = IG_TYPE_I64; break;
        case IGI_TYPE_SUM:
            if (!fraction) *result = IG_TYPE_I64;
            break;
        case IGI_TYPE_PRODUCT:
            if (!fraction && common != IG_TYPE_I64) *operand = *result = IG_TYPE_I32;
            break;
        case IGI_TYPE_GIVEN: break;
    }
}
