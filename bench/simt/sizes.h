// SPDX-License-Identifier: Apache-2.0
// The sizes of the cases of `ingot bench simt`, for all runners.
#ifndef INGOT_BENCH_SIMT_SIZES_H
#define INGOT_BENCH_SIMT_SIZES_H

#include <stddef.h>
#include <stdint.h>

enum {
    SIMT_STREAM = 1 << 24,  // elements of saxpy, add, sum, scan and histogram
    SIMT_ROWS = 1024,       // of softmax and rmsnorm
    SIMT_COLUMNS = 4096,
    SIMT_BINS = 256,
    SIMT_TRANSPOSE = 2048,
    SIMT_MATMUL = 1024,
    SIMT_GRID = 256,  // points of the stencil along each axis
    SIMT_BODIES = 8192,
    SIMT_IMAGE = 1024,
    SIMT_STEPS = 256,
    SIMT_KEYS = 1 << 20,
    SIMT_MATVEC = 4096,
    SIMT_TEXTURE_SIDE = 4096,
    SIMT_SMALL_SIDE = 2730,    // of the texture that is enlarged
    SIMT_BLUR_ROWS = 16,       // that a thread of the blur makes
    SIMT_HISTOGRAM_ROWS = 64,  // that a thread of the histogram reads
};

#define SIMT_FACTOR 0.5f  // of saxpy

// 32 weights: element j in the low half of byte j, element j + 16 in its high half.
typedef struct simt_q4_block {
    uint16_t scale;  // f16
    uint8_t quants[16];
} simt_q4_block;
enum { SIMT_Q4_BLOCKS = SIMT_MATVEC / 32 };  // of a row

typedef struct simt_body {
    float x, y, z, mass;
} simt_body;

// What the OpenMP module exports as `simt_openmp_kernels`, terminated by an entry without a name. Buffers are those of
// the case with that name, in its order.
typedef struct simt_openmp_kernel {
    const char *name;
    void (*run)(void *const *buffers);
} simt_openmp_kernel;

#endif
