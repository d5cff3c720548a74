// SPDX-License-Identifier: Apache-2.0
// From MSL to a library that may be cached and run: compiled, reflected, and checked for what it contains.
#ifndef INGOT_MSL_BUILD_H
#define INGOT_MSL_BUILD_H

#include "msl/compiler.h"
#include "msl/reflect.h"

typedef struct igi_msl_product {
    char *bitcode;
    size_t bitcode_length;
    igi_msl_reflection reflection;
} igi_msl_product;

// owns: the product is the caller's, and empty on failure. Diagnostics and errors are those of igi_msl_compile and
// igi_msl_examine.
ig_status igi_msl_build(igi_msl_compiler *compiler, igi_msl_request *request, igi_msl_diagnostics *diagnostics,
                        igi_msl_product *product, ig_error *error);

#endif
