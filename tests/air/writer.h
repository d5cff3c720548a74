// SPDX-License-Identifier: Apache-2.0
// Writes .metallib files for tests: containers of our own, with any bytes as bitcode.
#ifndef INGOT_TESTS_AIR_WRITER_H
#define INGOT_TESTS_AIR_WRITER_H

#include <stdint.h>

#include "core/memory.h"

typedef struct written_constant {
    const char *name;
    uint8_t data_type;  // MTLDataType
    uint16_t id;
} written_constant;

typedef struct written_function {
    const char *name;
    uint8_t kind;  // igi_air_function_kind
    const char *bitcode;
    size_t bitcode_length;
    const written_constant *constants;
    size_t constant_count;
} written_function;

void write_metallib(const written_function *functions, size_t count, igi_text *file);
// One file with the same library for several architectures, numbered as `kinds` says.
void write_universal(const igi_text *libraries, const uint32_t *kinds, uint32_t count, igi_text *file);
// A Mach-O library with one section of text, one without bytes in the file, and one for each of the libraries.
void write_macho(const igi_text *libraries, const char *const *names, uint32_t count, igi_text *file);
// One file for two processors: the given one behind one that is not a Mach-O file.
void write_fat(const igi_text *macho, bool wide, igi_text *file);

#endif
