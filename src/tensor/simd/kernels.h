// SPDX-License-Identifier: Apache-2.0
// Vector kernels: isa/*.c, compiled once for each level of the CPU, fills one of these tables.
//
// Kernels see packed floats and run on the calling thread; strides, other types and threads are handled by the drivers.
// A kernel is called with at least one element.
#ifndef INGOT_TENSOR_SIMD_KERNELS_H
#define INGOT_TENSOR_SIMD_KERNELS_H

#include "tensor/call.h"

// How a binary kernel reads its operands: element by element, or always the first element.
typedef struct igi_simd_pair {
    const float *a, *b;
    bool a_repeats, b_repeats;
} igi_simd_pair;

// A small matrix product whose b and out have packed rows. Strides in floats.
typedef struct igi_simd_direct {
    uint64_t inner;
    const float *a, *b;
    float *out;
    int64_t a_row, a_step, b_row, out_row;
} igi_simd_direct;

// Floats between rows of scratch memory. Rows are often a multiple of a page long; what is read and written in step with
// them should not fall into the same few places of the first-level cache.
enum { IGI_SIMD_LINE_GAP = 352 };

typedef struct igi_simd_kernels {
    const char *isa;  // "avx2"
    uint32_t lanes;   // floats of a vector

    // out may be a. `stream`: the result is too large for the caches, so it is written past them.
    void (*unary[IG_OP_COUNT])(uint64_t count, const float *a, float *out, const igi_tensor_parameters *p, bool stream);
    void (*copy)(uint64_t count, const float *a, float *out, bool stream);
    void (*binary[IG_OP_COUNT])(uint64_t count, igi_simd_pair in, float *out, bool stream);
    void (*unary_test[IG_OP_COUNT])(uint64_t count, const float *a, uint8_t *out);
    void (*compare[IG_OP_COUNT])(uint64_t count, igi_simd_pair in, uint8_t *out);
    void (*where)(uint64_t count, const uint8_t *condition, igi_simd_pair in, float *out, bool stream);

    // Converts packed elements of one type to another; NULL if that takes more than one step. Integers, and what is in
    // no table above: see isa/integers.c.
    void (*cast[IG_TYPE_COUNT][IG_TYPE_COUNT])(uint64_t count, const void *from, void *to);
    void (*integer_binary[IG_OP_COUNT][IG_TYPE_COUNT])(uint64_t count, const void *a, bool a_repeats, const void *b,
                                                       bool b_repeats, void *out);

    void (*f16_to_f32)(uint64_t count, const uint16_t *from, float *to);
    void (*f32_to_f16)(uint64_t count, const float *from, uint16_t *to);
    void (*bf16_to_f32)(uint64_t count, const uint16_t *from, float *to);
    void (*f32_to_bf16)(uint64_t count, const float *from, uint16_t *to);

    // Of one packed row.
    double (*sum)(uint64_t count, const float *a);
    double (*sum_of_squares)(uint64_t count, const float *a, float centre);  // of a - centre
    double (*sum_of_magnitudes)(uint64_t count, const float *a);
    double (*product)(uint64_t count, const float *a);
    float (*largest)(uint64_t count, const float *a);  // NaN if there is one
    float (*smallest)(uint64_t count, const float *a);
    // The index of the first element equal to value, or of the first NaN if that is NaN; count: there is none.
    uint64_t (*find)(uint64_t count, const float *a, float value);
    double (*dot)(uint64_t count, const float *a, const float *b);

    void (*dot_rows)(uint64_t count, const float *const rows[4], const float *b, double sums[4]);

    // Combines a row with the running result of every column: result[i] = result[i] op a[i].
    void (*add_row)(uint64_t count, const float *a, float *result);
    void (*add_squares_row)(uint64_t count, const float *a, float *result);
    void (*add_magnitudes_row)(uint64_t count, const float *a, float *result);
    void (*multiply_row)(uint64_t count, const float *a, float *result);
    void (*largest_row)(uint64_t count, const float *a, float *result);
    void (*smallest_row)(uint64_t count, const float *a, float *result);
    void (*add_scaled_row)(uint64_t count, float scale, const float *a, float *result);  // result += scale * a

    // out may be a. `stream`: as above.
    void (*softmax)(uint64_t count, const float *a, float *out);
    void (*log_softmax)(uint64_t count, const float *a, float *out, bool stream);
    // Softmax of each row, written past the caches. `lines`: memory for two rows with a gap before each; out may be a.
    void (*softmax_rows)(uint64_t rows, uint64_t count, const float *a, int64_t a_row, float *lines, float *out,
                         int64_t out_row);
    // out may be a. ((a - centre) * scale + shift) * weight + bias; weight and bias may be NULL.
    void (*scale_row)(uint64_t count, const float *a, float centre, float scale, float shift, const float *weight,
                      const float *bias, float *out);

    // A tile of a matrix product, from a panel of a (`inner` times tile_rows) and of b (tile_columns); its first rows
    // are written to out, whose rows are out_stride floats apart, or added to it.
    uint32_t tile_rows, tile_columns, tile_inner;  // tile_inner: the most steps worth doing at once, at most 512
    void (*tile)(uint64_t inner, const float *a_panel, const float *b_panel, float *out, int64_t out_stride,
                 uint64_t rows, bool add);
    // A panel of `length` lines of `width`, from rows of a matrix in place, or from rows that become columns.
    void (*pack_lines)(uint64_t length, uint64_t width, const float *from, int64_t stride, float *panel);
    void (*pack_turned)(uint64_t length, uint64_t width, const float *from, int64_t stride, float *panel);

    void (*direct)(const igi_simd_direct *matrices, uint64_t rows, uint64_t columns);
    uint32_t wide_rows, wide_columns;  // of the tiles of `direct` if this many columns are left

    // Random words to numbers; the first element is at `position`.
    void (*uniform)(uint64_t count, uint64_t seed, uint64_t position, uint32_t bits, float low, float range,
                    float *out);
    void (*normal)(uint64_t count, uint64_t seed, uint64_t position, float mean, float deviation, float *out);
} igi_simd_kernels;

// A table for each level that the library was built with, best first; the last runs everywhere.
#if defined(__x86_64__) && defined(IGI_WITHOUT_AVX512)
#define IGI_SIMD_LEVEL_LIST(X) X(avx2) X(baseline)
#elif defined(__x86_64__)
#define IGI_SIMD_LEVEL_LIST(X) X(avx512) X(avx2) X(baseline)
#elif defined(__aarch64__)
#define IGI_SIMD_LEVEL_LIST(X) X(neon_bf16) X(neon_dot) X(neon)
#else
#define IGI_SIMD_LEVEL_LIST(X) X(baseline)
#endif
#define X(level) void igi_simd_fill__##level(igi_simd_kernels *table);
IGI_SIMD_LEVEL_LIST(X)
#undef X

// The best for this CPU, or the one that INGOT_SIMD names.
const igi_simd_kernels *igi_simd(void);

#endif
