// SPDX-License-Identifier: Apache-2.0
// -M and its relatives. The standard headers are part of Ingot and not among the files.
#include "dependencies.h"

#include <string.h>

#include "core/memory.h"
#include "files.h"
#include "tools.h"

char *tool_make_quoted(const char *name) {
    igi_text text = {0};
    igi_text_add(&text, "");
    for (; *name; name++) {
        if (*name == ' ' || *name == '#' || *name == '\t') igi_text_add(&text, "\\");
        if (*name == '$') igi_text_add(&text, "$");
        igi_text_append(&text, name, 1);
    }
    return igi_text_take(&text);
}

static bool is_own(const igi_msl_source *source) {
    size_t length = strlen(igi_msl_own_includes);
    return strncmp(source->path, igi_msl_own_includes, length) == 0 && source->path[length] == '/';
}

static bool is_listed(const igi_msl_source *source) {
    return source->used && !is_own(source) && strcmp(source->display, "<stdin>") != 0;
}

// As clang does, without the current directory before it.
static void add_name(igi_text *text, const char *name) {
    char *quoted = tool_make_quoted(strncmp(name, "./", 2) == 0 ? name + 2 : name);
    if (quoted)
        igi_text_add(text, quoted);
    else
        text->failed = true;
    free(quoted);
}

static void add_phony(igi_text *text, const igi_msl_sources *sources) {
    for (size_t i = 1; i < sources->count; i++) {
        if (!is_listed(&sources->files[i])) continue;
        add_name(text, sources->files[i].display);
        igi_text_add(text, ":\n");
    }
}

bool metal_write_rule(const metal_options *options, const igi_msl_sources *sources, const char *target,
                      const char *path) {
    igi_text text = {0};
    for (size_t i = 0; i < options->targets.count; i++)
        igi_text_addf(&text, "%s%s", i ? " " : "", options->targets.items[i]);
    if (!options->targets.count) add_name(&text, target);
    igi_text_add(&text, ":");
    for (size_t i = 0; i < sources->count; i++) {
        if (!is_listed(&sources->files[i])) continue;
        igi_text_add(&text, i ? " \\\n  " : " ");
        add_name(&text, sources->files[i].display);
    }
    igi_text_add(&text, "\n");
    if (options->phony) add_phony(&text, sources);
    bool written = text.failed ? (tool_error("out of memory"), false) : tool_write(path, text.data, text.length);
    igi_text_free(&text);
    return written;
}
