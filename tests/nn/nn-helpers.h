// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of transformer ops, in addition to the tensor tests' helpers: random tensors in odd layouts,
// their values as doubles, comparisons.
#ifndef INGOT_TESTS_NN_HELPERS_H
#define INGOT_TESTS_NN_HELPERS_H

#include "tensor-helpers.h"

// Sanitized code is many times slower; it skips the largest shapes.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#endif
#if !defined(SANITIZED)
#define SANITIZED false
#endif

// Backends that have rows for transformer ops.
extern const ig_backend all_backends[3];
#define FOR_BACKENDS(options)                            \
    for (size_t b_ = 0; b_ < LENGTH(all_backends); b_++) \
        for (ig_op_options options = {.backend = all_backends[b_]}, *once_ = &options; once_; once_ = NULL)
#define FOR_FLOAT_TYPES(type) for (ig_type type = IG_TYPE_F32, *next_ = &type; next_; next_ = next_float_type(next_))
ig_type *next_float_type(ig_type *type);

// Numbers around 0, of magnitude 1, rounded to the type, determined by the seed.
ig_tensor *random_tensor(ig_type type, uint64_t rank, const uint64_t *shape, uint64_t seed);
// The same elements in another layout: 0 unchanged, 1 last dimension slowest, 2 gaps between elements. Releases x.
ig_tensor *in_layout(ig_tensor *x, int layout);
// All elements in C order; free them.
double *doubles_of(const ig_tensor *x);
// Fails the test unless all elements are close: |got - wanted| <= tolerance * (1 + |wanted|), and a rounding of the
// type. Releases the tensor.
void expect_near(ig_tensor *got, uint64_t count, const double *wanted, double tolerance, const char *what);

#endif
