// SPDX-License-Identifier: Apache-2.0
// What differs between the versions of LLVM that Ingot is built with, 19 to 21. Nothing else asks for the version.
#ifndef INGOT_MSL_LLVM_VERSIONS_H
#define INGOT_MSL_LLVM_VERSIONS_H

#include <llvm-c/Core.h>

// The number of an attribute by its name in LLVM 19; 0 if this version has neither it nor a successor.
unsigned igi_llvm_attribute_kind(const char *name);

#endif
