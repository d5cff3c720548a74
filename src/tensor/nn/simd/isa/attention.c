// SPDX-License-Identifier: Apache-2.0
// Softmax a block at a time (Milakov and Gimelshein, 2018): earlier sums are scaled down when a greater score is found.
#include "tensor/nn/simd/isa/nn-isa.h"
#include "tensor/simd/isa/math.h"

// Masks the keys that a column does not see.
static void hide(const igi_nn_block *b, uint64_t column) {
    vi begin, end;
    memcpy(&begin, b->begin + column, sizeof begin);
    memcpy(&end, b->end + column, sizeof end);
    float *at = b->scores + column;
    for (uint64_t t = 0; t < b->keys; t++, at += b->columns) {
        vi key = splat_int((int32_t)t);
        store(at, choose((key >= begin) & (key < end), load(at), splat(-INFINITY)));
    }
}

static void soften_vector(const igi_nn_block *b, uint64_t column) {
    float *at = b->scores + column;
    vf before = load(b->most + column), most = before;
    for (uint64_t t = 0; t < b->keys; t++) most = larger(load(at + t * b->columns), most);
    // If nothing was seen so far, scores stay -inf and all weights 0.
    vf shift = choose(most == splat(-INFINITY), splat(0), most), sum = splat(0);
    for (uint64_t t = 0; t < b->keys; t++) {
        vf weight = exp_of_small(load(at + t * b->columns) - shift);
        sum += weight;
        store(at + t * b->columns, weight);
    }
    vf rescale = exp_of_small(before - shift);
    store(b->rescale + column, rescale);
    store(b->sum + column, load(b->sum + column) * rescale + sum);
    store(b->most + column, most);
}

static void NAME(f32_soften)(const igi_nn_block *b) {
    for (uint64_t column = 0; column < b->columns; column += LANES) {
        if (b->begin) hide(b, column);
        soften_vector(b, column);
    }
}

static float NAME(f32_exponentials)(uint64_t count, float *x, float shift) {
    vf sum = splat(0);
    uint64_t at = 0;
    for (; at + LANES <= count; at += LANES) {
        vf e = exp_of_small(load(x + at) - shift);
        sum += e;
        store(x + at, e);
    }
    if (at < count) {
        vf e = exp_of_small(load_part(x + at, count - at, -INFINITY) - shift);
        sum += e;
        store_part(x + at, e, count - at);
    }
    return sum_of_lanes(sum);
}

void NAME(igi_nn_fill_attention)(igi_nn_kernels *table) {
    table->soften = NAME(f32_soften);
    table->exponentials = NAME(f32_exponentials);
}
