// SPDX-License-Identifier: Apache-2.0
// A compiled library as bytes: reflection, log and bitcode, for the disk cache and for built-in libraries.
#ifndef INGOT_MSL_PACKED_H
#define INGOT_MSL_PACKED_H

#include "msl/reflect.h"

typedef struct igi_msl_packed {
    igi_msl_reflection reflection;
    char *log, *bitcode;
    size_t bitcode_length;
} igi_msl_packed;

void igi_msl_packed_write(const igi_msl_packed *library, igi_text *bytes);
// owns: the members are the caller's. Returns false, with nothing to free, if the bytes are invalid or memory is short.
bool igi_msl_packed_read(const char *bytes, size_t length, igi_msl_packed *library);

#endif
