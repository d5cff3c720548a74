// SPDX-License-Identifier: Apache-2.0
// Which variables of a source are in threadgroup memory: other threads may set them, so clang's warnings that nobody
// did mean nothing.
#ifndef INGOT_MSL_THREADGROUP_VARIABLE_H
#define INGOT_MSL_THREADGROUP_VARIABLE_H

#include "msl/sources.h"

// Whether the declaration that ends at a place of the original text is of a threadgroup variable, also when a macro of
// the same file says so.
bool igi_msl_declares_threadgroup(const igi_msl_source *source, uint32_t line, uint32_t column);

#endif
