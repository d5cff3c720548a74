// SPDX-License-Identifier: Apache-2.0
// Vector kernels of transformer ops, in addition to those of the tensors (tensor/simd/kernels.h): compiled once for
// each level of the CPU, on packed floats, on the calling thread.
#ifndef INGOT_NN_SIMD_KERNELS_H
#define INGOT_NN_SIMD_KERNELS_H

#include <ingot/nn.h>

#include "tensor/simd/simd.h"

// out[i][j] = sum of a[i][t] b[t][j]. Rows of b and out are packed and hold whole vectors. Strides in floats.
typedef struct igi_nn_product {
    uint64_t inner;
    const float *a, *b;
    float *out;
    int64_t a_row, a_step, b_row, out_row;
    const float *rescale;  // not NULL: out[i][j] is multiplied by rescale[j] and added to; NULL: overwritten
} igi_nn_product;

// Scores [key][column] of a block of keys, a column for each query.
typedef struct igi_nn_block {
    uint64_t keys, columns;      // whole vectors of columns, which are also the distance between rows
    float *scores;               // become weights that must still be divided by the sum
    const int32_t *begin, *end;  // which keys a column sees; NULL: all
    float *most, *sum;           // of all blocks so far, by column
    float *rescale;              // set to the factors by which the weights of earlier blocks shrink
} igi_nn_block;

// A few queries and a block of keys or values, which are f32, f16 or bf16.
typedef struct igi_nn_few {
    uint64_t rows, keys, dim;
    const float *q;  // packed rows
    ig_type type;    // of `kept`
    const void *kept;
    int64_t kept_row;  // distance between rows, in elements
    float *scores;
    uint64_t scores_row;
    float *out;  // packed rows
} igi_nn_few;

// The result of narrow for a token.
typedef struct igi_nn_narrow {
    const int16_t *numbers;
    const float *scales, *sums;
} igi_nn_narrow;

typedef struct igi_nn_kernels {
    // Rotates pairs (a[i], b[i]), in place.
    void (*rotate)(uint64_t count, const float *cosines, const float *sines, float *a, float *b);
    void (*rotate_interleaved)(uint64_t count, const float *cosines, const float *sines, float *pairs);

    void (*product)(const igi_nn_product *p, uint64_t rows, uint64_t columns);
    void (*soften)(const igi_nn_block *block);

    void (*few_scores)(const igi_nn_few *few);  // scores[r][t] = q[r] . kept[t]
    void (*few_sums)(const igi_nn_few *few);    // out[r] += sum of scores[r][t] kept[t]
    // x becomes e^(x - shift); returns the sum.
    float (*exponentials)(uint64_t count, float *x, float shift);

    // To blocks, by ig_weight_type; NULL if it would take a call for every weight, and for plain types.
    void (*quantize[IG_WEIGHT_TYPE_COUNT])(uint64_t blocks, const float *x, uint8_t *row);
    // Rows of blocks, by ig_weight_type; NULL for plain types.
    void (*dequantize[IG_WEIGHT_TYPE_COUNT])(uint64_t blocks, const uint8_t *row, float *out);
    // x in groups of 32 16-bit integers with a scale: as good as float with weights of 8 bits or less, and multiplied
    // in pairs. There is a scale, and a sum of x for weights with an offset, for each 16.
    void (*narrow)(uint64_t groups, const float *x, int16_t *numbers, float *scales, float *sums);
    // Dot products of four rows with the result of narrow.
    void (*block_dots[IG_WEIGHT_TYPE_COUNT])(uint64_t blocks, const uint8_t *const rows[4], const igi_nn_narrow *x,
                                             float sums[4]);
    // Dot products of four rows of f16 or bf16.
    void (*half_dots[IG_WEIGHT_TYPE_COUNT])(uint64_t count, const uint16_t *const rows[4], const float *x,
                                            float sums[4]);
} igi_nn_kernels;

#define X(level) void igi_nn_fill__##level(igi_nn_kernels *table);
IGI_SIMD_LEVEL_LIST(X)
#undef X

// The table of the level that igi_simd() has.
const igi_nn_kernels *igi_nn_simd(void);

#endif
