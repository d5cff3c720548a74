// SPDX-License-Identifier: Apache-2.0
// Files that clang looked for and did not find: those whose names only clang knows are added to the sources.
#ifndef INGOT_MSL_MISSING_H
#define INGOT_MSL_MISSING_H

#include "msl/sources.h"

// Reads clang's messages. *added: there are new sources now, and clang should run again.
ig_status igi_msl_add_missing(igi_msl_sources *sources, const char *messages, bool *added, ig_error *error);

// The names that were added, from number `first` on, as bytes for the cache, and back. A source that is loaded again
// asks for the same names, which may refer to other files by then.
void igi_msl_wanted_write(const igi_msl_sources *sources, size_t first, igi_text *bytes);
bool igi_msl_wanted_is(const char *bytes, size_t length);
// pre: igi_msl_wanted_is. errors: those of igi_msl_sources_want, BAD_FORMAT.
ig_status igi_msl_wanted_apply(const char *bytes, size_t length, igi_msl_sources *sources, ig_error *error);

#endif
