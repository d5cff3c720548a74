// SPDX-License-Identifier: Apache-2.0
// A compiled library as bytes: reflection, log and bitcode, for the disk cache and for what is built in.
#ifndef INGOT_MSL_PACKED_H
#define INGOT_MSL_PACKED_H

#include "msl/reflect.h"

typedef struct igi_packed {
    igi_reflection reflection;
    char *log, *bitcode;
    size_t bitcode_length;
} igi_packed;

void igi_packed_write(const igi_packed *library, igi_text *bytes);
// owns: the members are the caller's. False, with nothing to free, when the bytes are not that or memory is short.
bool igi_packed_read(const char *bytes, size_t length, igi_packed *library);

#endif
