// SPDX-License-Identifier: Apache-2.0
// Matrix products whose columns are packed vectors: a tile of the result is kept in registers.
#include "tensor/nn/simd/isa/nn-isa.h"

// As many accumulators as fit into registers besides a row of b and a value of a.
#if defined(__AVX512F__) || defined(NEON)
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

// `type`, `rows` and `keys` are constants wherever these are used.
INLINE vf load_kept(ig_type type, const void *from, int64_t at) {
    if (type == IG_TYPE_F16) return load_f16((const uint16_t *)from + at);
    if (type == IG_TYPE_BF16) return load_bf16((const uint16_t *)from + at);
    return load((const float *)from + at);
}

INLINE vf load_kept_part(ig_type type, const void *from, int64_t at, uint64_t count) {
    uint16_t part[LANES] = {0};
    if (type == IG_TYPE_F32) return load_part((const float *)from + at, count, 0);
    memcpy(part, (const uint16_t *)from + at, count * sizeof *part);
    return load_kept(type, part, 0);
}

INLINE void dots(ig_type type, int rows, int keys, const igi_nn_few *f, uint64_t row, uint64_t key) {
    int64_t first = (int64_t)key * f->kept_row, dim = (int64_t)f->dim, at = 0;
    const float *q = f->q + row * f->dim;
    vf sums[2][4];
    for (int r = 0; r < rows; r++)
        for (int t = 0; t < keys; t++) sums[r][t] = splat(0);
    for (; at + LANES <= dim; at += LANES)
        for (int t = 0; t < keys; t++) {
            vf x = load_kept(type, f->kept, first + t * f->kept_row + at);
            for (int r = 0; r < rows; r++) sums[r][t] += load(q + r * dim + at) * x;
        }
    if (at < dim)
        for (int t = 0; t < keys; t++) {
            uint64_t left = (uint64_t)(dim - at);
            vf x = load_kept_part(type, f->kept, first + t * f->kept_row + at, left);
            for (int r = 0; r < rows; r++) sums[r][t] += load_part(q + r * dim + at, left, 0) * x;
        }
    float *scores = f->scores + row * f->scores_row + key;
    for (int r = 0; r < rows; r++, scores += f->scores_row)
        if (keys == 4) {
            vquad all = sums_of_lanes(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
            memcpy(scores, &all, sizeof all);
        } else {
            *scores = sum_of_lanes(sums[r][0]);
        }
}

INLINE void score(ig_type type, const igi_nn_few *f) {
    uint64_t key = 0, row;
    for (; key + 4 <= f->keys; key += 4) {
        for (row = 0; row + 2 <= f->rows; row += 2) dots(type, 2, 4, f, row, key);
        if (row < f->rows) dots(type, 1, 4, f, row, key);
    }
    for (; key < f->keys; key++)
        for (row = 0; row < f->rows; row++) dots(type, 1, 1, f, row, key);
}

INLINE void add_values(ig_type type, int keys, const igi_nn_few *f, uint64_t key) {
    int64_t first = (int64_t)key * f->kept_row, dim = (int64_t)f->dim, at = 0;
    const float *weights = f->scores + key;
    vf x[4];
    for (; at + LANES <= dim; at += LANES) {
        for (int t = 0; t < keys; t++) x[t] = load_kept(type, f->kept, first + t * f->kept_row + at);
        for (uint64_t r = 0; r < f->rows; r++) {
            float *to = f->out + (int64_t)r * dim + at;
            vf sum = load(to);
            for (int t = 0; t < keys; t++) sum += weights[r * f->scores_row + (uint64_t)t] * x[t];
            store(to, sum);
        }
    }
    if (at >= dim) return;
    uint64_t left = (uint64_t)(dim - at);
    for (int t = 0; t < keys; t++) x[t] = load_kept_part(type, f->kept, first + t * f->kept_row + at, left);
    for (uint64_t r = 0; r < f->rows; r++) {
        float *to = f->out + (int64_t)r * dim + at;
        vf sum = load_part(to, left, 0);
        for (int t = 0; t < keys; t++) sum += weights[r * f->scores_row + (uint64_t)t] * x[t];
        store_part(to, sum, left);
    }
}

INLINE void add_up(ig_type type, const igi_nn_few *f) {
    uint64_t key = 0;
    for (; key + 4 <= f->keys; key += 4) add_values(type, 4, f, key);
    for (; key < f->keys; key++) add_values(type, 1, f, key);
}

#define FEW(name, body)                           \
    static void NAME(name)(const igi_nn_few *f) { \
        if (f->type == IG_TYPE_F16)               \
            body(IG_TYPE_F16, f);                 \
        else if (f->type == IG_TYPE_BF16)         \
            body(IG_TYPE_BF16, f);                \
        else                                      \
            body(IG_TYPE_F32, f);                 \
    }
FEW(f32_few_scores, score)
FEW(f32_few_sums, add_up)

void NAME(igi_nn_fill_products)(igi_nn_kernels *table) {
    table->product = NAME(f32_nn_product);
    table->few_scores = NAME(f32_few_scores);
    table->few_sums = NAME(f32_few_sums);
}
