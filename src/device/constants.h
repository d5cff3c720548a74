// SPDX-License-Identifier: Apache-2.0
// Copies of function constants, for those who need them after the call that gave them.
#ifndef INGOT_DEVICE_CONSTANTS_H
#define INGOT_DEVICE_CONSTANTS_H

#include "device/objects.h"

// owns: the copy, with names and values. pre: each has a value, and a type that exists. Returns NULL if memory is short.
ig_function_constant *igi_device_constants_copy(const ig_function_constant *constants, size_t count);
void igi_device_constants_free(ig_function_constant *constants, size_t count);

#endif
