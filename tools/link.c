// SPDX-License-Identifier: Apache-2.0
// Units from several files, put together as one library.
#include <string.h>

#include "archive.h"
#include "console/output.h"
#include "files.h"
#include "tools.h"

static bool add_bundle(tool_units *units, const char *file, const char *bytes, size_t length) {
    igi_msl_bundle bundle;
    ig_error error = {0};
    ig_status status = igi_msl_bundle_read(bytes, length, file, &bundle, &error);
    if (status != IG_STATUS_OK) return tool_report(status, &error), false;
    tool_keep(bundle.units);
    for (size_t i = 0; i < bundle.count; i++) {
        const igi_msl_unit *unit = &bundle.units[i];
        tool_keep(unit->defines), tool_keep((void *)unit->include_dirs), tool_keep(unit->files);
        tool_keep(unit->symbols);
        if (!igi_grow((void **)&units->items, &units->capacity, units->count + 1, sizeof *units->items))
            return tool_error("out of memory"), false;
        units->items[units->count++] = (tool_unit){*unit, file};
    }
    return true;
}

static bool add_archive(tool_units *units, const char *file, const char *bytes, size_t length) {
    tool_archive archive;
    ig_error error = {0};
    ig_status status = tool_archive_read(bytes, length, file, &archive, &error);
    if (status != IG_STATUS_OK) return tool_report(status, &error), false;
    bool ok = true;
    for (size_t i = 0; ok && i < archive.count; i++) {
        const tool_member *member = &archive.members[i];
        char *name = igi_format("%s(%s)", file, member->name);
        ok = tool_keep(name) && tool_add_units(units, name, member->bytes, member->length);
    }
    tool_archive_free(&archive);
    return ok;
}

// LLVM's bitcode, with or without its wrapper, and Apple's containers.
static bool is_apples(const char *bytes, size_t length) {
    static const char *const starts[] = {"MTLB", "\xcb\xfe\xba\xbe", "BC\xc0\xde", "\xde\xc0\x17\x0b"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (length >= 4 && memcmp(bytes, starts[i], 4) == 0) return true;
    return false;
}

bool tool_add_units(tool_units *units, const char *file, const char *bytes, size_t length) {
    if (igi_msl_is_bundle(bytes, length)) return add_bundle(units, file, bytes, length);
    if (tool_is_archive(bytes, length)) return add_archive(units, file, bytes, length);
    if (is_apples(bytes, length))
        tool_error("'%s' was made by Apple's compiler: Ingot runs such libraries, but only Apple's metallib links them",
                   file);
    else
        tool_error("'%s' is neither a file that `metal -c` wrote nor an archive of them", file);
    return false;
}

bool tool_read_units(tool_units *units, const char *path) {
    char *bytes = NULL;
    size_t length = 0;
    if (!tool_read(path, &bytes, &length)) return false;
    tool_keep(bytes);
    return tool_add_units(units, strcmp(path, "-") == 0 ? "<stdin>" : path, bytes, length);
}

void tool_units_free(tool_units *units) {
    free(units->items);
    *units = (tool_units){0};
}

// ---- Functions ----

typedef struct definition {
    const char *name, *file;
    size_t order;
} definition;

static int by_name(const void *a, const void *b) {
    const definition *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : (left->order > right->order) - (left->order < right->order);
}

static definition *list_definitions(const tool_units *units, size_t *count) {
    *count = 0;
    for (size_t i = 0; i < units->count; i++) *count += units->items[i].unit.symbol_count;
    definition *all = cli_alloc(*count * sizeof *all + 1);
    size_t at = 0;
    for (size_t i = 0; i < units->count; i++)
        for (size_t k = 0; k < units->items[i].unit.symbol_count; k++, at++)
            all[at] = (definition){units->items[i].unit.symbols[k].name, units->items[i].file, at};
    qsort(all, *count, sizeof *all, by_name);
    return all;
}

static bool are_unique(const tool_units *units) {
    size_t count, wrong = 0;
    definition *all = list_definitions(units, &count);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(all[i - 1].name, all[i].name) != 0) continue;
        tool_error("duplicate symbol: %s\n>>> defined in %s\n>>> defined in %s", all[i].name, all[i - 1].file,
                   all[i].file);
        wrong++;
    }
    free(all);
    return wrong == 0;
}

bool tool_link(const tool_units *units, const char *output) {
    if (!are_unique(units)) return false;
    igi_msl_unit *bare = cli_alloc(units->count * sizeof *bare + 1);
    igi_text bytes = {0};
    for (size_t i = 0; i < units->count; i++) bare[i] = units->items[i].unit;
    igi_msl_bundle_write(bare, units->count, &bytes);
    free(bare);
    bool written = bytes.failed ? (tool_error("out of memory"), false) : tool_write(output, bytes.data, bytes.length);
    igi_text_free(&bytes);
    return written;
}
