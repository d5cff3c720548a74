// SPDX-License-Identifier: Apache-2.0
// gelu on machines that can collect lanes: the middle has a short formula, and the few elements outside of it are
// gathered into whole vectors for the long one. The result of an element does not depend on its neighbours.
#include "tensor/simd/isa/collect.h"
#include "tensor/simd/isa/isa.h"
#include "tensor/simd/isa/math.h"

#if defined(CAN_COLLECT)
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
INLINE lane_set outside_middle(vf x) {
    return lanes_outside(x, -1.25F, 1.75F);
}

static bool any_outside(uint64_t vectors, const float *a) {
    for (uint64_t begin = 0; begin < vectors; begin += 8) {
        uint64_t end = vectors - begin < 8 ? vectors : begin + 8;
        vf least = splat(0), most = splat(0);
        for (uint64_t v = begin; v < end; v++) {
            least = smaller(load(a + v * LANES), least);
            most = larger(load(a + v * LANES), most);
        }
        if (bits_of(outside_middle(least)) || bits_of(outside_middle(most))) return true;
    }
    return false;
}

INLINE void put(float *out, vf y, bool stream) {
    if (stream)
        store_past_caches(out, y);
    else
        store(out, y);
}

static void middle_block(uint64_t vectors, const float *a, float *out, bool stream) {
    for (uint64_t v = 0; v < vectors; v++) put(out + v * LANES, gelu_middle(load(a + v * LANES)), stream);
}

static void mixed_block(uint64_t vectors, const float *a, float *out, bool stream) {
    float outside[(BLOCK_VECTORS + 1) * LANES];
    lane_set lanes[BLOCK_VECTORS];
    uint64_t count = 0;
    for (uint64_t v = 0; v < vectors; v++) {
        vf x = load(a + v * LANES);
        lanes[v] = outside_middle(x);
        collect(outside + count, x, lanes[v]);
        count += (uint64_t)__builtin_popcount(bits_of(lanes[v]));
    }
    store(outside + count, splat(0));
    for (uint64_t i = 0; i < count; i += LANES) store(outside + i, gelu_of(load(outside + i)));
    const float *next = outside;
    for (uint64_t v = 0; v < vectors; v++) {
        put(out + v * LANES, put_back(gelu_middle(load(a + v * LANES)), next, lanes[v]), stream);
        next += __builtin_popcount(bits_of(lanes[v]));
    }
}

static void gelu_part(uint64_t count, const float *a, float *out) {
    vf x = load_part(a, count, 0);
    store_part(out, choose_lanes(outside_middle(x), gelu_of(x), gelu_middle(x)), count);
}

static void NAME(f32_gelu)(uint64_t count, const float *a, float *out, const igi_tensor_parameters *p, bool stream) {
    (void)p;
    uint64_t at = stream ? unaligned_head(out, count) : 0;
    if (at) gelu_part(at, a, out);
    for (uint64_t vectors; at + LANES <= count; at += vectors * LANES) {
        vectors = (count - at) / LANES < BLOCK_VECTORS ? (count - at) / LANES : BLOCK_VECTORS;
        (any_outside(vectors, a + at) ? mixed_block : middle_block)(vectors, a + at, out + at, stream);
    }
    if (stream) finish_stores_past_caches();
    if (at < count) gelu_part(count - at, a + at, out + at);
}
#endif

void NAME(igi_simd_fill_gelu)(igi_simd_kernels *table) {
#if defined(CAN_COLLECT)
    table->unary[IG_OP_GELU] = NAME(f32_gelu);
#else
    (void)table;  // isa/elementwise.c has it
#endif
}
