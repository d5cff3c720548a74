// SPDX-License-Identifier: Apache-2.0
// The kernels of one level.
#include "tensor/simd/isa/isa.h"

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

void NAME(igi_simd_fill)(igi_simd_kernels *table) {
    *table = (igi_simd_kernels){.isa = TEXT(ISA), .lanes = LANES};
    NAME(igi_simd_fill_elementwise)(table);
    NAME(igi_simd_fill_gelu)(table);
    NAME(igi_simd_fill_integers)(table);
    NAME(igi_simd_fill_rows)(table);
    NAME(igi_simd_fill_products)(table);
    NAME(igi_simd_fill_random)(table);
}
