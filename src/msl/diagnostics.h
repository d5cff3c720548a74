// SPDX-License-Identifier: Apache-2.0
// Compiler messages in the user's terms: their file names, lines, columns, source text, a caret, and what to write
// instead.
//
// The log has one heading per message, "FILE:LINE:COLUMN: error: TEXT", then, where there is a source line, that line,
// a line of marks, and the changes proposed: a "-" line shows what goes, a "+" line what comes in its place.
//
//      12 |     int n = 3
//         |              ^
//         +              ;
#ifndef INGOT_MSL_DIAGNOSTICS_H
#define INGOT_MSL_DIAGNOSTICS_H

#include "core/status-internal.h"
#include "msl/sources.h"

typedef struct igi_msl_diagnostics {
    const igi_msl_sources *sources;  // borrowed
    const char *stdlib;              // directory of the standard headers, shown as <name>
    igi_text log;                    // rendered
    size_t error_count;
    size_t unplaced;     // errors whose source location is not known
    ig_error first;      // the first error
    size_t group_start;  // offset in the log of the last error or warning
} igi_msl_diagnostics;

// One line of clang's output.
typedef struct igi_msl_message {
    const char *path, *level;
    char *text;
    uint32_t line, column;
} igi_msl_message;

// Splits "path:line:col: level: text" in place; returns false if it has another form. Fatal errors are errors.
bool igi_msl_message_parse(char *line, igi_msl_message *found);

// The column of the word in a line of the original text; 1 if it is not there. `source` and `near` may be NULL.
uint32_t igi_msl_source_column(const igi_msl_source *source, uint32_t line, const char *near);

// Adds one message at a location; line 0: the file as a whole; column 0: the column of `near` in that line, if it is
// there.
void igi_msl_diagnostics_add(igi_msl_diagnostics *diagnostics, const char *level, const char *path, uint32_t line,
                             uint32_t column, const char *near, const char *message);
// The same, with a column of the rewritten text.
void igi_msl_diagnostics_add_rewritten(igi_msl_diagnostics *diagnostics, const char *level, const char *path,
                                       uint32_t line, uint32_t column, const char *near, const char *message);
// The same, at the first occurrence of the word in the sources, for errors without a better location; in the main file
// as a whole if it is NULL or not found.
void igi_msl_diagnostics_add_at_word(igi_msl_diagnostics *diagnostics, const char *level, const char *word,
                                     const char *message);
// Adds clang's output, with columns mapped back through the rewriting.
void igi_msl_diagnostics_add_clang(igi_msl_diagnostics *diagnostics, const char *output);
// Adds the errors of the rewriter in the sources from number `first` on.
void igi_msl_diagnostics_add_rewrite_errors(igi_msl_diagnostics *diagnostics, size_t first);
// Moves the first error and the whole log into `error`; returns its status.
ig_status igi_msl_diagnostics_report(igi_msl_diagnostics *diagnostics, ig_error *error);
void igi_msl_diagnostics_free(igi_msl_diagnostics *diagnostics);

#endif
