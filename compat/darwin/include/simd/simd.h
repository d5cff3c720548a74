// SPDX-License-Identifier: Apache-2.0
// Vectors and matrices of the host, in the layout of kernels: what programs for Metal use of Apple's <simd/simd.h>.
#ifndef INGOT_SIMD_H
#define INGOT_SIMD_H

#include <simd/matrix.h>

#endif
