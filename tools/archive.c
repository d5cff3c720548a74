// SPDX-License-Identifier: Apache-2.0
// A member is a header of 60 characters and its bytes, padded to an even length. A name that does not fit is in a table
// of names, to which "/OFFSET" leads (GNU), or before the bytes, which "#1/LENGTH" says (BSD).
#include "archive.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char magic[] = "!<arch>\n";
enum { MAGIC = sizeof magic - 1, HEADER = 60, NAME = 16, SIZE_AT = 48, SIZE = 10, END_AT = 58 };

typedef struct archive_reader {
    const char *at, *end, *names;
    size_t name_bytes;
    const char *file;
    ig_error *error;
} archive_reader;

bool tool_is_archive(const char *bytes, size_t length) {
    return length >= MAGIC && memcmp(bytes, magic, MAGIC) == 0;
}

// ---- Reading ----

static ig_status damaged(const archive_reader *r, const char *what) {
    return igi_error_set(r->error, IG_STATUS_BAD_FORMAT, "%s is not a sound archive: %s", r->file, what);
}

// Digits, then blanks. False if it is anything else.
static bool read_number(const char *field, size_t width, size_t *number) {
    size_t i = 0;
    *number = 0;
    for (; i < width && isdigit((unsigned char)field[i]); i++) *number = *number * 10 + (size_t)(field[i] - '0');
    bool any = i > 0;
    while (i < width && field[i] == ' ') i++;
    return any && i == width;
}

// The name of a GNU table ends with "/\n".
static char *name_in_table(const archive_reader *r, const char *header) {
    size_t offset;
    if (!read_number(header + 1, NAME - 1, &offset) || offset >= r->name_bytes) return NULL;
    const char *name = r->names + offset, *end = memchr(name, '\n', r->name_bytes - offset);
    if (!end || end == name) return NULL;
    return igi_strndup(name, (size_t)(end - name) - (end[-1] == '/'));
}

static char *short_name(const char *header) {
    size_t length = NAME;
    while (length && header[length - 1] == ' ') length--;
    if (length && header[length - 1] == '/') length--;
    return igi_strndup(header, length);
}

// Moves the start of the bytes past a name that stands before them.
static char *read_name(const archive_reader *r, const char *header, const char **bytes, size_t *length) {
    size_t before;
    if (header[0] == '/') return name_in_table(r, header);
    if (strncmp(header, "#1/", 3) != 0) return short_name(header);
    if (!read_number(header + 3, NAME - 3, &before) || before > *length) return NULL;
    char *name = igi_strndup(*bytes, before);
    *bytes += before, *length -= before;
    return name;
}

static bool add(tool_archive *archive, char *name, const char *bytes, size_t length) {
    if (!name ||
        !igi_grow((void **)&archive->members, &archive->capacity, archive->count + 1, sizeof *archive->members)) {
        free(name);
        return false;
    }
    archive->members[archive->count++] = (tool_member){name, bytes, length};
    return true;
}

// Tables of symbols are of no use here.
static bool is_symbol_table(const char *header, const char *name) {
    return strncmp(header, "/ ", 2) == 0 || strncmp(header, "/SYM64/", 7) == 0 || strncmp(name, "__.SYMDEF", 9) == 0;
}

static ig_status read_member(archive_reader *r, tool_archive *archive) {
    if (r->end - r->at < HEADER) return damaged(r, "it ends inside a header");
    const char *header = r->at, *bytes = r->at + HEADER;
    size_t length, left = (size_t)(r->end - bytes);
    if (memcmp(header + END_AT, "`\n", 2) != 0 || !read_number(header + SIZE_AT, SIZE, &length) || length > left)
        return damaged(r, "a header is damaged, or its member is cut off");
    r->at = bytes + length + (length % 2 && length < left);
    if (strncmp(header, "// ", 3) == 0) {
        r->names = bytes, r->name_bytes = length;
        return IG_STATUS_OK;
    }
    if (strncmp(header, "/ ", 2) == 0 || strncmp(header, "/SYM64/", 7) == 0) return IG_STATUS_OK;
    char *name = read_name(r, header, &bytes, &length);
    if (!name || !*name) {
        free(name);
        return damaged(r, "a member has no name");
    }
    if (is_symbol_table(header, name)) {
        free(name);
        return IG_STATUS_OK;
    }
    return add(archive, name, bytes, length) ? IG_STATUS_OK : igi_error_no_memory(r->error);
}

ig_status tool_archive_read(const char *bytes, size_t length, const char *name, tool_archive *archive,
                            ig_error *error) {
    *archive = (tool_archive){0};
    archive_reader r = {.at = bytes + MAGIC, .end = bytes + length, .file = name, .error = error};
    if (!tool_is_archive(bytes, length)) {
        r.at = r.end;
        return damaged(&r, "it does not begin with !<arch>");
    }
    ig_status status = IG_STATUS_OK;
    while (status == IG_STATUS_OK && r.at < r.end) status = read_member(&r, archive);
    if (status != IG_STATUS_OK) tool_archive_free(archive);
    return status;
}

// ---- Changing ----

tool_member *tool_archive_find(const tool_archive *archive, const char *name) {
    for (size_t i = 0; i < archive->count; i++)
        if (strcmp(archive->members[i].name, name) == 0) return &archive->members[i];
    return NULL;
}

bool tool_archive_put(tool_archive *archive, const char *name, const char *bytes, size_t length) {
    tool_member *known = tool_archive_find(archive, name);
    if (!known) return add(archive, igi_strdup(name), bytes, length);
    known->bytes = bytes;
    known->length = length;
    return true;
}

void tool_archive_remove(tool_archive *archive, size_t index) {
    free(archive->members[index].name);
    archive->count--;
    memmove(&archive->members[index], &archive->members[index + 1],
            (archive->count - index) * sizeof *archive->members);
}

void tool_archive_free(tool_archive *archive) {
    for (size_t i = 0; i < archive->count; i++) free(archive->members[i].name);
    free(archive->members);
    *archive = (tool_archive){0};
}

// ---- Writing ----

// "#1" and a slash would be read as BSD's.
static bool is_short(const char *name) {
    return strlen(name) < NAME && !strchr(name, '/') && strcmp(name, "#1") != 0;
}

static void put_member(igi_text *bytes, const char *name, const char *contents, size_t length) {
    igi_text_addf(bytes, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", name, "0", "0", "0", "644", length);
    igi_text_append(bytes, contents, length);
    if (length % 2) igi_text_add(bytes, "\n");
}

void tool_archive_write(const tool_archive *archive, igi_text *bytes) {
    igi_text names = {0};
    size_t offset = 0;
    for (size_t i = 0; i < archive->count; i++)
        if (!is_short(archive->members[i].name)) igi_text_addf(&names, "%s/\n", archive->members[i].name);
    igi_text_add(bytes, magic);
    if (names.length) put_member(bytes, "//", names.data, names.length);
    for (size_t i = 0; i < archive->count; i++) {
        const tool_member *member = &archive->members[i];
        char name[NAME + 8];
        if (is_short(member->name)) {
            snprintf(name, sizeof name, "%s/", member->name);
        } else {
            snprintf(name, sizeof name, "/%zu", offset);
            offset += strlen(member->name) + 2;
        }
        put_member(bytes, name, member->bytes, member->length);
    }
    if (names.failed) bytes->failed = true;
    igi_text_free(&names);
}
