// SPDX-License-Identifier: Apache-2.0
// The order of a block's instructions.
#ifndef INGOT_SIMT_REORDER_H
#define INGOT_SIMT_REORDER_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Computes every value right before it is first needed by an access to memory or a branch, so that few values are alive
// at a time. Returns false when memory is short.
bool igi_simt_reorder(LLVMBasicBlockRef block);

#endif
