// SPDX-License-Identifier: Apache-2.0
// The types that kernels' arguments point to, from debug information.
#ifndef INGOT_MSL_LAYOUT_H
#define INGOT_MSL_LAYOUT_H

#include "msl/reflect.h"

// Fills the layouts of the buffers of `reflection`, whose kernels are those of `bitcode`. Arguments whose type is not
// described there get none. errors: BAD_FORMAT, OUT_OF_MEMORY.
ig_status igi_msl_describe_layouts(const char *bitcode, size_t length, igi_msl_reflection *reflection);

void igi_msl_layout_free(const ig_layout *layout, size_t count);

#endif
