// SPDX-License-Identifier: Apache-2.0
// A table of cache lines of device memory, each with the sums that are still to be added to it. The place of a line in the
// table follows from its address; another line of the same place takes it over.
#include "simt/late.h"

#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

#include "core/memory.h"

enum { LINES = 64, ELEMENTS = 16, LINE_BYTES = 64 };

struct igi_simt_late {
    alignas(LINE_BYTES) uint32_t sums[LINES][ELEMENTS];
    uint32_t *line[LINES];  // NULL: none
    bool changed[LINES];    // some of its sums may not be 0
};

// initial-exec: used on the small stack of generated code.
static _Thread_local igi_simt_late *current __attribute__((tls_model("initial-exec")));

igi_simt_late *igi_simt_late_create(void) {
    igi_simt_late *late = igi_aligned_alloc(alignof(igi_simt_late), sizeof *late);
    return late ? memset(late, 0, sizeof *late) : NULL;
}

void igi_simt_late_free(igi_simt_late *late) {
    free(late);
}

// ---- Lines ----

// Two elements, each of which changes atomically.
static void add_pair(uint32_t *elements, const uint32_t *sums) {
    typedef uint64_t pair __attribute__((may_alias));
    union {
        uint64_t both;
        uint32_t each[2];
    } next;
    if (!(sums[0] | sums[1])) return;
    uint64_t old = __atomic_load_n((pair *)elements, __ATOMIC_RELAXED);
    do {
        next.both = old;
        next.each[0] += sums[0];
        next.each[1] += sums[1];
    } while (!__atomic_compare_exchange_n((pair *)elements, &old, next.both, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static void settle(igi_simt_late *late, uint32_t place) {
    if (late->changed[place])
        for (uint32_t i = 0; i < ELEMENTS; i += 2) add_pair(late->line[place] + i, late->sums[place] + i);
    memset(late->sums[place], 0, LINE_BYTES);
    late->changed[place] = false;
}

static uint32_t place_of(const uint32_t *line) {
    return (uint32_t)((uintptr_t)line / LINE_BYTES % LINES);
}

static uint32_t *line_of(const uint32_t *element) {
    return (uint32_t *)((uintptr_t)element / LINE_BYTES * LINE_BYTES);
}

static bool has_all(const igi_simt_late *late, uint32_t *first, const uint32_t *end) {
    bool all = true;
    for (uint32_t *line = first; line < end; line += ELEMENTS) all &= late->line[place_of(line)] == line;
    return all;
}

static void take_over(igi_simt_late *late, uint32_t *first, const uint32_t *end) {
    for (uint32_t *line = first; line < end; line += ELEMENTS) {
        uint32_t place = place_of(line);
        if (late->line[place] == line) continue;
        settle(late, place);
        late->line[place] = line;
    }
}

static void add_line(uint32_t *restrict sums, const uint32_t *restrict values) {
    for (uint32_t i = 0; i < ELEMENTS; i++) sums[i] += values[i];
}

static void add_some(uint32_t *sums, const uint32_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) sums[i] += values[i];
}

// ---- Interface ----

void igi_simt_late_begin(igi_simt_late *late) {
    current = late;
}

void igi_simt_late_end(void) {
    if (!current) return;
    // Other cores have most of the lines, which are better asked for all at once.
    for (uint32_t i = 0; i < LINES; i++)
        if (current->changed[i]) __builtin_prefetch(current->line[i], 1);
    for (uint32_t i = 0; i < LINES; i++) settle(current, i);
    igi_simt_late_forget();
}

void igi_simt_late_forget(void) {
    if (current) memset(current, 0, sizeof *current);
    current = NULL;
}

uint32_t igi_simt_late_add(uint32_t *elements, const uint32_t *values, uint32_t count) {
    igi_simt_late *late = current;
    uint32_t *end = elements + count, *line = line_of(elements);
    if (!late || (uintptr_t)elements % sizeof *elements != 0 || count > (LINES - 1) * ELEMENTS) return 0;
    if (!has_all(late, line, end)) {
        take_over(late, line, end);
        return 0;
    }
    for (; line < end; line += ELEMENTS) {
        uint32_t place = place_of(line), *first = elements > line ? elements : line;
        uint32_t *last = end < line + ELEMENTS ? end : line + ELEMENTS;
        uint32_t *sums = late->sums[place] + (first - line);
        late->changed[place] = true;
        if (last - first == ELEMENTS)
            add_line(sums, values + (first - elements));
        else
            add_some(sums, values + (first - elements), (size_t)(last - first));
    }
    return 1;
}
