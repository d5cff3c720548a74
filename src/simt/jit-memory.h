// SPDX-License-Identifier: Apache-2.0
// Memory for the linker that debuggers and profilers are told about. Code refers to its constants by distances of 32
// bits; LLVM's own manager maps the sections of an object one by one, and the system may put them farther apart.
#ifndef INGOT_SIMT_JIT_MEMORY_H
#define INGOT_SIMT_JIT_MEMORY_H

#include <llvm-c/Orc.h>

LLVMOrcObjectLayerRef igi_simt_jit_memory_layer(LLVMOrcExecutionSessionRef session);

#endif
