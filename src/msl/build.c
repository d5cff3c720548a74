// SPDX-License-Identifier: Apache-2.0
#include "msl/build.h"

#include "msl/layout.h"

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

// Types are described in debug information, with which the bitcode would be another: clang runs once more.
static ig_status describe_types(igi_msl_compiler *compiler, igi_msl_request *request, igi_msl_product *product,
                                ig_error *error) {
    igi_msl_diagnostics diagnostics = {.sources = &request->sources};
    char *bitcode = NULL;
    size_t length = 0;
    request->types = true;
    ig_status status = igi_msl_compile(compiler, request, &diagnostics, &bitcode, &length, error);
    igi_msl_diagnostics_free(&diagnostics);
    if (status == IG_STATUS_OK) status = igi_msl_describe_layouts(bitcode, length, &product->reflection);
    free(bitcode);
    // A struct in which ids cannot be described is still a struct that can be used.
    return status == IG_STATUS_COMPILE_FAILED || status == IG_STATUS_BAD_FORMAT ? IG_STATUS_OK : status;
}

ig_status igi_msl_build(igi_msl_compiler *compiler, igi_msl_request *request, igi_msl_diagnostics *diagnostics,
                        igi_msl_product *product, ig_error *error) {
    bool types = request->types;
    request->types = false;
    ig_status status = build(compiler, request, diagnostics, product, error);
    if (status == IG_STATUS_COMPILE_FAILED && diagnostics->unplaced) find_places(compiler, request, diagnostics);
    if (status == IG_STATUS_OK && types) {
        status = describe_types(compiler, request, product, error);
        if (status != IG_STATUS_OK) {
            free(product->bitcode);
            igi_msl_reflection_free(&product->reflection);
            *product = (igi_msl_product){0};
        }
    }
    request->types = types;
    return status;
}
