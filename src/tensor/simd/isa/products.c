// SPDX-License-Identifier: Apache-2.0
// The inner kernels of matrix products: a tile of the result in registers, one step of the inner dimension at a time.
#include "tensor/simd/isa/isa.h"

// As many accumulators as the registers hold beside a column of b and a value of a.
#if defined(__AVX512F__)
enum { TILE_ROWS = 12, TILE_VECTORS = 2 };
#elif defined(__AVX2__)
enum { TILE_ROWS = 6, TILE_VECTORS = 2 };
#else
enum { TILE_ROWS = 4, TILE_VECTORS = 2 };
#endif
enum { TILE_COLUMNS = TILE_VECTORS * LANES };

static void NAME(f32_tile)(uint64_t inner, const float *a_panel, const float *b_panel, float *out, int64_t out_stride,
                           bool add) {
    vf sums[TILE_ROWS][TILE_VECTORS] = {0};
    for (uint64_t k = 0; k < inner; k++) {
        vf b[TILE_VECTORS];
        for (int j = 0; j < TILE_VECTORS; j++) b[j] = load(b_panel + j * LANES);
        for (int i = 0; i < TILE_ROWS; i++)
            for (int j = 0; j < TILE_VECTORS; j++) sums[i][j] += a_panel[i] * b[j];
        a_panel += TILE_ROWS;
        b_panel += TILE_COLUMNS;
    }
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_VECTORS; j++) {
            float *to = out + i * out_stride + j * LANES;
            store(to, add ? load(to) + sums[i][j] : sums[i][j]);
        }
}

// ---- Straight from the matrices ----

// `rows` is a constant wherever this is used.
INLINE void direct_rows(int rows, const igi_simd_direct *d) {
    const float *a = d->a, *b = d->b;
    vf sums[TILE_ROWS][TILE_VECTORS] = {0};
    for (uint64_t k = 0; k < d->inner; k++, a += d->a_step, b += d->b_row) {
        vf x[TILE_VECTORS];
        for (int j = 0; j < TILE_VECTORS; j++) x[j] = load(b + j * LANES);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < TILE_VECTORS; j++) sums[i][j] += a[i * d->a_row] * x[j];
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < TILE_VECTORS; j++) store(d->out + i * d->out_row + j * LANES, sums[i][j]);
}

// One vector of columns, or the last part of one.
INLINE void direct_narrow_rows(int rows, const igi_simd_direct *d, uint64_t columns) {
    const float *a = d->a, *b = d->b;
    vf sums[TILE_ROWS] = {0};
    for (uint64_t k = 0; k < d->inner; k++, a += d->a_step, b += d->b_row) {
        vf x = columns < LANES ? load_part(b, columns, 0) : load(b);
        for (int i = 0; i < rows; i++) sums[i] += a[i * d->a_row] * x;
    }
    for (int i = 0; i < rows; i++)
        if (columns < LANES)
            store_part(d->out + i * d->out_row, sums[i], columns);
        else
            store(d->out + i * d->out_row, sums[i]);
}

#define ROW_COUNTS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)

static void direct(const igi_simd_direct *d, uint64_t rows, uint64_t columns) {
#define WIDE(n) \
    case n: direct_rows(n <= TILE_ROWS ? n : TILE_ROWS, d); return;
#define NARROW(n) \
    case n: direct_narrow_rows(n <= TILE_ROWS ? n : TILE_ROWS, d, columns); return;
    if (columns == TILE_COLUMNS) switch (rows) {
            ROW_COUNTS(WIDE)
        }
    switch (rows) { ROW_COUNTS(NARROW) }
}

static void NAME(f32_direct)(const igi_simd_direct *whole, uint64_t rows, uint64_t columns) {
    for (uint64_t j = 0, width; j < columns; j += width) {
        width = columns - j >= TILE_COLUMNS ? TILE_COLUMNS : columns - j >= LANES ? LANES : columns - j;
        for (uint64_t i = 0; i < rows; i += TILE_ROWS) {
            igi_simd_direct part = *whole;
            part.a += (int64_t)i * part.a_row;
            part.b += j;
            part.out += (int64_t)i * part.out_row + (int64_t)j;
            direct(&part, rows - i < TILE_ROWS ? rows - i : TILE_ROWS, width);
        }
    }
}

void NAME(igi_simd_fill_products)(igi_simd_kernels *table) {
    table->tile_rows = TILE_ROWS;
    table->tile_columns = TILE_COLUMNS;
    table->tile = NAME(f32_tile);
    table->direct = NAME(f32_direct);
}
