// SPDX-License-Identifier: Apache-2.0
// Shared by the tensor tests, in addition to the device tests' helpers: a stream, and shortcuts to make and inspect
// tensors.
#ifndef INGOT_TESTS_TENSOR_HELPERS_H
#define INGOT_TESTS_TENSOR_HELPERS_H

#include "helpers.h"

// Group fixtures: the device of helpers.h, and a stream on it.
extern ig_stream *stream;
int open_test_stream(void **state);
int close_test_stream(void **state);

// SHAPE(2, 3) for functions that take rank and lengths.
#define SHAPE(...)                                                               \
    (sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), (const uint64_t[]) { \
        __VA_ARGS__                                                              \
    }

// Values are converted to the type.
ig_tensor *tensor_of(ig_type type, uint64_t rank, const uint64_t *shape, const double *values);
// 0, 1, 2, ... in f32
ig_tensor *iota(uint64_t rank, const uint64_t *shape);
// Fails the test unless type, shape and values are these. Releases the tensor.
void expect_values(ig_tensor *tensor, ig_type type, uint64_t rank, const uint64_t *shape, const double *values);
#define VALUES(...) ((const double[]){__VA_ARGS__})
// Fails the test unless the stream's last error contains `part`.
void expect_error(const char *part);

#endif
