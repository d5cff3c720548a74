// SPDX-License-Identifier: Apache-2.0
// Ops as MSL kernels on the device: what the implementations share.
#ifndef INGOT_TENSOR_MSL_H
#define INGOT_TENSOR_MSL_H

#include "tensor/runtime.h"

// The pipeline of a kernel in src/kernels/FILE.metal, compiled on first use and kept. Borrowed from the runtime.
// `constants` specialise it; different values are different pipelines.
ig_status igi_op_pipeline(igi_tensor_runtime *runtime, const char *file, const char *kernel,
                          const ig_function_constant *constants, size_t constant_count, ig_pipeline **pipeline,
                          ig_error *error);

// One dispatch being encoded. After a failure the other calls do nothing.
typedef struct igi_tensor_msl_encoder {
    const igi_tensor_call *call;
    ig_status status;
} igi_tensor_msl_encoder;

// `kernel` is a format for printf. `consecutive` is the kernels' function constant of that name; 0 if they have none.
igi_tensor_msl_encoder igi_tensor_msl_begin(const igi_tensor_call *call, const char *file, uint32_t consecutive,
                                            const char *kernel, ...) __attribute__((format(printf, 4, 5)));
// Binds the memory of a view so that its first element is at the start.
void igi_tensor_msl_view(igi_tensor_msl_encoder *e, const igi_tensor_view *view, uint32_t slot);
void igi_tensor_msl_storage(igi_tensor_msl_encoder *e, const igi_tensor_storage *storage, uint64_t offset,
                            uint32_t slot);
void igi_tensor_msl_bytes(igi_tensor_msl_encoder *e, const void *bytes, uint64_t length, uint32_t slot);
void igi_tensor_msl_threads(igi_tensor_msl_encoder *e, ig_size grid);  // in groups whose size the device chooses
void igi_tensor_msl_groups(igi_tensor_msl_encoder *e, ig_size groups, ig_size group);

// The struct Layout of the kernels: shape and strides of up to four operands, the output first, with dimensions merged.
typedef struct igi_tensor_msl_layout {
    uint32_t rank;
    uint32_t shape[IG_MAX_RANK];
    int32_t strides[4][IG_MAX_RANK];
} igi_tensor_msl_layout;
void igi_tensor_msl_layout_of(uint32_t operands, const igi_tensor_view *const *views, igi_tensor_msl_layout *layout);
// Which operands are contiguous along the last dimension. None for few elements, because each combination is a separate
// kernel.
uint32_t igi_tensor_msl_consecutive(const igi_tensor_msl_layout *layout, uint32_t operands);
// Whether every offset within the view fits the kernels' 32 bits; the same for all operands of a call.
bool igi_tensor_msl_can_index(const igi_tensor_view *view);
// The strides of a view of four dimensions, in the form that kernels use.
static inline void igi_tensor_msl_strides(int32_t strides[4], const igi_tensor_view *view) {
    for (int i = 0; i < 4; i++) strides[i] = (int32_t)view->strides[i];
}
// In the form that kernels use; what does not fit is practically infinite.
static inline uint32_t igi_tensor_msl_limited(uint64_t value) {
    return value < INT32_MAX ? (uint32_t)value : INT32_MAX;
}
bool igi_tensor_msl_accepts_all(const igi_tensor_call *call);
// The kernels' name of a type that they treat as an integer: bool is u8.
const char *igi_tensor_msl_bits_name(ig_type type);

