// SPDX-License-Identifier: Apache-2.0
// Whole files, directories and paths.
#ifndef INGOT_CORE_FILE_H
#define INGOT_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status-internal.h"

// The limit for any file that is read.
#define IGI_FILE_MAX_BYTES (UINT64_C(1) << 30)

typedef enum igi_file_links { IGI_FILE_FOLLOW_LINKS, IGI_FILE_NO_LINK } igi_file_links;

// Regular files only: a pipe or a device, which may never end, is refused at once.
// owns: *data (with a NUL after its length) is the caller's. errors: NOT_FOUND, IO, OUT_OF_MEMORY, explained in
// `error`.
ig_status igi_file_read(const char *path, char **data, size_t *length, ig_error *error);
// The same, for at most max_bytes and, with NO_LINK, only if the last part of the path is not a symbolic link.
ig_status igi_file_read_within(const char *path, uint64_t max_bytes, igi_file_links links, char **data, size_t *length,
                               ig_error *error);
// Reads a file that the user named, which may be a pipe or terminal: waits for its end, and reads at most
// IGI_FILE_MAX_BYTES.
ig_status igi_file_read_stream(const char *path, char **data, size_t *length, ig_error *error);
// The file holds either its old contents or all of the new bytes, even after a crash.
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
