// SPDX-License-Identifier: Apache-2.0
// One message of the compiler, and the parts that turn it into what is shown.
#ifndef INGOT_MSL_DIAGNOSTIC_H
#define INGOT_MSL_DIAGNOSTIC_H

#include "msl/diagnostics.h"

enum { IGI_DIAGNOSTIC_MARKS = 8 };

// Bytes of one line. Columns count from 1; `end` is one past the last.
typedef struct igi_msl_diagnostic_span {
    uint32_t column, end;
} igi_msl_diagnostic_span;

typedef struct igi_msl_diagnostic_change {
    igi_msl_diagnostic_span span;  // empty: inserts
    char *text;                    // owned; "": removes
} igi_msl_diagnostic_change;

typedef struct igi_msl_diagnostic {
    const char *level, *path, *text;  // borrowed
    uint32_t line, column;            // 0: none
    igi_msl_diagnostic_span spans[IGI_DIAGNOSTIC_MARKS];
    size_t span_count;
    igi_msl_diagnostic_change changes[IGI_DIAGNOSTIC_MARKS];  // of that line, in order, not overlapping
    size_t change_count;
} igi_msl_diagnostic;

// diagnostics.c: adds a message whose columns are those of the original.
void igi_msl_diagnostics_put(igi_msl_diagnostics *diagnostics, const igi_msl_diagnostic *message);
void igi_msl_diagnostic_propose(igi_msl_diagnostic *message, igi_msl_diagnostic_span span,
                                char *text);  // takes the text
void igi_msl_diagnostic_free(igi_msl_diagnostic *message);

// diagnostic-snippet.c: the source line with its marks and changes; nothing if there is no such line.
void igi_msl_diagnostic_add_snippet(igi_text *log, const igi_msl_source *source, const igi_msl_diagnostic *message);
// The text of a line without its line break; NULL if there is none.
const char *igi_msl_source_line(const igi_msl_source *source, uint32_t line, size_t *length);

// diagnostic-types.c: the message with types as MSL names them: float4, not 'vec<float, 4>'. owns: the caller's; NULL
// when memory is short.
char *igi_msl_diagnostic_plain_types(const char *message);
// The same, without removing repetitions.
char *igi_msl_rename_types(const char *text);

// diagnostic-hints.c: the message with MSL's replacement for names from CUDA, OpenCL and C, and for mistyped
// attributes, also as a proposed change. owns: the caller's; NULL when memory is short.
char *igi_msl_diagnostic_add_hint(igi_msl_diagnostic *message);

#endif
