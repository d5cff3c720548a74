// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known word nearest to a mistyped one.
#ifndef INGOT_CORE_NEAREST_H
#define INGOT_CORE_NEAREST_H

#include <stddef.h>

// NULL when none is near. The words may contain NULLs, which are passed over.
const char *igi_nearest(const char *word, const char *const *words, size_t count);

#endif
