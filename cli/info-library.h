// SPDX-License-Identifier: Apache-2.0
// `ingot info LIBRARY.metallib`: what is in a compiled library.
#ifndef INGOT_CLI_INFO_LIBRARY_H
#define INGOT_CLI_INFO_LIBRARY_H

// Functions whose names match the pattern, kernels with their arguments; NULL: a list of all. Returns the exit code, after
// having shown them or said what is wrong.
int info_library(const char *path, const char *pattern);
// The same for a library that Ingot's own tools wrote.
int info_bundle(const char *path, const char *pattern);
// Part of both: kernels whose names match, with their arguments.
int info_arguments(const char *path, const char *pattern);

#endif
