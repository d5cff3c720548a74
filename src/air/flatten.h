// SPDX-License-Identifier: Apache-2.0
// One address space for all of a module.
#ifndef INGOT_AIR_FLATTEN_H
#define INGOT_AIR_FLATTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The spaces that global variables had, in the order in which LLVM lists them.
typedef struct igi_air_spaces {
    uint8_t *of_variables;
    size_t count, capacity;
} igi_air_spaces;

// Changes the bitcode in place. owns: the list is the caller's, also after a failure. Returns false if it is no bitcode,
// of a form that no compiler of Metal writes, or memory is short.
bool igi_air_flatten(char *bitcode, size_t length, igi_air_spaces *spaces);

#endif
