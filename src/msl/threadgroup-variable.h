// SPDX-License-Identifier: Apache-2.0
// Which variables of a source are in threadgroup memory. Other threads may set them, so clang's warnings that they are
// uninitialised are meaningless.
#ifndef INGOT_MSL_THREADGROUP_VARIABLE_H
#define INGOT_MSL_THREADGROUP_VARIABLE_H

#include "msl/sources.h"

// Whether the declaration that ends at a location of the original text declares a threadgroup variable, possibly
// through a macro of the same file.
bool igi_msl_declares_threadgroup(const igi_msl_source *source, uint32_t line, uint32_t column);

#endif
