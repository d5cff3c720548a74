// SPDX-License-Identifier: Apache-2.0
// Edit distance with swaps of neighbours (optimal string alignment).
#include "core/nearest.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_WORD = 64 };

static size_t smallest(size_t a, size_t b, size_t c) {
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

static size_t distance(const char *a, const char *b) {
    size_t rows[3][MAX_WORD];
    size_t *before = rows[0], *above = rows[1], *row = rows[2], width = strlen(b);
    assert(strlen(a) < MAX_WORD && width < MAX_WORD);
    for (size_t j = 0; j <= width; j++) above[j] = before[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[width];
}

const char *igi_nearest(const char *word, const char *const *words, size_t count) {
    size_t length = strlen(word);
    if (length >= MAX_WORD) return NULL;
    size_t best = 1 + (length > 1) + length / 4;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!words[i] || strlen(words[i]) >= MAX_WORD) continue;
        size_t edits = distance(word, words[i]);
        if (edits >= best || edits >= strlen(words[i])) continue;
        best = edits;
        nearest = words[i];
    }
    return nearest;
}
