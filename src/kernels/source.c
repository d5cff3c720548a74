// SPDX-License-Identifier: Apache-2.0
// Sources of the built-in kernels.
#include "kernels/source.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"

const igi_embedded *igi_kernel_file(const char *name) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s.metal", name);
    for (size_t i = 0; i < igi_kernel_files_count; i++)
        if (strcmp(igi_kernel_files[i].name, wanted) == 0) return &igi_kernel_files[i];
    return NULL;
}

ig_status igi_kernel_library_desc(const igi_embedded *file, ig_library_desc *desc, char **text) {
    static const char line[] = "\n#line 1\n";
    const igi_embedded *prelude = igi_kernel_file("prelude");
    size_t length = prelude->length + sizeof line - 1 + file->length;
    char *source = igi_calloc(1, length + 1);
    if (!source) return IG_STATUS_OUT_OF_MEMORY;
    snprintf(source, length + 1, "%.*s%s%.*s", (int)prelude->length, prelude->data, line, (int)file->length,
             file->data);
    *desc = (ig_library_desc){.source = source,
                              .source_length = length,
                              .name = file->name,
                              .language_version = 310,
                              .math_mode = IG_MATH_SAFE};
    *text = source;
    return IG_STATUS_OK;
}
