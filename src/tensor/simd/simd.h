// SPDX-License-Identifier: Apache-2.0
// What the drivers of the simd backend share: elements of any float type and stride, as packed floats.
#ifndef INGOT_TENSOR_SIMD_H
#define INGOT_TENSOR_SIMD_H

#include "tensor/runtime.h"
#include "tensor/simd/kernels.h"

// Elements converted at a time: they stay in the first-level cache.
enum { IGI_SIMD_CHUNK = 1024 };
// Elements a thread takes at a time.
enum { IGI_SIMD_GRAIN = 1 << 15 };
// Results this large would only evict everything else from the caches: they are written past them.
enum { IGI_SIMD_STREAM_BYTES = 8 << 20 };

static inline bool igi_simd_is_packed(ig_type type, int64_t stride) {
    return type == IG_TYPE_F32 && stride == sizeof(float);
}
// Packs `count` elements, at most a chunk, `stride` bytes apart, as floats.
void igi_simd_load(const igi_simd_kernels *k, ig_type type, const char *from, int64_t stride, uint64_t count,
                   float *to);
void igi_simd_store(const igi_simd_kernels *k, ig_type type, const float *from, char *to, int64_t stride,
                    uint64_t count);
// Any length.
void igi_simd_load_all(const igi_simd_kernels *k, ig_type type, const char *from, int64_t stride, uint64_t count,
                       float *to);
void igi_simd_store_all(const igi_simd_kernels *k, ig_type type, const float *from, char *to, int64_t stride,
                        uint64_t count);

// The rows of ops that are in none of the public lists of unary ops and reductions: op, types, accepted calls (NULL:
// all), function.
#define IGI_SIMD_ROWS(X)                                                \
    X(LEAKY_RELU, IGI_FLOATS, NULL, unary)                              \
    X(CLAMP, IGI_FLOATS, NULL, unary)                                   \
    X(ADD, IGI_NUMBERS, NULL, binary)                                   \
    X(SUB, IGI_NUMBERS, NULL, binary)                                   \
    X(MUL, IGI_NUMBERS, NULL, binary)                                   \
    X(MAXIMUM, IGI_NUMBERS, NULL, binary)                               \
    X(MINIMUM, IGI_NUMBERS, NULL, binary)                               \
    X(DIV, IGI_FLOATS, NULL, binary)                                    \
    X(POW, IGI_FLOATS, NULL, binary)                                    \
    X(MOD, IGI_FLOATS, NULL, binary)                                    \
    X(ATAN2, IGI_FLOATS, NULL, binary)                                  \
    X(SILU_MUL, IGI_FLOATS, NULL, binary)                               \
    X(EQUAL, IGI_NUMBERS, NULL, compare)                                \
    X(NOT_EQUAL, IGI_NUMBERS, NULL, compare)                            \
    X(LESS, IGI_NUMBERS, NULL, compare)                                 \
    X(LESS_EQUAL, IGI_NUMBERS, NULL, compare)                           \
    X(GREATER, IGI_NUMBERS, NULL, compare)                              \
    X(GREATER_EQUAL, IGI_NUMBERS, NULL, compare)                        \
    X(LOGICAL_AND, IGI_FLOATS, NULL, compare)                           \
    X(LOGICAL_OR, IGI_FLOATS, NULL, compare)                            \
    X(LOGICAL_XOR, IGI_FLOATS, NULL, compare)                           \
    X(WHERE, IGI_FLOATS, NULL, where)                                   \
    X(COPY, IGI_ANY_TYPE, NULL, copy)                                   \
    X(CAST, IGI_ANY_TYPE, igi_simd_accepts_cast, cast)                  \
    X(CUMSUM, IGI_FLOATS, NULL, cumsum)                                 \
    X(SOFTMAX, IGI_FLOATS, NULL, softmax)                               \
    X(LOG_SOFTMAX, IGI_FLOATS, NULL, softmax)                           \
    X(LAYER_NORM, IGI_FLOATS, NULL, norm)                               \
    X(RMS_NORM, IGI_FLOATS, NULL, norm)                                 \
    X(MATMUL, IGI_FLOATS, igi_simd_accepts_matmul, matmul)              \
    X(CONV, IGI_FLOATS, igi_simd_accepts_convolve, convolve)            \
    X(SORT, IGI_ANY_TYPE & ~IGI_TYPE(I64), igi_simd_accepts_sort, sort) \
    X(INDEX_SELECT, IGI_ANY_TYPE, NULL, index_select)                   \
    X(FILL, IGI_ANY_TYPE, NULL, fill_values)                            \
    X(RANDOM_UNIFORM, IGI_FLOATS, NULL, random)                         \
    X(RANDOM_NORMAL, IGI_FLOATS, NULL, random)                          \
    X(MASKED_SOFTMAX, IGI_FLOATS, NULL, masked_softmax)                 \
    X(ROPE, IGI_FLOATS, NULL, rope)                                     \
    X(ATTENTION, IGI_FLOATS, NULL, attention)                           \
    X(QUANTIZE, IGI_FLOATS, NULL, quantize)                             \
    X(DEQUANTIZE, IGI_FLOATS, NULL, dequantize)                         \
    X(WEIGHT_MATMUL, IGI_FLOATS, NULL, weight_matmul)

#define IGI_DECLARE_SIMD(id, types, accepts, function) ig_status igi_simd_##function(const igi_tensor_call *call);
IGI_SIMD_ROWS(IGI_DECLARE_SIMD)
#undef IGI_DECLARE_SIMD
ig_status igi_simd_unary_test(const igi_tensor_call *call);
ig_status igi_simd_reduce(const igi_tensor_call *call);
bool igi_simd_accepts_cast(const igi_tensor_call *call);
bool igi_simd_accepts_convolve(const igi_tensor_call *call);
bool igi_simd_accepts_matmul(const igi_tensor_call *call);
bool igi_simd_accepts_sort(const igi_tensor_call *call);

#endif
