// SPDX-License-Identifier: Apache-2.0
// What the tensor tests share: a device, a stream, short ways to make and to look at tensors.
#ifndef INGOT_TESTS_TENSOR_HELPERS_H
#define INGOT_TESTS_TENSOR_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka last: it needs the four above.
#include <cmocka.h>
#include <ingot/ingot.h>
#include <stdbool.h>

// Group fixtures. The cache is a temporary directory.
extern ig_device *device;
extern ig_stream *stream;
extern char *cache_dir;
int open_test_stream(void **state);
int close_test_stream(void **state);

#define assert_status(call, expected) assert_string_equal(ig_status_name(call), ig_status_name(expected))
#define assert_ok(call) assert_status(call, IG_STATUS_OK)
#define LENGTH(array) (sizeof(array) / sizeof *(array))

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
// Fails the test unless the stream's last error says `part`.
void expect_error(const char *part);

#endif
