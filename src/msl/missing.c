// SPDX-License-Identifier: Apache-2.0
// Adding files that macros name, from clang's messages about files that it cannot find.
#include "msl/missing.h"

#include <assert.h>
#include <string.h>

#include "msl/diagnostics.h"

// ---- Messages ----

// The name in "'name' file not found"; NULL for other messages. Terminates the name in place.
static char *missing_name(char *message) {
    static const char tail[] = "' file not found";
    size_t length = strlen(message), end = sizeof tail - 1;
    if (message[0] != '\'' || length <= end || strcmp(message + length - end, tail) != 0) return NULL;
    message[length - end] = 0;
    return message + 1;
}

static bool any_embeds(const igi_msl_sources *sources) {
    for (size_t i = 0; i < sources->count; i++)
        if (sources->files[i].rewrite.embed_count) return true;
    return false;
}

static bool is_embed_line(const igi_msl_source *source, uint32_t line) {
    for (size_t i = 0; i < source->rewrite.embed_count; i++) {
        const igi_msl_line_range *range = &source->rewrite.embeds[i];
        if (line >= range->first && line <= range->last) return true;
    }
    return false;
}

// It must be certain whether the file is wanted as text or as data, because text is rewritten. After #line a message
// has neither the real file nor line, so there must be no #embed that it could refer to.
static bool identify(const igi_msl_sources *sources, const igi_msl_message *message, igi_msl_wanted *wanted) {
    const igi_msl_source *source = igi_msl_sources_find(sources, message->path);
    bool renumbered = !source;
    for (size_t i = 0; i < sources->count; i++) renumbered = renumbered || sources->files[i].rewrite.renumbered;
    if (renumbered) {
        wanted->includer = (char *)"";
        return !any_embeds(sources);
    }
    wanted->includer = source->path;
    wanted->data = is_embed_line(source, message->line);
    return true;
}

static ig_status add_line(igi_msl_sources *sources, char *line, ig_error *error) {
    igi_msl_message message;
    if (!igi_msl_message_parse(line, &message) || strcmp(message.level, "error") != 0) return IG_STATUS_OK;
    igi_msl_wanted wanted = {.name = missing_name(message.text)};
    if (!wanted.name || !identify(sources, &message, &wanted)) return IG_STATUS_OK;
    // Adding files moves the sources in memory, but not their paths.
    return igi_msl_sources_want(sources, &wanted, error);
}

ig_status igi_msl_add_missing(igi_msl_sources *sources, const char *messages, bool *added, ig_error *error) {
    size_t before = sources->count;
    ig_status status = IG_STATUS_OK;
    while (messages && *messages && status == IG_STATUS_OK) {
        size_t length = strcspn(messages, "\n");
        char *line = igi_strndup(messages, length);
        status = line ? add_line(sources, line, error) : igi_error_no_memory(error);
        free(line);
        messages += length + (messages[length] == '\n');
    }
    *added = status == IG_STATUS_OK && sources->count > before;
    return status;
}

// ---- As bytes ----

static const char magic[16] = "ingot-wanted\0\0\1\n";

void igi_msl_wanted_write(const igi_msl_sources *sources, size_t first, igi_text *bytes) {
    igi_text_append(bytes, magic, sizeof magic);
    for (size_t i = first; i < sources->wanted_count; i++) {
        const igi_msl_wanted *wanted = &sources->wanted[i];
        igi_text_append(bytes, wanted->data ? "d" : "t", 1);
        igi_text_append(bytes, wanted->includer, strlen(wanted->includer) + 1);
        igi_text_append(bytes, wanted->name, strlen(wanted->name) + 1);
    }
}

bool igi_msl_wanted_is(const char *bytes, size_t length) {
    return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static char *take_string(char **at, const char *end) {
    char *start = *at, *zero = memchr(start, 0, (size_t)(end - start));
    if (zero) *at = zero + 1;
    return zero ? start : NULL;
}

ig_status igi_msl_wanted_apply(const char *bytes, size_t length, igi_msl_sources *sources, ig_error *error) {
    assert(igi_msl_wanted_is(bytes, length));
    char *copy = igi_strndup(bytes, length), *at = copy ? copy + sizeof magic : NULL, *end = copy + length;
    ig_status status = copy ? IG_STATUS_OK : igi_error_no_memory(error);
    while (status == IG_STATUS_OK && at < end) {
        igi_msl_wanted wanted = {.data = *at++ == 'd'};
        wanted.includer = take_string(&at, end);
        wanted.name = wanted.includer ? take_string(&at, end) : NULL;
        status = wanted.name ? igi_msl_sources_want(sources, &wanted, error)
                             : igi_error_set(error, IG_STATUS_BAD_FORMAT, "a cache entry is damaged");
    }
    free(copy);
    return status;
}
