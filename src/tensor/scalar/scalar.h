// SPDX-License-Identifier: Apache-2.0
// The reference implementations: simple, for any strides, accumulating in double or int64_t.
#ifndef INGOT_TENSOR_SCALAR_H
#define INGOT_TENSOR_SCALAR_H

#include "tensor/runtime.h"

// The rows of ops that are in none of the public lists of elementwise ops and reductions: op, types,
// function.
#define IGI_SCALAR_ROWS(X)                        \
    X(LEAKY_RELU, IGI_ANY_TYPE, elementwise)      \
    X(CLAMP, IGI_ANY_TYPE, elementwise)           \
    X(CAST, IGI_ANY_TYPE, convert)                \
    X(COPY, IGI_ANY_TYPE, convert)                \
    X(WHERE, IGI_ANY_TYPE, where)                 \
    X(CUMSUM, IGI_ANY_TYPE, cumsum)               \
    X(MATMUL, IGI_ANY_TYPE, matmul)               \
    X(SOFTMAX, IGI_ANY_TYPE, softmax)             \
    X(LOG_SOFTMAX, IGI_ANY_TYPE, softmax)         \
    X(LAYER_NORM, IGI_ANY_TYPE, norm)             \
    X(RMS_NORM, IGI_ANY_TYPE, norm)               \
    X(GATHER, IGI_ANY_TYPE, gather)               \
    X(SCATTER, IGI_ANY_TYPE, scatter)             \
    X(INDEX_SELECT, IGI_ANY_TYPE, gather)         \
    X(SORT, IGI_ANY_TYPE, sort)                   \
    X(FILL, IGI_ANY_TYPE, generate)               \
    X(ARANGE, IGI_ANY_TYPE, generate)             \
    X(RANDOM_UNIFORM, IGI_ANY_TYPE, random)       \
    X(RANDOM_NORMAL, IGI_ANY_TYPE, random)        \
    X(CONV, IGI_ANY_TYPE, convolve)               \
    X(MAX_POOL, IGI_ANY_TYPE, convolve)           \
    X(AVG_POOL, IGI_ANY_TYPE, convolve)           \
    X(MASKED_SOFTMAX, IGI_FLOATS, masked_softmax) \
    X(ROPE, IGI_FLOATS, rope)                     \
    X(ATTENTION, IGI_FLOATS, attention)           \
    X(QUANTIZE, IGI_FLOATS, quantize)             \
    X(DEQUANTIZE, IGI_FLOATS, dequantize)         \
    X(WEIGHT_MATMUL, IGI_FLOATS, weight_matmul)

#define IGI_DECLARE_SCALAR(id, types, function) ig_status igi_scalar_##function(const igi_tensor_call *call);
IGI_SCALAR_ROWS(IGI_DECLARE_SCALAR)
#undef IGI_DECLARE_SCALAR
ig_status igi_scalar_reduce(const igi_tensor_call *call);

#endif
