// SPDX-License-Identifier: Apache-2.0
// Parts of one level's table. Everything here is compiled once per level; only NAME(...) is visible outside of a file.
#ifndef INGOT_TENSOR_SIMD_ISA_H
#define INGOT_TENSOR_SIMD_ISA_H

#include "tensor/simd/isa/vector.h"
#include "tensor/simd/kernels.h"

void NAME(igi_simd_fill_elementwise)(igi_simd_kernels *table);
// Overrides gelu if the level has something better than elementwise.c.
void NAME(igi_simd_fill_gelu)(igi_simd_kernels *table);
void NAME(igi_simd_fill_integers)(igi_simd_kernels *table);
void NAME(igi_simd_fill_rows)(igi_simd_kernels *table);
void NAME(igi_simd_fill_products)(igi_simd_kernels *table);
void NAME(igi_simd_fill_random)(igi_simd_kernels *table);
// Fills the whole table.
void NAME(igi_simd_fill)(igi_simd_kernels *table);

#endif
