// SPDX-License-Identifier: Apache-2.0
// The machine that kernels are compiled for: this one, unless another was chosen.
#ifndef INGOT_SIMT_TARGET_H
#define INGOT_SIMT_TARGET_H

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

// As LLVM names them.
typedef struct igi_simt_target {
    const char *triple, *cpu, *features;
} igi_simt_target;

// For a process that compiles for the machine of another one. The strings are not copied.
// pre: called once, before anything of src/simt asks for the target.
void igi_simt_choose_target(igi_simt_target target);
// Its strings are static, and part of every cache key.
igi_simt_target igi_simt_chosen_target(void);
// The features of the target: "+avx2,-avx512f,...".
const char *igi_simt_features(void);
bool igi_simt_is_for_x86(void);
bool igi_simt_has_fused_multiply_add(void);
bool igi_simt_is_for_arm(void);  // of 64 bits

// NULL if this LLVM has no such target.
LLVMTargetMachineRef igi_simt_open_machine(LLVMCodeGenOptLevel level);

// LLVM's list of the host's features, with what it does not know of ARM. owns: takes and returns an LLVM message
char *igi_simt_with_arm_features(char *features);

#endif
