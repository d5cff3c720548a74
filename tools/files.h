// SPDX-License-Identifier: Apache-2.0
// What the tools read and write: files, and "-" for standard input and output.
#ifndef INGOT_TOOLS_FILES_H
#define INGOT_TOOLS_FILES_H

#include "core/memory.h"
#include "msl/bundle.h"

// Writes to the file, which appears only once it is complete, or to standard output for "-". Returns false after a message.
bool tool_write(const char *path, const char *bytes, size_t length);
// Whether it is a device or a pipe, which is written to, not replaced.
bool tool_is_special(const char *path);
// owns: *bytes is the caller's. Returns false after a message.
bool tool_read(const char *path, char **bytes, size_t *length);

// A unit on its way into a library, and the file it came from.
typedef struct tool_unit {
    igi_msl_unit unit;
    const char *file;  // for messages; kept until the process ends
} tool_unit;

// Bytes and bundles stay in memory until the process ends.
typedef struct tool_units {
    tool_unit *items;
    size_t count, capacity;
} tool_units;
void tool_units_free(tool_units *units);

// Adds the units of the bytes: a bundle, or an archive of bundles. Returns false after a message.
bool tool_add_units(tool_units *units, const char *file, const char *bytes, size_t length);
bool tool_read_units(tool_units *units, const char *path);
// Writes them as one library. Two functions of the same name are an error. Returns false after a message.
bool tool_link(const tool_units *units, const char *output);

#endif
