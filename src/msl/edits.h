// SPDX-License-Identifier: Apache-2.0
// Replacements in a text, gathered in any order, applied at once, and looked up again to map places back.
#ifndef INGOT_MSL_EDITS_H
#define INGOT_MSL_EDITS_H

#include "core/memory.h"

typedef struct igi_msl_edit {
    size_t offset, length;  // what is replaced in the original
    char *text;             // by what
    size_t text_length;
    size_t order;   // insertions at one place apply in the order they came, before a replacement there
    size_t result;  // where the replacement stands in the new text
} igi_msl_edit;

typedef struct igi_msl_edits {
    igi_msl_edit *items;
    size_t count, capacity;
} igi_msl_edits;

// False when memory is short or `text` is NULL. owns: takes text, also on failure.
// pre: edits do not overlap.
bool igi_msl_edits_add(igi_msl_edits *edits, size_t offset, size_t length, char *text);
// The text with every edit made; NULL when memory is short. Sorts the edits, so that igi_msl_edits_origin can be asked.
char *igi_msl_edits_apply(igi_msl_edits *edits, const char *source, size_t length, size_t *new_length);
// Which place of the original a place in the new text comes from. Inside a replacement: where it begins.
size_t igi_msl_edits_origin(const igi_msl_edits *edits, size_t place);
// Whether a place in the new text lies inside a replacement, so that the original has no such place.
bool igi_msl_edits_is_inside(const igi_msl_edits *edits, size_t place);
void igi_msl_edits_free(igi_msl_edits *edits);

#endif
