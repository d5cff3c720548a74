// SPDX-License-Identifier: Apache-2.0
// Source locations, LLVM's DILocation: a line of a file, and the call that was inlined there.
#ifndef INGOT_SIMT_PLACE_H
#define INGOT_SIMT_PLACE_H

#include <llvm-c/Types.h>

// The path of its file as given to clang. owns: the caller's; NULL when memory is short.
char *igi_simt_place_path(LLVMMetadataRef place);
// The innermost location that is not in a standard header and has a line: for a library function, that of its call.
// NULL if there is none, or `place` is NULL.
LLVMMetadataRef igi_simt_place_of_user(LLVMMetadataRef place);

#endif
