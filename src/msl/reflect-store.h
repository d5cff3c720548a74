// SPDX-License-Identifier: Apache-2.0
// Reflections as bytes, so that a cached library opens without reading its bitcode.
#ifndef INGOT_MSL_REFLECT_STORE_H
#define INGOT_MSL_REFLECT_STORE_H

#include "msl/reflect.h"

void igi_msl_reflection_write(const igi_msl_reflection *reflection, igi_text *bytes);
// *used is the number of bytes consumed. Returns false if they are not a reflection or memory is short.
bool igi_msl_reflection_read(const char *bytes, size_t length, size_t *used, igi_msl_reflection *reflection);

#endif
