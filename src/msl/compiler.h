// SPDX-License-Identifier: Apache-2.0
// MSL to LLVM bitcode with clang as a child process and our own <metal_stdlib>.
#ifndef INGOT_MSL_COMPILER_H
#define INGOT_MSL_COMPILER_H

#include <ingot/device.h>

#include "msl/diagnostics.h"
#include "msl/sources.h"

// Of sources for which nobody names a version: Metal 3.1. Ingot's own kernels use it, and its headers are precompiled.
enum { IGI_MSL_DEFAULT_LANGUAGE = 310 };

typedef struct igi_msl_compiler igi_msl_compiler;

// `cache_dir` NULL: headers and precompiled headers are in a temporary directory that is removed with the compiler.
// Accesses neither the disk nor clang before the first compilation.
ig_status igi_msl_compiler_create(const char *cache_dir, igi_msl_compiler **compiler);
void igi_msl_compiler_destroy(igi_msl_compiler *compiler);

typedef struct igi_msl_request {
    igi_msl_sources sources;
    uint32_t tensor_layout;  // of cooperative tensors, as <metal_cooperative_tensor> numbers them
    const ig_define *defines;
    size_t define_count;
    uint32_t language_version;
    ig_math_mode math_mode;
    bool flush_denormals;   // while it runs, with either mode
    bool line_tables;       // source lines in the bitcode
    bool marks_overflow;    // signed integers that wrap can be distinguished from others
    bool variables;         // and descriptions of variables and types; with line_tables
    bool places;            // debug information for everything, to locate errors
    bool types;             // reflection describes the types of arguments
    const char *syntax_of;  // not NULL: clang's syntax tree of that function, as text, instead of bitcode
    // What a compiler driver asks for; none of it changes the bitcode, and none of it is in the key.
    bool preprocess;            // the preprocessed text, as the user wrote it, instead of bitcode
    bool notes_uses;            // sets `used` of every source that the preprocessor read
    const char *const *styles;  // flags for clang about warnings, or about the form of preprocessed text
    size_t style_count;
    uint64_t timeout_ns;
} igi_msl_request;

// The key under which the result may be cached: sources, options, headers and the clang that would compile them.
igi_hash igi_msl_key(igi_msl_compiler *compiler, const igi_msl_request *request);
// The same without the clang: what is built in was made by the clang of the build.
igi_hash igi_msl_content_key(const igi_msl_compiler *compiler, const igi_msl_request *request);

// Compiles to bitcode, or to a syntax tree. Files whose names only clang can determine are added to request->sources;
// after that, igi_msl_key gives the key of the result, and the earlier key leads to those names (missing.h).
// Diagnostics (on success too, for warnings) go to `diagnostics`, which must be on request->sources. errors:
// COMPILE_FAILED (then see diagnostics), COMPILER_MISSING, _CRASHED, _TIMEOUT, IO, OUT_OF_MEMORY. threads: any number
// at once.
ig_status igi_msl_compile(igi_msl_compiler *compiler, igi_msl_request *request, igi_msl_diagnostics *diagnostics,
                          char **bitcode, size_t *bitcode_length, ig_error *error);
// Part of the build: writes the precompiled header for such requests, which is to be installed. errors:
// COMPILER_MISSING, IO.
ig_status igi_msl_precompile(igi_msl_compiler *compiler, const igi_msl_request *request, const char *path,
                             ig_error *error);

#endif
