// SPDX-License-Identifier: Apache-2.0
// One source of `metal`.
#ifndef INGOT_TOOLS_COMPILE_H
#define INGOT_TOOLS_COMPILE_H

#include "metal-options.h"
#include "msl/compiler.h"

// A rule for make.
typedef struct metal_rule {
    const char *target;
    const char *path;  // NULL: none is written
} metal_rule;

// Compiles, checks or preprocesses the input, as the options say, and writes the rule. Messages go to stderr. `result` is
// a bundle of one unit, or text. owns: it is the caller's, also on failure.
bool metal_compile(const metal_options *options, igi_msl_compiler *compiler, const char *input, const metal_rule *rule,
                   igi_text *result);

#endif
