// SPDX-License-Identifier: Apache-2.0
// Finding the programs and files that come with Ingot: ingot-codegen, ingot-bench, precompiled headers.
#ifndef INGOT_CORE_PROGRAM_H
#define INGOT_CORE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

typedef struct igi_program {
    const char *name;
    const char *named;          // a file that the user named, or NULL; if set, nothing else is tried
    const void *code;           // any function of the library or program that asks
    const char *const *places;  // directories relative to the file that contains the code; NULL after the last
    const char *installed;      // directory that is tried last
    bool is_data;               // a file to read, not to run
} igi_program;

// Where ingot-codegen is, relative to the library, a program or a test: the same directory, installed under the same
// prefix, or in a build tree.
extern const char *const igi_program_libexec[];

// Returns false if it is not found. Programs in `places` count only if nobody but root and this user can have put them
// there.
bool igi_program_find(const igi_program *program, char path[PATH_MAX]);

// The file of this program, without symbolic links. Returns false if the system does not tell.
bool igi_program_self(char path[PATH_MAX]);

#endif
