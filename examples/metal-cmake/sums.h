// SPDX-License-Identifier: Apache-2.0
// Weighted sums on the GPU, for C and C++.
#pragma once

#include <simd/simd.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Computes the dot product of each of `count` points with `weights`. Returns false, and says why on stderr, if it cannot.
bool weigh_points(const simd_float4 *points, size_t count, simd_float4 weights, float *out);
// The number of processors.
int processors(void);

#ifdef __cplusplus
}
#endif
