// SPDX-License-Identifier: Apache-2.0
// One MSL file rewritten so that clang reads it as C++: attributes become annotations that survive into the IR, and
// grammar that only MSL has is expressed differently.
//
// Line numbers do not change; columns do, and igi_msl_rewrite_locate maps them back.
#ifndef INGOT_MSL_REWRITE_H
#define INGOT_MSL_REWRITE_H

#include "msl/edits.h"

typedef struct igi_msl_include {
    char *name;
    bool quoted;  // "name" rather than <name>
    bool every;   // any directory that has the file may be meant (#include_next)
    bool data;    // bytes to embed, not text to compile
    bool probe;   // of __has_include: only tests whether the file exists
    size_t offset;
    size_t file;  // index of the source; SIZE_MAX: none
} igi_msl_include;

typedef struct igi_msl_line_range {
    uint32_t first, last;  // counted from 1
} igi_msl_line_range;

// What a __has_include with a computed name becomes; clang refuses it where it is evaluated.
extern const char igi_msl_computed_probe[];

typedef struct igi_msl_constant_mark {
    char *name;  // of a function constant that is declared here
    size_t offset;
} igi_msl_constant_mark;

typedef struct igi_msl_rewrite_error {
    size_t offset;  // in the original
    char *message;
} igi_msl_rewrite_error;

typedef struct igi_msl_rewrite {
    char *text;
    size_t length;
    igi_msl_edits edits;
    igi_msl_include *includes;
    size_t include_count, include_capacity;
    igi_msl_line_range *embeds;  // lines of #embed directives
    size_t embed_count, embed_capacity;
    bool has_bfloat;   // names the type
    bool has_objects;  // parameters for the object of a member function, which C++23 has
    bool renumbered;   // has #line: line numbers of messages are not those of the text
    igi_msl_constant_mark *constants;
    size_t constant_count, constant_capacity;
    igi_msl_rewrite_error *errors;
    size_t error_count, error_capacity;
} igi_msl_rewrite;

// Returns false when memory is short. Any text is accepted; what MSL forbids is listed in `errors`.
bool igi_msl_rewrite_source(const char *source, size_t length, igi_msl_rewrite *rewrite);
void igi_msl_rewrite_free(igi_msl_rewrite *rewrite);

// The original column of a location in the rewritten text. Both count from 1, in bytes.
uint32_t igi_msl_rewrite_locate(const igi_msl_rewrite *rewrite, const char *source, uint32_t line, uint32_t column);
// Whether that location exists in the original, rather than only inside a replacement.
bool igi_msl_rewrite_has_place(const igi_msl_rewrite *rewrite, uint32_t line, uint32_t column);

#endif
