// SPDX-License-Identifier: Apache-2.0
#include "msl/build.h"

static ig_status build(igi_msl_compiler *compiler, igi_msl_request *request, igi_msl_diagnostics *diagnostics,
                       igi_msl_product *product, ig_error *error) {
    *product = (igi_msl_product){0};
    ig_status status =
        igi_msl_compile(compiler, request, diagnostics, &product->bitcode, &product->bitcode_length, error);
    if (status != IG_STATUS_OK) return status;
    status = igi_msl_examine(product->bitcode, product->bitcode_length, &product->reflection, diagnostics, error);
    if (status == IG_STATUS_OK) return status;
    free(product->bitcode);
    *product = (igi_msl_product){0};
    return status;
}

// Bitcode has no source locations unless they are requested, which takes longer: so only when there is an error to
// report.
static void find_places(igi_msl_compiler *compiler, igi_msl_request *request, igi_msl_diagnostics *diagnostics) {
    igi_msl_diagnostics placed = {.sources = diagnostics->sources};
    igi_msl_product product;
    request->places = true;
    ig_status status = build(compiler, request, &placed, &product, NULL);
    request->places = false;
    if (status == IG_STATUS_OK) {
        free(product.bitcode);
        igi_msl_reflection_free(&product.reflection);
    }
    if (status == IG_STATUS_COMPILE_FAILED) {
        igi_msl_diagnostics unplaced = *diagnostics;
        *diagnostics = placed;
        placed = unplaced;
    }
    igi_msl_diagnostics_free(&placed);
}

ig_status igi_msl_build(igi_msl_compiler *compiler, igi_msl_request *request, igi_msl_diagnostics *diagnostics,
                        igi_msl_product *product, ig_error *error) {
    ig_status status = build(compiler, request, diagnostics, product, error);
    if (status == IG_STATUS_COMPILE_FAILED && diagnostics->unplaced) find_places(compiler, request, diagnostics);
    return status;
}
