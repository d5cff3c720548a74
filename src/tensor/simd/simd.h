// SPDX-License-Identifier: Apache-2.0
// What the drivers of the simd backend share: elements of any float type and stride, as packed floats.
#ifndef INGOT_TENSOR_SIMD_H
#define INGOT_TENSOR_SIMD_H

#include "tensor/runtime.h"
#include "tensor/simd/kernels.h"

// Elements converted at a time: they stay in the first cache.
enum { IGI_SIMD_CHUNK = 1024 };
// Elements a thread takes at a time.
enum { IGI_SIMD_GRAIN = 1 << 15 };
// Results this large would only push everything else out of the caches: they are written past them.
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

ig_status igi_simd_unary(const igi_call *call);
ig_status igi_simd_unary_test(const igi_call *call);
ig_status igi_simd_binary(const igi_call *call);
ig_status igi_simd_compare(const igi_call *call);
ig_status igi_simd_where(const igi_call *call);
bool igi_simd_accepts_cast(const igi_call *call);
ig_status igi_simd_cast(const igi_call *call);
ig_status igi_simd_copy(const igi_call *call);
ig_status igi_simd_reduce(const igi_call *call);
ig_status igi_simd_softmax(const igi_call *call);
ig_status igi_simd_norm(const igi_call *call);
ig_status igi_simd_cumsum(const igi_call *call);
bool igi_simd_accepts_sort(const igi_call *call);
ig_status igi_simd_sort(const igi_call *call);
bool igi_simd_accepts_convolve(const igi_call *call);
ig_status igi_simd_convolve(const igi_call *call);
bool igi_simd_accepts_matmul(const igi_call *call);
ig_status igi_simd_matmul(const igi_call *call);
ig_status igi_simd_random(const igi_call *call);
ig_status igi_simd_fill_values(const igi_call *call);
ig_status igi_simd_index_select(const igi_call *call);

#endif
