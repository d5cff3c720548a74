// SPDX-License-Identifier: Apache-2.0
// Options of clang and of the linker that only a Mac's have, as this machine's have them.
#ifndef INGOT_COMPAT_CLANG_OPTIONS_H
#define INGOT_COMPAT_CLANG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

// A command line that grows.
typedef struct command {
    const char **words;  // NULL after the last
    size_t count, capacity;
} command;

// Returns false if memory ran out, which is reported.
bool command_add(command *c, const char *word);

// Appends the words of a command line for a Mac to `c`, translated. A framework becomes a library in `directory`.
// Returns false if something has no counterpart; stderr says what.
bool options_translate(command *c, char **words, const char *directory);

// Whether a command line for a Mac makes a program or a library of objects, and not only objects.
bool options_link(char **words);

#endif
