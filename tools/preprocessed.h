// SPDX-License-Identifier: Apache-2.0
// Preprocessed text in the user's terms.
#ifndef INGOT_TOOLS_PREPROCESSED_H
#define INGOT_TOOLS_PREPROCESSED_H

#include "msl/sources.h"

// Appends clang's text, with the user's names of files in line markers, and without the lines about the empty file that
// includes the source.
void metal_tidy_text(const igi_msl_sources *sources, const char *text, igi_text *result);
// What -H prints: each header that was entered, after a dot for each level, on stderr.
void metal_print_headers(const igi_msl_sources *sources, const char *text);

#endif
