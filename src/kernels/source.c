// SPDX-License-Identifier: Apache-2.0
// Sources of the built-in kernels.
#include "kernels/source.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "msl/compiler.h"

const igi_embedded *igi_kernels_kernel_file(const char *name) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s.metal", name);
    for (size_t i = 0; i < igi_kernel_files_count; i++)
        if (strcmp(igi_kernel_files[i].name, wanted) == 0) return &igi_kernel_files[i];
    return NULL;
}

// Files that must precede others, in addition to the prelude.
static const struct {
    const char *user, *part;
} parts[] = {
    // Elementwise kernels are built from functions that fused ones use too.
    {"unary.metal", "functions"},         {"binary.metal", "functions"},          {"convert.metal", "functions"},
    {"weights.metal", "weight-products"}, {"weights-k.metal", "weight-products"},
};

static const char *part_for(const char *name) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].user, name) == 0) return parts[i].part;
    return NULL;
}

static void add_part(igi_text *source, const char *name) {
    const igi_embedded *file = igi_kernels_kernel_file(name);
    igi_text_append(source, file->data, file->length);
    igi_text_add(source, "\n#line 1\n");
}

ig_status igi_kernels_kernel_source(const char *name, const char *part, const char *body, size_t length,
                                    ig_library_desc *desc, char **text) {
    igi_text source = {0};
    add_part(&source, "prelude");
    if (part) add_part(&source, part);
    igi_text_append(&source, body, length);
    size_t whole = source.length;
    *text = igi_text_take(&source);
    if (!*text) return IG_STATUS_OUT_OF_MEMORY;
    *desc = (ig_library_desc){.source = *text,
                              .source_length = whole,
                              .name = name,
                              .language_version = IGI_MSL_DEFAULT_LANGUAGE,
                              .math_mode = IG_MATH_SAFE};
    return IG_STATUS_OK;
}

bool igi_kernels_kernel_file_is_part(const igi_embedded *file) {
    if (igi_kernels_kernel_file("prelude") == file) return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (igi_kernels_kernel_file(parts[i].part) == file) return true;
    return false;
}

ig_status igi_kernels_kernel_library_desc(const igi_embedded *file, ig_library_desc *desc, char **text) {
    return igi_kernels_kernel_source(file->name, part_for(file->name), file->data, file->length, desc, text);
}
