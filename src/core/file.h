// SPDX-License-Identifier: Apache-2.0
// Whole files, directories and paths.
#ifndef INGOT_CORE_FILE_H
#define INGOT_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status-internal.h"

// owns: *data (NUL-terminated past its length) is the caller's. errors: NOT_FOUND, IO, OUT_OF_MEMORY, named in `error`.
ig_status igi_file_read(const char *path, char **data, size_t *length, ig_error *error);
// The file holds either what it held before or all of the new bytes, whatever happens in between.
ig_status igi_file_write_atomic(const char *path, const void *data, size_t length);
bool igi_file_exists(const char *path);
// Makes every missing directory of the path, readable by this user alone.
bool igi_make_dirs(const char *path);
// A new private directory below TMPDIR; owns: the name is the caller's.
char *igi_make_temp_dir(void);
void igi_remove_tree(const char *path);

char *igi_path_join(const char *directory, const char *name);
// The directory part, "." when there is none.
char *igi_path_dirname(const char *path);
// Absolute and without "." and ".." (which are resolved as text, like a compiler's include search).
char *igi_path_absolute(const char *path);

#endif
