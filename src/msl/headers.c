// SPDX-License-Identifier: Apache-2.0
// Writing the standard headers, which the library carries, to disk.
#include "msl/headers.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/embedded.h"
#include "core/file.h"
#include "core/memory.h"
#include "msl/clang-flags.h"

const char igi_msl_prelude[] = "__ingot_prelude";

igi_hash igi_msl_headers_identity(void) {
    igi_hasher *hasher = igi_hasher_create();
    for (size_t i = 0; i < igi_stdlib_files_count; i++) {
        igi_hasher_add_string(hasher, igi_stdlib_files[i].name);
        igi_hasher_add(hasher, igi_stdlib_files[i].data, igi_stdlib_files[i].length);
    }
    igi_msl_hash_flags(hasher);
    return igi_hasher_finish(hasher);
}

static bool write_headers(const char *directory) {
    bool written = true;
    for (size_t i = 0; i < igi_stdlib_files_count && written; i++) {
        const igi_embedded *file = &igi_stdlib_files[i];
        char *path = igi_path_join(directory, file->name);
        written = path && igi_file_write_atomic(path, file->data, file->length) == IG_STATUS_OK;
        free(path);
    }
    char *path = igi_path_join(directory, igi_msl_prelude);
    static const char text[] = "#include <metal_stdlib>\n";
    written = written && path && igi_file_write_atomic(path, text, sizeof text - 1) == IG_STATUS_OK;
    free(path);
    return written;
}

// The directory appears whole or not at all, whoever else is making it.
char *igi_msl_cached_headers(const char *cache_dir, igi_hash identity) {
    char hex[33];
    igi_hash_hex(identity, hex);
    char *final = igi_format("%s/stdlib-%s", cache_dir, hex);
    char *fresh = igi_format("%s/stdlib-new-XXXXXX", cache_dir);
    bool ready = final && igi_file_exists(final);
    if (!ready && final && fresh && igi_make_dirs(cache_dir) && mkdtemp(fresh)) {
        if (write_headers(fresh)) rename(fresh, final);
        igi_remove_tree(fresh);
        ready = igi_file_exists(final);
    }
    free(fresh);
    if (ready) return final;
    free(final);
    return NULL;
}

char *igi_msl_temporary_headers(void) {
    char *directory = igi_make_temp_dir();
    if (directory && write_headers(directory)) return directory;
    if (directory) igi_remove_tree(directory);
    free(directory);
    return NULL;
}
