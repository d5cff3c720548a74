// SPDX-License-Identifier: Apache-2.0
// Rules for make: which files a target is made from.
#ifndef INGOT_TOOLS_DEPENDENCIES_H
#define INGOT_TOOLS_DEPENDENCIES_H

#include "metal-options.h"
#include "msl/sources.h"

// With what means something to make escaped. owns: the caller frees it.
char *tool_make_quoted(const char *name);
// The rule for the sources that clang read. `target` is used if the options name none. Returns false after a message.
bool metal_write_rule(const metal_options *options, const igi_msl_sources *sources, const char *target,
                      const char *path);

#endif
