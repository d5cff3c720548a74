// SPDX-License-Identifier: Apache-2.0
// Function constants in the order of the source; clang orders them by their first use.
#include "msl/constant-order.h"

#include <string.h>

#include "core/memory.h"

typedef struct walk {
    const igi_msl_sources *sources;
    bool *entered;  // by file
    ig_function_constant_info *constants;
    size_t count, placed;
} walk;

// Moves the constant with this name after those that are already in place.
static void place(walk *w, const char *name) {
    for (size_t i = w->placed; i < w->count; i++) {
        if (strcmp(w->constants[i].name, name) != 0) continue;
        ig_function_constant_info found = w->constants[i];
        memmove(&w->constants[w->placed + 1], &w->constants[w->placed], (i - w->placed) * sizeof found);
        w->constants[w->placed++] = found;
        return;
    }
}

static void enter(walk *w, size_t file) {
    if (file >= w->sources->count || w->entered[file]) return;
    w->entered[file] = true;
    const igi_msl_rewrite *text = &w->sources->files[file].rewrite;
    size_t include = 0;
    for (size_t i = 0; i < text->constant_count; i++) {
        for (; include < text->include_count && text->includes[include].offset < text->constants[i].offset; include++)
            enter(w, text->includes[include].file);
        place(w, text->constants[i].name);
    }
    for (; include < text->include_count; include++) enter(w, text->includes[include].file);
}

bool igi_msl_order_constants(const igi_msl_sources *sources, ig_function_constant_info *constants, size_t count) {
    walk w = {.sources = sources, .constants = constants, .count = count};
    w.entered = igi_calloc(sources->count, sizeof *w.entered);
    if (!w.entered) return false;
    enter(&w, 0);
    free(w.entered);
    return true;
}
