// SPDX-License-Identifier: Apache-2.0
// The members of [[stage_in]] structures that a kernel reads.
#ifndef INGOT_MSL_REFLECT_STAGE_H
#define INGOT_MSL_REFLECT_STAGE_H

#include <ingot/device.h>
#include <llvm-c/Core.h>

// Functions of a module that fetch members, which annotate.c put there.
typedef struct igi_msl_stage_members {
    struct igi_msl_stage_member *items;
    size_t count, capacity;
    bool failed;  // memory
} igi_msl_stage_members;

void igi_msl_stage_members_find(LLVMModuleRef module, igi_msl_stage_members *members);
void igi_msl_stage_members_free(igi_msl_stage_members *members);
// Appends those that the kernel reads to its arguments. Returns false when memory is short.
bool igi_msl_stage_members_append(const igi_msl_stage_members *members, LLVMValueRef kernel, ig_kernel_info *info);

#endif
