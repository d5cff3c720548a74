// SPDX-License-Identifier: Apache-2.0
// The inner kernel of matrix products: a tile of the result in registers, one step of the inner dimension at a time.
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

void NAME(igi_simd_fill_products)(igi_simd_kernels *table) {
    table->tile_rows = TILE_ROWS;
    table->tile_columns = TILE_COLUMNS;
    table->tile = NAME(f32_tile);
}
