// SPDX-License-Identifier: Apache-2.0
// gelu on machines that can collect lanes: the middle has a short formula, and the few elements outside of it are
// gathered into whole vectors for the long one. The result of an element does not depend on its neighbours.
#include "tensor/simd/isa/isa.h"
#include "tensor/simd/isa/math.h"

#if defined(__AVX512F__)
enum { BLOCK_VECTORS = 32 };

// x Phi(x), where Phi(x) - 1/2 is x times a polynomial of x^2, with an error of 1.4e-8 of Phi(x).
INLINE vf gelu_middle(vf x) {
    vf z = x * x;
    vf p = z * 3.44786486e-07F - 8.20808236e-06F;
    p = p * z + 1.12850365e-04F;
    p = p * z - 1.18433568e-03F;
    p = p * z + 9.97172017e-03F;
    p = p * z - 6.64898604e-02F;
    p = p * z + 3.98942232e-01F;
    return x * (p * x + 0.5F);
}

// Farther to the left, cancellation against 1/2 would lose too many digits.
INLINE __mmask16 outside_middle(vf x) {
    return _mm512_cmp_ps_mask((__m512)x, (__m512)splat(-1.25F), _CMP_LT_OQ) |
           _mm512_cmp_ps_mask((__m512)x, (__m512)splat(1.75F), _CMP_GT_OQ);
}

static void gelu_block(uint64_t vectors, const float *a, float *out, bool stream) {
    float middle[BLOCK_VECTORS * LANES], outside[(BLOCK_VECTORS + 1) * LANES];
    __mmask16 masks[BLOCK_VECTORS];
    uint64_t count = 0;
    for (uint64_t v = 0; v < vectors; v++) {
        vf x = load(a + v * LANES);
        masks[v] = outside_middle(x);
        store(outside + count, (vf)_mm512_maskz_compress_ps(masks[v], (__m512)x));
        store(middle + v * LANES, gelu_middle(x));
        count += (uint64_t)__builtin_popcount(masks[v]);
    }
    store(outside + count, splat(0));
    for (uint64_t i = 0; i < count; i += LANES) store(outside + i, gelu_of(load(outside + i)));
    const float *next = outside;
    for (uint64_t v = 0; v < vectors; v++) {
        vf y = load(middle + v * LANES);
        y = (vf)_mm512_mask_expand_ps((__m512)y, masks[v], (__m512)load(next));
        next += __builtin_popcount(masks[v]);
        if (stream)
            store_past_caches(out + v * LANES, y);
        else
            store(out + v * LANES, y);
    }
}

static void gelu_part(uint64_t count, const float *a, float *out) {
    vf x = load_part(a, count, 0);
    vf y = (vf)_mm512_mask_mov_ps((__m512)gelu_middle(x), outside_middle(x), (__m512)gelu_of(x));
    store_part(out, y, count);
}

static void NAME(f32_gelu)(uint64_t count, const float *a, float *out, const igi_tensor_parameters *p, bool stream) {
    (void)p;
    uint64_t at = stream ? unaligned_head(out, count) : 0;
    if (at) gelu_part(at, a, out);
    for (uint64_t vectors; at + LANES <= count; at += vectors * LANES) {
        vectors = (count - at) / LANES < BLOCK_VECTORS ? (count - at) / LANES : BLOCK_VECTORS;
        gelu_block(vectors, a + at, out + at, stream);
    }
    if (stream) finish_stores_past_caches();
    if (at < count) gelu_part(count - at, a + at, out + at);
}
#endif

void NAME(igi_simd_fill_gelu)(igi_simd_kernels *table) {
#if defined(__AVX512F__)
    table->unary[IG_OP_GELU] = NAME(f32_gelu);
#else
    (void)table;  // isa/elementwise.c has it
#endif
}
