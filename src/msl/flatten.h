// SPDX-License-Identifier: Apache-2.0
// One text made from a file and all that it includes, for a compiler that does not search directories.
#ifndef INGOT_MSL_FLATTEN_H
#define INGOT_MSL_FLATTEN_H

#include "msl/sources.h"

// The main file unchanged if it includes nothing that was found; otherwise with #line directives that use the user's
// names. owns: *text is the caller's.
// errors: OUT_OF_MEMORY; BAD_FORMAT for files that include each other without end.
ig_status igi_msl_sources_flatten(const igi_msl_sources *sources, char **text, size_t *length, ig_error *error);

#endif
