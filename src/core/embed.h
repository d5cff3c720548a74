// SPDX-License-Identifier: Apache-2.0
// Bytes as a C string literal, for programs of the build that write C files (core/embedded.h).
#ifndef INGOT_CORE_EMBED_H
#define INGOT_CORE_EMBED_H

#include <stdbool.h>
#include <stdio.h>

// Octal escapes throughout would make the C file four times as large.
static inline void igi_embed_bytes(FILE *out, const char *bytes, size_t length) {
    enum { PER_LINE = 1000 };
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (i % PER_LINE == 0) fputs(i ? "\"\n    \"" : "    \"", out);
        bool plain = byte >= 32 && byte < 127 && byte != '"' && byte != '\\' && byte != '?';
        fprintf(out, plain ? "%c" : "\\%03o", byte);
    }
    fputs(length ? "\"" : "\"\"", out);
}

#endif
