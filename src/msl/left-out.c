// SPDX-License-Identifier: Apache-2.0
// Kernels whose arguments Ingot does not have: they are left out, as vertex functions are, so that the other kernels of the
// file can be used.
#include "msl/declarations.h"
#include "msl/rewrite-passes.h"

static const struct {
    const char *type, *what;
} unsupported[] = {
    {"acceleration_structure", "ray tracing"},
    {"instance_acceleration_structure", "ray tracing"},
    {"primitive_acceleration_structure", "ray tracing"},
    {"intersection_function_table", "ray tracing"},
    {"imageblock", "tile"},
};
enum { UNSUPPORTED_COUNT = sizeof unsupported / sizeof *unsupported };

static const char *what_is_missing(const igi_msl_rewriter *r, const igi_msl_declaration *d) {
    for (size_t i = d->first; i < d->head_end; i++)
        for (size_t k = 0; k < UNSUPPORTED_COUNT; k++)
            if (igi_msl_is(r, i, unsupported[k].type)) return unsupported[k].what;
    return NULL;
}

static size_t kernel_word(const igi_msl_rewriter *r, const igi_msl_declaration *d) {
    size_t i = d->first;
    while (i < d->head_end && !igi_msl_is(r, i, "kernel")) i++;
    return i < d->head_end ? i : SIZE_MAX;
}

// The word, or the list of attributes around it.
static void replace_kernel(igi_msl_rewriter *r, const igi_msl_declaration *d, size_t word, const char *what) {
    size_t first = word, last = word;
    bool listed = false;
    while (first > d->first && !listed) {
        first--;
        listed = igi_msl_is(r, first, "[") && igi_msl_is(r, first + 1, "[");
    }
    if (listed) {
        last = igi_msl_at(r, first)->partner;
        listed = last >= word && last < d->head_end;
    }
    if (!listed) first = last = word;
    char *text = igi_format(" __attribute__((annotate(\"ig.unsupported:%s\"))) ", what);
    if (text)
        igi_msl_rewriter_replace(r, first, last + 1, text);
    else
        r->failed = true;
    free(text);
}

static bool any_unsupported(const igi_msl_rewriter *r) {
    for (size_t i = 0; i < r->tokens.count; i++)
        for (size_t k = 0; k < UNSUPPORTED_COUNT; k++)
            if (igi_msl_is(r, i, unsupported[k].type)) return true;
    return false;
}

void igi_msl_leave_out_kernels(igi_msl_rewriter *r) {
    igi_msl_declarations found = {0};
    if (!any_unsupported(r)) return;
    if (!igi_msl_declarations_find(&r->tokens, &found)) r->failed = true;
    for (size_t i = 0; i < found.count && !r->failed; i++) {
        size_t word = kernel_word(r, &found.items[i]);
        const char *what = word != SIZE_MAX ? what_is_missing(r, &found.items[i]) : NULL;
        if (what) replace_kernel(r, &found.items[i], word, what);
    }
    igi_msl_declarations_free(&found);
}
