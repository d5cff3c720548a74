// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known word nearest to a mistyped one.
#ifndef INGOT_CORE_NEAREST_H
#define INGOT_CORE_NEAREST_H

#include <stddef.h>

// NULL if none is close. The words may contain NULLs, which are skipped.
const char *igi_nearest(const char *word, const char *const *words, size_t count);

#endif
