// SPDX-License-Identifier: Apache-2.0
// Stand-ins for the programs of Xcode that build Metal libraries. They are one program that looks at the name it is
// called by; each of these functions is one of the names, and returns its exit code.
#ifndef INGOT_TOOLS_TOOLS_H
#define INGOT_TOOLS_TOOLS_H

#include "console/options.h"

int tool_metal(int argc, char **argv);
int tool_metallib(int argc, char **argv);
int tool_metal_ar(int argc, char **argv);
int tool_metal_nm(int argc, char **argv);
int tool_metal_objdump(int argc, char **argv);
int tool_sw_vers(int argc, char **argv);
int tool_xcrun(int argc, char **argv);

// The SDK and the language that are stood in for: those of macOS 15, whose API libMetal follows.
#define TOOL_SDK_VERSION "15.0"
enum { TOOL_LANGUAGE_VERSION = 320 };

// The directory in which the tools are, by their names; the process keeps it.
const char *tool_directory(void);

// "metal: error: ..." on stderr. Returns 1.
__attribute__((format(printf, 1, 2))) int tool_error(const char *format, ...);
__attribute__((format(printf, 1, 2))) void tool_warning(const char *format, ...);
// The error's message, which is cleared. Returns 1.
int tool_report(ig_status status, ig_error *error);
void tool_print_version(const char *what);

// The memory stays until the process ends, and can be found from here. Returns it.
void *tool_keep(void *memory);

// Arguments with each @FILE replaced by the words in that file, as compilers do. The words are kept until the process ends.
// Returns false after a message.
bool tool_expand_arguments(int argc, char **argv, cli_list *arguments);

#endif
