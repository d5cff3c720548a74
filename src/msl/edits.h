// SPDX-License-Identifier: Apache-2.0
// Replacements in a text: collected in any order, applied at once, and looked up again to map offsets back.
#ifndef INGOT_MSL_EDITS_H
#define INGOT_MSL_EDITS_H

#include "core/memory.h"

typedef struct igi_msl_edit {
    size_t offset, length;  // what is replaced in the original
    char *text;             // the replacement
    size_t text_length;
    size_t order;   // insertions at one offset apply in the order they were added, before a replacement there
    size_t result;  // offset of the replacement in the new text
} igi_msl_edit;

typedef struct igi_msl_edits {
    igi_msl_edit *items;
    size_t count, capacity;
} igi_msl_edits;

// False when memory is short or `text` is NULL. owns: takes text, also on failure.
// pre: edits do not overlap.
bool igi_msl_edits_add(igi_msl_edits *edits, size_t offset, size_t length, char *text);
// The text with all edits applied; NULL when memory is short. Sorts the edits, which igi_msl_edits_origin needs.
char *igi_msl_edits_apply(igi_msl_edits *edits, const char *source, size_t length, size_t *new_length);
// The offset in the original that an offset in the new text comes from. Inside a replacement: where it begins.
size_t igi_msl_edits_origin(const igi_msl_edits *edits, size_t place);
// Whether an offset in the new text is inside a replacement, so that the original has no such place.
bool igi_msl_edits_is_inside(const igi_msl_edits *edits, size_t place);
void igi_msl_edits_free(igi_msl_edits *edits);

#endif
