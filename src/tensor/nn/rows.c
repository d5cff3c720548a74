// SPDX-License-Identifier: Apache-2.0
// What each backend offers for transformer ops.
#include "tensor/metal/metal.h"
#include "tensor/nn/nn.h"

// Below this a dispatch costs more than the work, on a GPU; `ingot bench ops --tune` measures.
enum { METAL_THRESHOLD = 1 << 15 };

#define HOST(id, function) {.op = IG_OP_##id, .types = IGI_FLOATS, .run = (function)},
#define DEVICE(id, test, function) \
    {.op = IG_OP_##id, .types = IGI_FLOATS, .threshold = METAL_THRESHOLD, .accepts = (test), .run = (function)},

// clang-format off
static const igi_implementation scalar_rows[] = {
    HOST(MASKED_SOFTMAX, igi_scalar_masked_softmax)
    HOST(ROPE, igi_scalar_rope)
    HOST(ATTENTION, igi_scalar_attention)
    HOST(QUANTIZE, igi_scalar_quantize)
    HOST(DEQUANTIZE, igi_scalar_dequantize)
    HOST(WEIGHT_MATMUL, igi_scalar_weight_matmul)
};

static const igi_implementation simd_rows[] = {
    HOST(MASKED_SOFTMAX, igi_simd_masked_softmax)
    HOST(ROPE, igi_simd_rope)
    HOST(ATTENTION, igi_simd_attention)
    HOST(QUANTIZE, igi_simd_quantize)
    HOST(DEQUANTIZE, igi_simd_dequantize)
    HOST(WEIGHT_MATMUL, igi_simd_weight_matmul)
};

static const igi_implementation metal_rows[] = {
    DEVICE(MASKED_SOFTMAX, igi_metal_accepts_all, igi_metal_masked_softmax)
    DEVICE(ROPE, igi_metal_accepts_all, igi_metal_rope)
    DEVICE(ATTENTION, igi_metal_accepts_attention, igi_metal_attention)
    DEVICE(QUANTIZE, igi_metal_accepts_weight, igi_metal_quantize)
    DEVICE(DEQUANTIZE, igi_metal_accepts_weight, igi_metal_dequantize)
    DEVICE(WEIGHT_MATMUL, igi_metal_accepts_weight, igi_metal_weight_matmul)
};
// clang-format on

#define SET(id, set) {IG_BACKEND_##id, (set), sizeof(set) / sizeof *(set)}
const igi_row_set igi_nn_rows[] = {SET(SCALAR, scalar_rows), SET(SIMD, simd_rows), SET(METAL, metal_rows), {0}};
