// SPDX-License-Identifier: Apache-2.0
// Floats to blocks of weights: the same bytes as the reference (nn/scalar/weights.c), whatever the values.
#include <math.h>

#include "tensor/nn/simd/isa/nn-isa.h"

enum { BLOCK = 32, HALF = BLOCK / 2, Q8_BYTES = 34, Q4_BYTES = 18 };

static void put_scale(uint8_t *block, float scale) {
#if defined(__F16C__)
    uint16_t bits = _cvtss_sh(scale, _MM_FROUND_TO_NEAREST_INT);
#else
    _Float16 bits = (_Float16)scale;
#endif
    memcpy(block, &bits, sizeof bits);
}

// The largest lane. pre: none is NaN
INLINE float largest_lane(vf v) {
    union {
        vf whole;
        vquad quads[VECTOR_BYTES / 16];
    } parts = {v};
    vquad best = parts.quads[0];
    for (int i = 1; i < VECTOR_BYTES / 16; i++) {
        typedef int32_t bits __attribute__((vector_size(16)));
        bits above = parts.quads[i] > best;
        best = (vquad)(((bits)parts.quads[i] & above) | ((bits)best & ~above));
    }
    float left = best[0] > best[1] ? best[0] : best[1], right = best[2] > best[3] ? best[2] : best[3];
    return left > right ? left : right;
}

typedef int8_t vbytes __attribute__((vector_size(LANES)));

// Clamped between two numbers; NaN gives the lower one.
INLINE vf bounded(vf x, float low, float high) {
    return smaller(larger(x, splat(low)), splat(high));
}

// Halfway cases away from zero: truncation is exact, unlike adding one half.
INLINE vi rounded(vf x) {
    vi n = __builtin_convertvector(x, vi);
    vf cut = x - __builtin_convertvector(n, vf);
    return n - (cut >= splat(0.5F)) + (cut <= splat(-0.5F));
}

static void NAME(q8_0_quantize)(uint64_t blocks, const float *restrict x, uint8_t *restrict row) {
    for (uint64_t b = 0; b < blocks; b++, row += Q8_BYTES, x += BLOCK) {
        vf most = splat(0);
        for (int i = 0; i < BLOCK; i += LANES) most = larger((vf)((vi)load(x + i) & 0x7fffffff), most);
        float scale = largest_lane(most) / 127, inverse = scale != 0 ? 1 / scale : 0;
        put_scale(row, scale);
        for (int i = 0; i < BLOCK; i += LANES) {
            vbytes bytes = __builtin_convertvector(rounded(bounded(load(x + i) * inverse, -128, 127)), vbytes);
            memcpy(row + 2 + i, &bytes, sizeof bytes);
        }
    }
}

#if defined(FUSES_MULTIPLY_ADD)
// The element of the greatest magnitude, the first of several.
INLINE float extreme(const float *x) {
    vf high = splat(0), low = splat(0);
    for (int i = 0; i < BLOCK; i += LANES) {
        vf a = load(x + i);
        high = larger(a, high), low = larger(-a, low);
    }
    float above = largest_lane(high), below = largest_lane(low);
    if (above != below) return above > below ? above : -below;
    for (int i = 0; i < BLOCK; i++)
        if (fabsf(x[i]) == above) return above == 0 ? 0 : x[i];
    return 0;
}

// Rounded only once.
INLINE vi four_bits(const float *x, float inverse) {
#if defined(__AVX512F__)
    vf scaled = (vf)_mm512_fmadd_ps((__m512)load(x), (__m512)splat(inverse), (__m512)splat(8.5F));
#elif defined(NEON)
    vf scaled = (vf)vfmaq_f32(vdupq_n_f32(8.5F), vld1q_f32(x), vdupq_n_f32(inverse));
#else
    vf scaled = (vf)_mm256_fmadd_ps((__m256)load(x), (__m256)splat(inverse), (__m256)splat(8.5F));
#endif
    return __builtin_convertvector(bounded(scaled, 0, 15), vi);
}

static void NAME(q4_0_quantize)(uint64_t blocks, const float *restrict x, uint8_t *restrict row) {
    for (uint64_t b = 0; b < blocks; b++, row += Q4_BYTES, x += BLOCK) {
        float scale = extreme(x) / -8, inverse = scale != 0 ? 1 / scale : 0;
        put_scale(row, scale);
        for (int i = 0; i < HALF; i += LANES) {
            vi both = four_bits(x + i, inverse) | four_bits(x + i + HALF, inverse) << 4;
            vbytes bytes = __builtin_convertvector(both, vbytes);
            memcpy(row + 2 + i, &bytes, sizeof bytes);
        }
    }
}
#endif

void NAME(igi_nn_fill_quantize)(igi_nn_kernels *table) {
    table->quantize[IG_WEIGHT_Q8_0] = NAME(q8_0_quantize);
#if defined(FUSES_MULTIPLY_ADD)
    table->quantize[IG_WEIGHT_Q4_0] = NAME(q4_0_quantize);
#endif
}
