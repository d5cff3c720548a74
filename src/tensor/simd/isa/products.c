// SPDX-License-Identifier: Apache-2.0
// The inner kernels of matrix products: a tile of the result in registers, one step of the inner dimension at a time.
#include "tensor/simd/isa/isa.h"

// As many accumulators as fit into registers besides a column of b and a value of a.
// Wide tiles read less of a, whose rows are apart before they are packed.
#if defined(__AVX512F__)
enum { TILE_ROWS = 12, TILE_VECTORS = 2, TILE_INNER = 512, WIDE_ROWS = 6, WIDE_VECTORS = 4 };
#elif defined(__AVX2__)
enum { TILE_ROWS = 6, TILE_VECTORS = 2, TILE_INNER = 256, WIDE_ROWS = 6, WIDE_VECTORS = 2 };
#elif defined(NEON)
enum { TILE_ROWS = 8, TILE_VECTORS = 3, TILE_INNER = 256, WIDE_ROWS = 6, WIDE_VECTORS = 4 };
#else
enum { TILE_ROWS = 4, TILE_VECTORS = 2, TILE_INNER = 256, WIDE_ROWS = 4, WIDE_VECTORS = 2 };
#endif
enum { TILE_COLUMNS = TILE_VECTORS * LANES, WIDE_COLUMNS = WIDE_VECTORS * LANES };

// Prefetches the result, which may be far away, while its sums are computed.
INLINE void expect_tile(const float *out, int64_t out_stride, uint64_t rows) {
    for (uint64_t i = 0; i < rows; i++)
        for (int j = 0; j < TILE_COLUMNS; j += 16) __builtin_prefetch(out + (int64_t)i * out_stride + j, 1);
}

INLINE void put_tile_row(float *to, const vf *sums, bool add) {
    for (int j = 0; j < TILE_VECTORS; j++) store(to + j * LANES, add ? load(to + j * LANES) + sums[j] : sums[j]);
}

// One step of the inner dimension: a column of the panel of a times a row of the panel of b.
INLINE void add_step(vf sums[TILE_ROWS][TILE_VECTORS], const float *a, const float *b_row) {
    vf b[TILE_VECTORS];
    for (int j = 0; j < TILE_VECTORS; j++) b[j] = load(b_row + j * LANES);
#if defined(NEON)
    // Products with one lane of a vector: a is loaded four rows at a time, and nothing is broadcast.
#pragma GCC unroll 2
    for (int i = 0; i < TILE_ROWS; i += LANES) {
        float32x4_t four = vld1q_f32(a + i);
        for (int j = 0; j < TILE_VECTORS; j++) {
            float32x4_t x = (float32x4_t)b[j];
            sums[i][j] = (vf)vfmaq_laneq_f32((float32x4_t)sums[i][j], x, four, 0);
            sums[i + 1][j] = (vf)vfmaq_laneq_f32((float32x4_t)sums[i + 1][j], x, four, 1);
            sums[i + 2][j] = (vf)vfmaq_laneq_f32((float32x4_t)sums[i + 2][j], x, four, 2);
            sums[i + 3][j] = (vf)vfmaq_laneq_f32((float32x4_t)sums[i + 3][j], x, four, 3);
        }
    }
#else
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_VECTORS; j++) sums[i][j] += a[i] * b[j];
#endif
}

static void NAME(f32_tile)(uint64_t inner, const float *a_panel, const float *b_panel, float *out, int64_t out_stride,
                           uint64_t rows, bool add) {
    vf sums[TILE_ROWS][TILE_VECTORS] = {0};
    expect_tile(out, out_stride, rows);
    for (uint64_t k = 0; k < inner; k++) {
        add_step(sums, a_panel, b_panel);
        a_panel += TILE_ROWS;
        b_panel += TILE_COLUMNS;
    }
    // Unrolled; otherwise the sums would go through memory.
#pragma GCC unroll 12
    for (int i = 0; i < TILE_ROWS; i++)
        if ((uint64_t)i < rows) put_tile_row(out + i * out_stride, sums[i], add);
}

