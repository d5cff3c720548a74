// SPDX-License-Identifier: Apache-2.0
// The elements that a kernel's argument points to.
#ifndef INGOT_MSL_ELEMENT_TYPE_H
#define INGOT_MSL_ELEMENT_TYPE_H

#include <ingot/device.h>

// Of a type as reflection has it, such as "const float4*": vectors, matrices and atomics count as their elements. False
// for structures, pointers to pointers and void, which may hold anything.
bool igi_msl_element_type(const char *type, ig_type *element);

#endif
