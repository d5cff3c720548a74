// SPDX-License-Identifier: Apache-2.0
// Parts of one level's table. Everything here is compiled once per level; only NAME(...) leaves a file.
#ifndef INGOT_TENSOR_SIMD_ISA_H
#define INGOT_TENSOR_SIMD_ISA_H

#include "tensor/simd/isa/vector.h"
#include "tensor/simd/kernels.h"

void NAME(igi_simd_fill_elementwise)(igi_simd_kernels *table);
// Where it is better than what the last has.
void NAME(igi_simd_fill_gelu)(igi_simd_kernels *table);
void NAME(igi_simd_fill_integers)(igi_simd_kernels *table);
void NAME(igi_simd_fill_rows)(igi_simd_kernels *table);
void NAME(igi_simd_fill_products)(igi_simd_kernels *table);
void NAME(igi_simd_fill_random)(igi_simd_kernels *table);
// All of them.
void NAME(igi_simd_fill)(igi_simd_kernels *table);

#endif
