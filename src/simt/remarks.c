// SPDX-License-Identifier: Apache-2.0
// A list of remarks, and their source locations.
#include "simt/remarks.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "core/memory.h"
#include "msl/diagnostics.h"
#include "simt/place.h"

const char *igi_simt_remark_kind_name(igi_simt_remark_kind kind) {
    static const char *const names[] = {
#define NAME(name, text) [IGI_REMARK_##name] = (text),
        IGI_REMARK_LIST(NAME)
#undef NAME
    };
    return names[kind];
}

// ---- Places ----

typedef struct spot {
    char *path;  // owned, absolute
    const igi_msl_source *source;
    uint32_t line, column;
} spot;

// Returns false if the location is not known.
static bool find_spot(const igi_simt_remarks *remarks, LLVMMetadataRef place, spot *found) {
    *found = (spot){0};
    place = igi_simt_place_of_user(place);
    if (!place) return false;
    *found = (spot){igi_simt_place_path(place), NULL, LLVMDILocationGetLine(place), LLVMDILocationGetColumn(place)};
    if (found->path && remarks->sources) found->source = igi_msl_sources_find(remarks->sources, found->path);
    return found->path != NULL;
}

uint32_t igi_simt_remarks_line(const igi_simt_remarks *remarks, LLVMMetadataRef place) {
    spot at;
    find_spot(remarks, place, &at);
    free(at.path);
    return at.line;
}

char *igi_simt_remarks_mention(const igi_simt_remarks *remarks, LLVMMetadataRef place, LLVMMetadataRef from) {
    spot at, near;
    bool known = find_spot(remarks, place, &at), compared = find_spot(remarks, from, &near);
    bool same_file = known && compared && strcmp(at.path, near.path) == 0;
    char *text;
    if (!known || (same_file && at.line == near.line))
        text = igi_strdup("");
    else if (same_file || !compared)
        text = igi_format(" (line %u)", at.line);
    else
        text = igi_format(" (%s:%u)", at.source ? at.source->display : at.path, at.line);
    free(at.path), free(near.path);
    return text;
}

// ---- The list ----

void igi_simt_remarks_add(igi_simt_remarks *remarks, igi_simt_remark_kind kind, LLVMMetadataRef place, char *text) {
    spot at;
    bool placed = find_spot(remarks, place, &at);
    igi_simt_remark remark = {.kind = kind, .line = at.line, .column = at.column, .text = text};
    if (at.source && at.column)
        remark.column = igi_msl_rewrite_locate(&at.source->rewrite, at.source->text, at.line, at.column);
    else if (at.source)
        remark.column = igi_msl_source_column(at.source, at.line, remarks->name);
    remark.file = igi_strdup(at.source ? at.source->display : placed ? at.path : "");
    free(at.path);
    if (!text || !remark.file || (at.line && !placed) ||
        !igi_grow((void **)&remarks->items, &remarks->capacity, remarks->count + 1, sizeof *remarks->items)) {
        free(remark.file), free(text);
        remarks->failed = true;
        return;
    }
    remarks->items[remarks->count++] = remark;
}

static int compare_numbers(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

static int compare_places(const igi_simt_remark *a, const igi_simt_remark *b) {
    int order = strcmp(a->file, b->file);
    if (!order) order = compare_numbers(a->line, b->line);
    return order ? order : compare_numbers(a->column, b->column);
}

static int compare(const void *left, const void *right) {
    const igi_simt_remark *a = left, *b = right;
    int order = compare_numbers(a->kind != IGI_REMARK_WIDTH, b->kind != IGI_REMARK_WIDTH);
    if (!order) order = compare_places(a, b);
    if (!order) order = compare_numbers(a->kind, b->kind);
    return order ? order : strcmp(a->text, b->text);
}

static void free_remark(igi_simt_remark *remark) {
    free(remark->file), free(remark->text);
}

// A duplicate; a branch before a loop, which says no more than the loop; or how the last, partial group of lanes does
// what full ones do better.
static bool says_nothing_new(const igi_simt_remark *before, const igi_simt_remark *remark) {
    if (compare(before, remark) == 0) return true;
    bool guard = before->kind == IGI_REMARK_DIVERGENT_LOOP && remark->kind == IGI_REMARK_DIVERGENT_BRANCH;
    bool tail = before->kind == IGI_REMARK_ROW_SCATTER && remark->kind == IGI_REMARK_SCATTER;
    return (guard || tail) && compare_places(before, remark) == 0;
}

void igi_simt_remarks_sort(igi_simt_remarks *remarks) {
    size_t kept = 0;
    if (remarks->count) qsort(remarks->items, remarks->count, sizeof *remarks->items, compare);
    for (size_t i = 0; i < remarks->count; i++) {
        if (kept && says_nothing_new(&remarks->items[kept - 1], &remarks->items[i]))
            free_remark(&remarks->items[i]);
        else
            remarks->items[kept++] = remarks->items[i];
    }
    remarks->count = kept;
}

void igi_simt_remarks_drop(igi_simt_remarks *remarks, igi_simt_remark_kind first) {
    size_t kept = 0;
    for (size_t i = 0; i < remarks->count; i++) {
        if (remarks->items[i].kind >= first)
            free_remark(&remarks->items[i]);
        else
            remarks->items[kept++] = remarks->items[i];
    }
    remarks->count = kept;
}

void igi_simt_remarks_free(igi_simt_remarks *remarks) {
    for (size_t i = 0; i < remarks->count; i++) free_remark(&remarks->items[i]);
    free(remarks->items);
    *remarks = (igi_simt_remarks){0};
}
