// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: one array with its type and shape.
//
// Read: format versions 1.0, 2.0 and 3.0, little-endian, of every ig_type but bf16, which NumPy does not have.
// Written: version 1.0. A bf16 array is written as '<u2', its bit patterns; in NumPy
// `(a.astype('u4') << 16).view('f4')` gives the values.
#ifndef INGOT_CORE_NPY_H
#define INGOT_CORE_NPY_H

#include <ingot/device.h>

enum { IGI_NPY_MAX_RANK = 32 };

typedef struct igi_npy {
    ig_type type;
    uint32_t rank;  // 0: a scalar
    uint64_t shape[IGI_NPY_MAX_RANK];
    uint64_t bytes;  // 0 when a dimension is 0
    void *data;      // in C order, whatever order the file had; never NULL after a load
} igi_npy;

// owns: *array is the caller's, to be freed with igi_npy_free; untouched on failure. `path` may name a pipe.
// errors: NOT_FOUND, IO, BAD_FORMAT, UNSUPPORTED (float64, big-endian, structures), OVERFLOW, OUT_OF_MEMORY.
ig_status igi_npy_load(const char *path, igi_npy *array, ig_error *error);

// The old file is kept until all of the new one is written. errors: INVALID_ARGUMENT, OVERFLOW, IO.
ig_status igi_npy_save(const char *path, ig_type type, uint32_t rank, const uint64_t *shape, const void *data,
                       ig_error *error);

void igi_npy_free(igi_npy *array);

// Bytes of an array of this shape; false if they do not fit into 64 bits.
bool igi_npy_array_bytes(ig_type type, uint32_t rank, const uint64_t *shape, uint64_t *bytes);

#endif
