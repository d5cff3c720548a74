// SPDX-License-Identifier: Apache-2.0
// Archives in the format of `ar`, with long names as GNU and BSD write them.
#ifndef INGOT_TOOLS_ARCHIVE_H
#define INGOT_TOOLS_ARCHIVE_H

#include "core/memory.h"
#include "core/status-internal.h"

typedef struct tool_member {
    char *name;
    const char *bytes;
    size_t length;
} tool_member;

typedef struct tool_archive {
    tool_member *members;
    size_t count, capacity;
} tool_archive;

bool tool_is_archive(const char *bytes, size_t length);
// Members point into the bytes. `name` is for messages. errors: BAD_FORMAT, OUT_OF_MEMORY.
ig_status tool_archive_read(const char *bytes, size_t length, const char *name, tool_archive *archive, ig_error *error);
// In the place of the member of that name, or at the end. Returns false when memory is short.
bool tool_archive_put(tool_archive *archive, const char *name, const char *bytes, size_t length);
void tool_archive_remove(tool_archive *archive, size_t index);
// NULL: there is none.
tool_member *tool_archive_find(const tool_archive *archive, const char *name);
// Without times and owners, so that the same members give the same bytes.
void tool_archive_write(const tool_archive *archive, igi_text *bytes);
void tool_archive_free(tool_archive *archive);

#endif