// ---- Panels ----

typedef float four __attribute__((vector_size(16)));
typedef int32_t four_places __attribute__((vector_size(16)));
#if defined(__clang__)
#define FOUR_OF(a, b, w, x, y, z) __builtin_shufflevector(a, b, w, x, y, z)
#else
#define FOUR_OF(a, b, w, x, y, z) __builtin_shuffle(a, b, (four_places){w, x, y, z})
#endif

INLINE four load_four(const float *from) {
    four v;
    memcpy(&v, from, sizeof v);
    return v;
}

// Four lines by four, transposed.
INLINE void turn_four(const float *from, int64_t stride, float *panel, uint64_t width) {
    four a = load_four(from), b = load_four(from + stride), c = load_four(from + 2 * stride),
         d = load_four(from + 3 * stride);
    four ab = FOUR_OF(a, b, 0, 4, 1, 5), cd = FOUR_OF(c, d, 0, 4, 1, 5);
    four ab2 = FOUR_OF(a, b, 2, 6, 3, 7), cd2 = FOUR_OF(c, d, 2, 6, 3, 7);
    four turned[4] = {FOUR_OF(ab, cd, 0, 1, 4, 5), FOUR_OF(ab, cd, 2, 3, 6, 7), FOUR_OF(ab2, cd2, 0, 1, 4, 5),
                      FOUR_OF(ab2, cd2, 2, 3, 6, 7)};
    for (int i = 0; i < 4; i++) memcpy(panel + (uint64_t)i * width, &turned[i], sizeof turned[i]);
}

// Lines of a panel that are rows of the matrix, `stride` apart.
static void NAME(f32_pack_lines)(uint64_t length, uint64_t width, const float *from, int64_t stride, float *panel) {
    for (uint64_t k = 0; k < length; k++, from += stride, panel += width) {
        uint64_t j = 0;
        for (; j + LANES <= width; j += LANES) store(panel + j, load(from + j));
        for (; j < width; j++) panel[j] = from[j];
    }
}

// Lines of a panel that are columns of the matrix, whose rows are `stride` apart.
static void NAME(f32_pack_turned)(uint64_t length, uint64_t width, const float *from, int64_t stride, float *panel) {
    uint64_t whole = length & ~(uint64_t)3;
    for (uint64_t row = 0; row < width; row += width - row >= 4 ? 4 : 1) {
        const float *line = from + (int64_t)row * stride;
        if (width - row >= 4)
            for (uint64_t k = 0; k < whole; k += 4) turn_four(line + k, stride, panel + k * width + row, width);
        for (uint64_t k = width - row >= 4 ? whole : 0; k < length; k++)
            for (uint64_t i = 0; i < (width - row >= 4 ? 4 : 1); i++)
                panel[k * width + row + i] = line[(int64_t)i * stride + (int64_t)k];
    }
}

// ---- Directly from the matrices ----

// From one row to the next: the offsets of all rows would take more registers than there are.
INLINE const float *next_row(const float *at, int64_t stride) {
    at += stride;
#if !defined(__clang__)
    __asm__("" : "+r"(at));
#endif
    return at;
}

// `rows` and `vectors` are constants wherever this is used.
INLINE void direct_rows(int rows, int vectors, const igi_simd_direct *d) {
    const float *a = d->a, *b = d->b;
    vf sums[TILE_ROWS][WIDE_VECTORS] = {0};
    for (uint64_t k = 0; k < d->inner; k++, a += d->a_step, b += d->b_row) {
        vf x[WIDE_VECTORS];
        for (int j = 0; j < vectors; j++) x[j] = load(b + j * LANES);
        const float *at = a;
        for (int i = 0; i < rows; i++, at = next_row(at, d->a_row))
            for (int j = 0; j < vectors; j++) sums[i][j] += *at * x[j];
    }
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) store(d->out + i * d->out_row + j * LANES, sums[i][j]);
}

