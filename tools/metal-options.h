// SPDX-License-Identifier: Apache-2.0
// The command line of `metal`: that of clang, as far as builds of Metal libraries use it.
#ifndef INGOT_TOOLS_METAL_OPTIONS_H
#define INGOT_TOOLS_METAL_OPTIONS_H

#include "console/options.h"

typedef enum metal_action {
    METAL_LINK,          // sources and objects to a library
    METAL_OBJECT,        // -c
    METAL_TEXT,          // -S: LLVM's IR
    METAL_CHECK,         // -fsyntax-only
    METAL_PREPROCESS,    // -E
    METAL_DEPENDENCIES,  // -M, -MM
} metal_action;

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): by topic
typedef struct metal_options {
    metal_action action;
    cli_list inputs;
    const char *output;    // NULL: made from the input
    const char *language;  // of -x; NULL: by the ending of each file
    // The language
    uint32_t language_version;  // 0: that of the system
    uint32_t system_version;    // language version of -mmacosx-version-min and its relatives; 0: none was given
    ig_math_mode math_mode;
    ig_define *defines;
    size_t define_count, define_capacity;
    cli_list include_dirs, system_dirs, after_dirs, before;
    cli_list styles;    // for clang
    bool has_warnings;  // among them
    // Dependencies
    bool writes_dependencies;  // -MD, -MMD
    bool phony;                // -MP
    bool lists_headers;        // -H
    const char *dependency_file;
    cli_list targets;  // as they are written
    bool verbose, dry_run;
    int result;  // CLI_CONTINUE, or an exit code
} metal_options;

// Reads the arguments; what is wrong with them has been said if `result` is not CLI_CONTINUE.
void metal_read_options(metal_options *options, const cli_list *arguments);
void metal_free_options(metal_options *options);

#endif