// The rows of ops that are in none of the public lists of elementwise ops and reductions: op, types, accepted calls,
// function.
#define IGI_MSL_WIDE (IGI_TYPE(I32) | IGI_TYPE(I64))
#define IGI_MSL_ROWS(X)                                                           \
    X(LEAKY_RELU, IGI_FLOATS, igi_tensor_msl_accepts_all, unary)                  \
    X(CLAMP, IGI_NUMBERS, igi_tensor_msl_accepts_all, unary)                      \
    X(MATMUL, IGI_FLOATS | IGI_MSL_WIDE, igi_tensor_msl_accepts_all, matmul)      \
    X(SOFTMAX, IGI_FLOATS, igi_tensor_msl_accepts_all, along)                     \
    X(LOG_SOFTMAX, IGI_FLOATS, igi_tensor_msl_accepts_all, along)                 \
    X(CUMSUM, IGI_ANY_TYPE, igi_tensor_msl_accepts_all, along)                    \
    X(LAYER_NORM, IGI_FLOATS, igi_tensor_msl_accepts_all, norm)                   \
    X(RMS_NORM, IGI_FLOATS, igi_tensor_msl_accepts_all, norm)                     \
    X(CAST, IGI_ANY_TYPE, igi_tensor_msl_accepts_all, convert)                    \
    X(COPY, IGI_ANY_TYPE, igi_tensor_msl_accepts_all, convert)                    \
    X(WHERE, IGI_ANY_TYPE, igi_tensor_msl_accepts_all, where)                     \
    X(FILL, IGI_ANY_TYPE, igi_tensor_msl_accepts_all, fill)                       \
    X(ARANGE, IGI_NUMBERS, igi_tensor_msl_accepts_arange, arange)                 \
    X(RANDOM_UNIFORM, IGI_FLOATS, igi_tensor_msl_accepts_all, random)             \
    X(RANDOM_NORMAL, IGI_FLOATS, igi_tensor_msl_accepts_all, random)              \
    X(GATHER, IGI_ANY_TYPE, igi_tensor_msl_accepts_gather, gather)                \
    X(INDEX_SELECT, IGI_ANY_TYPE, igi_tensor_msl_accepts_gather, gather)          \
    X(SCATTER, IGI_ANY_TYPE, igi_tensor_msl_accepts_scatter, scatter)             \
    X(SORT, IGI_ANY_TYPE, igi_tensor_msl_accepts_all, sort)                       \
    X(CONV, IGI_FLOATS | IGI_MSL_WIDE, igi_tensor_msl_accepts_convolve, convolve) \
    X(MAX_POOL, IGI_NUMBERS, igi_tensor_msl_accepts_convolve, convolve)           \
    X(AVG_POOL, IGI_FLOATS, igi_tensor_msl_accepts_convolve, convolve)            \
    X(MASKED_SOFTMAX, IGI_FLOATS, igi_tensor_msl_accepts_all, masked_softmax)     \
    X(ROPE, IGI_FLOATS, igi_tensor_msl_accepts_all, rope)                         \
    X(ATTENTION, IGI_FLOATS, igi_tensor_msl_accepts_attention, attention)         \
    X(QUANTIZE, IGI_FLOATS, igi_tensor_msl_accepts_weight, quantize)              \
    X(DEQUANTIZE, IGI_FLOATS, igi_tensor_msl_accepts_weight, dequantize)          \
    X(WEIGHT_MATMUL, IGI_FLOATS, igi_tensor_msl_accepts_weight, weight_matmul)

#define IGI_DECLARE_MSL(id, types, accepts, function) ig_status igi_tensor_msl_##function(const igi_tensor_call *call);
IGI_MSL_ROWS(IGI_DECLARE_MSL)
#undef IGI_DECLARE_MSL
ig_status igi_tensor_msl_binary(const igi_tensor_call *call);
ig_status igi_tensor_msl_reduce(const igi_tensor_call *call);
ig_status igi_tensor_msl_integers(const igi_tensor_call *call);  // unary and binary ops of integers
bool igi_tensor_msl_accepts_arange(const igi_tensor_call *call);
bool igi_tensor_msl_accepts_attention(const igi_tensor_call *call);
bool igi_tensor_msl_accepts_convolve(const igi_tensor_call *call);
bool igi_tensor_msl_accepts_gather(const igi_tensor_call *call);
bool igi_tensor_msl_accepts_scatter(const igi_tensor_call *call);
bool igi_tensor_msl_accepts_weight(const igi_tensor_call *call);

#endif