// One vector of columns, or the last part of one.
INLINE void direct_narrow_rows(int rows, const igi_simd_direct *d, uint64_t columns) {
    const float *a = d->a, *b = d->b;
    vf sums[TILE_ROWS] = {0};
    for (uint64_t k = 0; k < d->inner; k++, a += d->a_step, b += d->b_row) {
        vf x = columns < LANES ? load_part(b, columns, 0) : load(b);
        const float *at = a;
        for (int i = 0; i < rows; i++, at = next_row(at, d->a_row)) sums[i] += *at * x;
    }
    for (int i = 0; i < rows; i++)
        if (columns < LANES)
            store_part(d->out + i * d->out_row, sums[i], columns);
        else
            store(d->out + i * d->out_row, sums[i]);
}

INLINE void go_down(igi_simd_direct *d, int rows) {
    d->a += rows * d->a_row;
    d->out += rows * d->out_row;
}

// Whole tiles, and one for the remaining rows.
#define WIDE_ROW_COUNTS(X) X(1) X(2) X(3) X(4) X(5)
#define ROW_COUNTS(X) WIDE_ROW_COUNTS(X) X(6) X(7) X(8) X(9) X(10) X(11)

static void direct_wide(igi_simd_direct d, uint64_t rows) {
    for (; rows >= WIDE_ROWS; rows -= WIDE_ROWS, go_down(&d, WIDE_ROWS)) direct_rows(WIDE_ROWS, WIDE_VECTORS, &d);
#define WIDE(n) \
    case n: direct_rows(n < WIDE_ROWS ? n : WIDE_ROWS, WIDE_VECTORS, &d); return;
    switch (rows) { WIDE_ROW_COUNTS(WIDE) }
}

static void direct_tile(igi_simd_direct d, uint64_t rows) {
    for (; rows >= TILE_ROWS; rows -= TILE_ROWS, go_down(&d, TILE_ROWS)) direct_rows(TILE_ROWS, TILE_VECTORS, &d);
#define TILE(n) \
    case n: direct_rows(n < TILE_ROWS ? n : TILE_ROWS, TILE_VECTORS, &d); return;
    switch (rows) { ROW_COUNTS(TILE) }
}

static void direct_narrow(igi_simd_direct d, uint64_t rows, uint64_t columns) {
    for (; rows >= TILE_ROWS; rows -= TILE_ROWS, go_down(&d, TILE_ROWS)) direct_narrow_rows(TILE_ROWS, &d, columns);
#define NARROW(n) \
    case n: direct_narrow_rows(n < TILE_ROWS ? n : TILE_ROWS, &d, columns); return;
    switch (rows) { ROW_COUNTS(NARROW) }
}

static void NAME(f32_direct)(const igi_simd_direct *whole, uint64_t rows, uint64_t columns) {
    igi_simd_direct d = *whole;
    for (uint64_t left = columns, width; left; left -= width, d.b += width, d.out += width) {
        width = left >= WIDE_COLUMNS ? WIDE_COLUMNS : left >= TILE_COLUMNS ? TILE_COLUMNS : left < LANES ? left : LANES;
        if (width == WIDE_COLUMNS)
            direct_wide(d, rows);
        else if (width == TILE_COLUMNS)
            direct_tile(d, rows);
        else
            direct_narrow(d, rows, width);
    }
}

void NAME(igi_simd_fill_products)(igi_simd_kernels *table) {
    table->tile_rows = TILE_ROWS;
    table->tile_columns = TILE_COLUMNS;
    table->tile_inner = TILE_INNER;
    table->tile = NAME(f32_tile);
    table->pack_lines = NAME(f32_pack_lines);
    table->pack_turned = NAME(f32_pack_turned);
    table->direct = NAME(f32_direct);
    table->wide_rows = WIDE_ROWS;
    table->wide_columns = WIDE_COLUMNS;
}
