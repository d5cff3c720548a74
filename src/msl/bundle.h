// SPDX-License-Identifier: Apache-2.0
// Libraries that Ingot's own compiler driver writes: .air and .metallib files of units, each with its sources, its
// options, and what became of them. docs/metallib.md describes the format.
//
// Nothing in a file is trusted. Each length and count is compared with the bytes that are there before it is used. Bitcode
// is not looked at here: LLVM reads it in another process (src/codegen).
#ifndef INGOT_MSL_BUNDLE_H
#define INGOT_MSL_BUNDLE_H

#include "msl/build.h"

typedef struct igi_msl_symbol {
    ig_function_kind kind;
    const char *name;
} igi_msl_symbol;

// A translation unit. Strings and bytes are those of the file.
typedef struct igi_msl_unit {
    const char *description, *product;  // its two parts, to be copied into another file
    size_t description_length, product_length;
    // The description
    const char *name;  // the user's, of the main file
    uint32_t language_version;
    ig_math_mode math_mode;
    ig_define *defines;
    size_t define_count;
    const char **include_dirs;
    size_t include_dir_count;
    igi_msl_stored_source *files;  // [0] is the main one
    size_t file_count;
    // The product
    const char *compiler;  // which version of Ingot made it
    igi_hash key;          // of what: igi_msl_unit_key
    igi_msl_symbol *symbols;
    size_t symbol_count;
    const char *packed;  // msl/packed.h
    size_t packed_length;
} igi_msl_unit;

typedef struct igi_msl_bundle {
    igi_msl_unit *units;
    size_t count;
} igi_msl_bundle;

// Whether the bytes begin as a bundle does.
bool igi_msl_is_bundle(const char *bytes, size_t length);
// The same for a regular file; false for what cannot be read.
bool igi_msl_is_bundle_file(const char *path);

// Borrows the bytes. `name` is for messages. errors: BAD_FORMAT, OUT_OF_MEMORY.
ig_status igi_msl_bundle_read(const char *bytes, size_t length, const char *name, igi_msl_bundle *bundle,
                              ig_error *error);
void igi_msl_bundle_free(igi_msl_bundle *bundle);
// Only the two parts of each unit are used.
void igi_msl_bundle_write(const igi_msl_unit *units, size_t count, igi_text *bytes);

// The unit as a request, without its `timeout_ns` and what else the caller decides. Nothing is read from disk. owns:
// request->sources is the caller's; the rest points into the unit. errors: those of igi_msl_sources_restore.
ig_status igi_msl_unit_request(const igi_msl_unit *unit, igi_msl_request *request, ig_error *error);
// The key of what is made from a request by this version of the compiler, which `identity` names.
igi_hash igi_msl_unit_key(const igi_msl_compiler *compiler, const igi_msl_request *request, const char *identity);

// A bundle of one unit: the request, which was compiled to `product`. Paths in it begin at the directory that the sources
// have in common. The compiler's warnings are not in it. errors: OUT_OF_MEMORY, OVERFLOW.
ig_status igi_msl_unit_write(const igi_msl_compiler *compiler, const igi_msl_request *request,
                             const igi_msl_product *product, const char *identity, igi_text *bytes, ig_error *error);

#endif
