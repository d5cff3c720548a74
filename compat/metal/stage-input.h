// SPDX-License-Identifier: Apache-2.0
// [[stage_in]] of kernels, from Metal's descriptors to Ingot's. Internal.
#ifndef INGOT_COMPAT_METAL_STAGE_INPUT_H
#define INGOT_COMPAT_METAL_STAGE_INPUT_H

#include "library.h"

// What the descriptor says of the kernel's attributes; NULL if the kernel has none, or there is an error. owns: the caller
// frees it with free().
ig_stage_input *igi_new_stage_input(MTLStageInputOutputDescriptor *descriptor, const ig_kernel_info *kernel,
                                    NSError **error);
BOOL igi_has_stage_input(const ig_kernel_info *kernel);
// The function's attributes, as objects of the class, or nil if it has none.
NSArray *igi_stage_input_attributes(const ig_kernel_info *kernel, Class class);

#endif
