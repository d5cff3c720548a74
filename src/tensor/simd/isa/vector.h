// SPDX-License-Identifier: Apache-2.0
// Vectors of the level this file is compiled for: GNU vector extensions, and intrinsics for what they cannot express.
#ifndef INGOT_TENSOR_SIMD_VECTOR_H
#define INGOT_TENSOR_SIMD_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define NEON 1
#endif
#if defined(__FMA__) || defined(NEON)
#define FUSES_MULTIPLY_ADD 1  // a * b + c is rounded once
#endif

enum { LANES = VECTOR_BYTES / 4 };

typedef float vf __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t vi __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t vu __attribute__((vector_size(VECTOR_BYTES)));
typedef double vd __attribute__((vector_size(VECTOR_BYTES)));

// f32_exp -> f32_exp__avx2; the build defines ISA.
#define PASTE_(a, b) a##__##b
#define PASTE(a, b) PASTE_(a, b)
#define NAME(name) PASTE(name, ISA)
#define INLINE static inline __attribute__((always_inline, unused))

INLINE vf splat(float x) {
    return x - (vf){0};
}
INLINE vi splat_int(int32_t x) {
    return x - (vi){0};
}
INLINE vf load(const float *from) {
    vf v;
    memcpy(&v, from, sizeof v);
    return v;
}
INLINE void store(float *to, vf v) {
    memcpy(to, &v, sizeof v);
}
// pre: `to` is aligned to a vector
INLINE void store_past_caches(float *to, vf v) {
#if defined(__AVX512F__)
    _mm512_stream_ps(to, (__m512)v);
#elif defined(__AVX2__)
    _mm256_stream_ps(to, (__m256)v);
#elif defined(__SSE2__)
    _mm_stream_ps(to, (__m128)v);
#else
    store(to, v);
#endif
}
INLINE void finish_stores_past_caches(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}
// The number of elements before `to` is aligned to a vector; all of them if it never is.
INLINE uint64_t unaligned_head(const float *to, uint64_t count) {
    uintptr_t off = (uintptr_t)to % VECTOR_BYTES;
    uint64_t elements = off ? (VECTOR_BYTES - off) / sizeof *to : 0;
    return elements < count ? elements : count;
}
INLINE vf choose(vi condition, vf a, vf b) {
#if defined(__AVX2__) && !defined(__AVX512F__)
    return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)condition);
#elif defined(NEON)
    return (vf)vbslq_f32((uint32x4_t)condition, (float32x4_t)a, (float32x4_t)b);
#else
    return (vf)(((vi)a & condition) | ((vi)b & ~condition));
#endif
}
// `a` where x has its sign bit set, else `b`.
INLINE vf by_sign(vf x, vf a, vf b) {
#if defined(__AVX512F__)
    return (vf)_mm512_mask_mov_ps((__m512)b, _mm512_movepi32_mask((__m512i)x), (__m512)a);
#elif defined(__AVX2__)
    return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)x);
#else
    return choose((vi)x >> 31, a, b);
#endif
}

// a > b ? a : b and a < b ? a : b: if one is NaN, b.
INLINE vf larger(vf a, vf b) {
#if defined(__AVX512F__)
    return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (vf)_mm_max_ps((__m128)a, (__m128)b);
#else
    return choose(a > b, a, b);
#endif
}
INLINE vf smaller(vf a, vf b) {
#if defined(__AVX512F__)
    return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (vf)_mm_min_ps((__m128)a, (__m128)b);
#else
    return choose(a < b, a, b);
#endif
}
// NaN is kept.
INLINE vf at_most(vf x, float bound) {
    return smaller(splat(bound), x);
}
INLINE vf at_least(vf x, float bound) {
    return larger(splat(bound), x);
}

#if defined(__AVX512F__)
#define MASK(count) ((__mmask16)((1u << (count)) - 1))
#elif defined(__AVX2__)
INLINE __m256i mask(uint64_t count) {
    return (__m256i)((vi){0, 1, 2, 3, 4, 5, 6, 7} < splat_int((int32_t)count));
}
#endif
// The first `count` < LANES elements, then `rest`; nothing after them is accessed.
INLINE vf load_part(const float *from, uint64_t count, float rest) {
#if defined(__AVX512F__)
    return (vf)_mm512_mask_loadu_ps((__m512)splat(rest), MASK(count), from);
#elif defined(__AVX2__)
    return choose((vi)mask(count), (vf)_mm256_maskload_ps(from, mask(count)), splat(rest));
#else
    vf v = splat(rest);
    memcpy(&v, from, count * sizeof *from);
    return v;
#endif
}
INLINE void store_part(float *to, vf v, uint64_t count) {
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(to, MASK(count), (__m512)v);
#elif defined(__AVX2__)
    _mm256_maskstore_ps(to, mask(count), (__m256)v);
#else
    memcpy(to, &v, count * sizeof *to);
#endif
}
INLINE bool any(vi condition) {
#if defined(__AVX512F__)
    return _mm512_movepi32_mask((__m512i)condition) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_ps((__m256)condition) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_ps((__m128)condition) != 0;
#elif defined(NEON)
    return vmaxvq_u32((uint32x4_t)condition) != 0;
#else
    int32_t together = 0;
    for (int i = 0; i < LANES; i++) together |= condition[i];
    return together != 0;
#endif
}
INLINE vf absolute(vf x) {
    return (vf)((vi)x & 0x7fffffff);
}
INLINE vf with_sign(vf magnitude, vf sign) {
    return (vf)((vi)absolute(magnitude) | ((vi)sign & INT32_MIN));
}
INLINE vi is_nan(vf x) {
    return x != x;
}
INLINE vf square_root(vf x) {
#if defined(__AVX512F__)
    return (vf)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX2__)
    return (vf)_mm256_sqrt_ps((__m256)x);
#elif defined(__SSE2__)
    return (vf)_mm_sqrt_ps((__m128)x);
#elif defined(NEON)
    return (vf)vsqrtq_f32((float32x4_t)x);
#else
    for (int i = 0; i < LANES; i++) x[i] = __builtin_sqrtf(x[i]);
    return x;
#endif
}
INLINE vf to_float(vi x) {
    return __builtin_convertvector(x, vf);
}
// To the nearest integer, ties to even. pre: |x| < 2^22 (or NaN, whose result is unspecified)
INLINE vf nearest_small(vf x, vi *integer) {
    const vf magic = splat(0x1.8p23F);
    vf shifted = x + magic;
    *integer = (vi)shifted - (vi)magic;
    return shifted - magic;
}
#if defined(NEON)
INLINE vf round_even(vf x) {
    return (vf)vrndnq_f32((float32x4_t)x);
}
INLINE vf floor_of(vf x) {
    return (vf)vrndmq_f32((float32x4_t)x);
}
INLINE vf ceil_of(vf x) {
    return (vf)vrndpq_f32((float32x4_t)x);
}
#else
// From 2^23 on every float is an integer; the sign of zero is kept.
INLINE vf round_even(vf x) {
    vf magic = with_sign(splat(0x1p23F), x), rounded = (x + magic) - magic;
    return choose(absolute(x) < splat(0x1p23F), with_sign(rounded, x), x);
}
INLINE vf floor_of(vf x) {
    vf rounded = round_even(x);
    return choose(rounded > x, rounded - 1, rounded);
}
INLINE vf ceil_of(vf x) {
    vf rounded = round_even(x);
    return with_sign(choose(rounded < x, rounded + 1, rounded), x);
}
#endif

#endif
