// SPDX-License-Identifier: Apache-2.0
// Places in the source, LLVM's DILocation: a line of a file, and the call that was inlined there.
#ifndef INGOT_SIMT_PLACE_H
#define INGOT_SIMT_PLACE_H

#include <llvm-c/Types.h>

// Path of its file as it was given to clang. owns: the caller's; NULL when memory is short.
char *igi_simt_place_path(LLVMMetadataRef place);
// The innermost place that is not in a standard header and has a line: of a library function, where it is called.
// NULL when there is none, or `place` is.
LLVMMetadataRef igi_simt_place_of_user(LLVMMetadataRef place);

#endif
