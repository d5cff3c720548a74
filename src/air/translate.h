// SPDX-License-Identifier: Apache-2.0
// AIR, the bitcode of a .metallib, to the bitcode that src/msl makes of a source and src/simt compiles.
//
// AIR is hostile input and LLVM reads it: igi_air_translate runs in ingot-codegen (src/codegen). Its result is read by
// the process that asked for it, which trusts none of it.
#ifndef INGOT_AIR_TRANSLATE_H
#define INGOT_AIR_TRANSLATE_H

#include "msl/packed.h"

// The function of a module.
typedef struct igi_air_translated {
    bool flushes_denormals;
    igi_msl_packed library;  // with one kernel, or visible function, or another function, which has no bitcode
} igi_air_translated;

// `name` is that of the function in the container. owns: *output, for igi_air_translated_read, is the caller's.
// errors: BAD_FORMAT (not AIR), UNSUPPORTED (it uses what has no counterpart here, which is named), OUT_OF_MEMORY.
ig_status igi_air_translate(const char *bitcode, size_t length, const char *name, char **output, size_t *output_length,
                            ig_error *error);
// LLVM's text of the module, as it is. owns: *output is the caller's, and ends with a zero. errors: as above.
ig_status igi_air_print(const char *bitcode, size_t length, const char *name, char **output, size_t *output_length,
                        ig_error *error);
// owns: the members are the caller's. Returns false, with nothing to free, if the bytes are invalid or memory is short.
bool igi_air_translated_read(const char *bytes, size_t length, igi_air_translated *translated);
void igi_air_translated_free(igi_air_translated *translated);

#endif
