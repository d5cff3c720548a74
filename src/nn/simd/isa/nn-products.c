// SPDX-License-Identifier: Apache-2.0
// Matrix products whose columns are packed vectors: a tile of the result in registers.
#include "nn/simd/isa/nn-isa.h"

// As many accumulators as the registers hold beside a row of b and a value of a.
#if defined(__AVX512F__)
enum { TILE_ROWS = 8, TILE_VECTORS = 3 };
#else
enum { TILE_ROWS = 4, TILE_VECTORS = 3 };
#endif

// `rows` and `vectors` are constants wherever this is used.
INLINE void tile(int rows, int vectors, const igi_nn_product *p, uint64_t row, uint64_t column) {
    const float *a = p->a + (int64_t)row * p->a_row, *b = p->b + column;
    vf sums[TILE_ROWS][TILE_VECTORS];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) sums[i][j] = splat(0);
    for (uint64_t t = 0; t < p->inner; t++, a += p->a_step, b += p->b_row) {
        vf x[TILE_VECTORS];
        for (int j = 0; j < vectors; j++) x[j] = load(b + j * LANES);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < vectors; j++) sums[i][j] += a[i * p->a_row] * x[j];
    }
    float *out = p->out + (int64_t)row * p->out_row + column;
    for (int i = 0; i < rows; i++, out += p->out_row)
        for (int j = 0; j < vectors; j++) {
            float *to = out + j * LANES;
            vf before = p->rescale ? load(to) * load(p->rescale + column + j * LANES) : splat(0);
            store(to, before + sums[i][j]);
        }
}

INLINE void tiles(int vectors, const igi_nn_product *p, uint64_t rows, uint64_t column) {
    uint64_t row = 0;
    for (; row + TILE_ROWS <= rows; row += TILE_ROWS) tile(TILE_ROWS, vectors, p, row, column);
    for (; row + 2 <= rows; row += 2) tile(2, vectors, p, row, column);
    if (row < rows) tile(1, vectors, p, row, column);
}

static void NAME(f32_nn_product)(const igi_nn_product *p, uint64_t rows, uint64_t columns) {
    uint64_t column = 0;
    for (; column + 3 * LANES <= columns; column += 3 * LANES) tiles(3, p, rows, column);
    for (; column < columns; column += LANES) tiles(1, p, rows, column);
}

// ---- Few rows: along the inner dimension ----

// `rows` and `keys` are constants wherever this is used.
INLINE void dots(int rows, int keys, uint64_t dim, const float *q, const float *k, int64_t k_row, float *scores,
                 uint64_t scores_row) {
    vf sums[2][4];
    uint64_t at = 0, left;
    for (int r = 0; r < rows; r++)
        for (int t = 0; t < keys; t++) sums[r][t] = splat(0);
    for (; at + LANES <= dim; at += LANES)
        for (int t = 0; t < keys; t++) {
            vf x = load(k + t * k_row + at);
            for (int r = 0; r < rows; r++) sums[r][t] += load(q + (uint64_t)r * dim + at) * x;
        }
    if ((left = dim - at))
        for (int t = 0; t < keys; t++) {
            vf x = load_part(k + t * k_row + at, left, 0);
            for (int r = 0; r < rows; r++) sums[r][t] += load_part(q + (uint64_t)r * dim + at, left, 0) * x;
        }
    for (int r = 0; r < rows; r++)
        for (int t = 0; t < keys; t++) scores[(uint64_t)r * scores_row + (uint64_t)t] = sum_of_lanes(sums[r][t]);
}

static void NAME(f32_few_scores)(uint64_t rows, uint64_t keys, uint64_t dim, const float *q, const float *k,
                                 int64_t k_row, float *scores, uint64_t scores_row) {
    uint64_t t = 0;
    for (; t + 4 <= keys; t += 4, k += 4 * k_row, scores += 4) {
        uint64_t r = 0;
        for (; r + 2 <= rows; r += 2) dots(2, 4, dim, q + r * dim, k, k_row, scores + r * scores_row, scores_row);
        if (r < rows) dots(1, 4, dim, q + r * dim, k, k_row, scores + r * scores_row, scores_row);
    }
    for (; t < keys; t++, k += k_row, scores++)
        for (uint64_t r = 0; r < rows; r++) dots(1, 1, dim, q + r * dim, k, k_row, scores + r * scores_row, scores_row);
}

// `keys` is a constant wherever this is used.
INLINE void add_values(int keys, uint64_t rows, uint64_t dim, const float *weights, uint64_t weights_row,
                       const float *v, int64_t v_row, float *out) {
    uint64_t at = 0, left;
    for (; at + LANES <= dim; at += LANES) {
        vf x[4];
        for (int t = 0; t < keys; t++) x[t] = load(v + t * v_row + at);
        for (uint64_t r = 0; r < rows; r++) {
            vf sum = load(out + r * dim + at);
            for (int t = 0; t < keys; t++) sum += weights[r * weights_row + (uint64_t)t] * x[t];
            store(out + r * dim + at, sum);
        }
    }
    if (!(left = dim - at)) return;
    for (uint64_t r = 0; r < rows; r++) {
        vf sum = load_part(out + r * dim + at, left, 0);
        for (int t = 0; t < keys; t++)
            sum += weights[r * weights_row + (uint64_t)t] * load_part(v + t * v_row + at, left, 0);
        store_part(out + r * dim + at, sum, left);
    }
}

static void NAME(f32_few_sums)(uint64_t rows, uint64_t keys, uint64_t dim, const float *weights, uint64_t weights_row,
                               const float *v, int64_t v_row, float *out) {
    uint64_t t = 0;
    for (; t + 4 <= keys; t += 4)
        add_values(4, rows, dim, weights + t, weights_row, v + (int64_t)t * v_row, v_row, out);
    for (; t < keys; t++) add_values(1, rows, dim, weights + t, weights_row, v + (int64_t)t * v_row, v_row, out);
}

void NAME(igi_nn_fill_products)(igi_nn_kernels *table) {
    table->product = NAME(f32_nn_product);
    table->few_scores = NAME(f32_few_scores);
    table->few_sums = NAME(f32_few_sums);
}
