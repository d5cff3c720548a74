// SPDX-License-Identifier: Apache-2.0
// Replacements in a text.
#include "msl/edits.h"

#include <assert.h>
#include <string.h>

bool igi_msl_edits_add(igi_msl_edits *edits, size_t offset, size_t length, char *text) {
    if (!text || !igi_grow((void **)&edits->items, &edits->capacity, edits->count + 1, sizeof *edits->items)) {
        free(text);
        return false;
    }
    edits->items[edits->count] = (igi_msl_edit){offset, length, text, strlen(text), edits->count, 0};
    edits->count++;
    return true;
}

static int by_place(const void *a, const void *b) {
    const igi_msl_edit *left = a, *right = b;
    if (left->offset != right->offset) return left->offset < right->offset ? -1 : 1;
    bool left_inserts = left->length == 0, right_inserts = right->length == 0;
    if (left_inserts != right_inserts) return left_inserts ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

// Sorts. Where the source is broken, several passes may replace the same text: the first replacement stays, and clang
// reports the rest.
static void drop_overlaps(igi_msl_edits *edits) {
    size_t kept = 0, done = 0;
    if (edits->count) qsort(edits->items, edits->count, sizeof *edits->items, by_place);
    for (size_t i = 0; i < edits->count; i++) {
        igi_msl_edit edit = edits->items[i];
        if (edit.offset < done) {
            free(edit.text);
            continue;
        }
        done = edit.offset + edit.length;
        edits->items[kept++] = edit;
    }
    edits->count = kept;
}

char *igi_msl_edits_apply(igi_msl_edits *edits, const char *source, size_t length, size_t *new_length) {
    igi_text text = {0};
    size_t done = 0;
    drop_overlaps(edits);
    for (size_t i = 0; i < edits->count; i++) {
        igi_msl_edit *edit = &edits->items[i];
        assert(edit->offset >= done && edit->offset + edit->length <= length);
        igi_text_append(&text, source + done, edit->offset - done);
        edit->result = text.length;
        igi_text_append(&text, edit->text, edit->text_length);
        done = edit->offset + edit->length;
    }
    igi_text_append(&text, source + done, length - done);
    *new_length = text.length;
    return igi_text_take(&text);
}

// The last edit that begins at or before the offset; NULL if there is none.
static const igi_msl_edit *edit_before(const igi_msl_edits *edits, size_t place) {
    size_t low = 0, high = edits->count;  // the first edit that begins after the offset
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (edits->items[middle].result <= place)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &edits->items[low - 1] : NULL;
}

size_t igi_msl_edits_origin(const igi_msl_edits *edits, size_t place) {
    const igi_msl_edit *edit = edit_before(edits, place);
    if (!edit) return place;
    size_t beyond = place - edit->result;
    return beyond < edit->text_length ? edit->offset : edit->offset + edit->length + (beyond - edit->text_length);
}

bool igi_msl_edits_is_inside(const igi_msl_edits *edits, size_t place) {
    const igi_msl_edit *edit = edit_before(edits, place);
    return edit && place > edit->result && place - edit->result < edit->text_length;
}

void igi_msl_edits_free(igi_msl_edits *edits) {
    for (size_t i = 0; i < edits->count; i++) free(edits->items[i].text);
    free(edits->items);
    *edits = (igi_msl_edits){0};
}
