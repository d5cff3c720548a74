// SPDX-License-Identifier: Apache-2.0
// Writing the standard headers, which are embedded in the library, to disk.
#include "msl/headers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool is_intact(const char *path, const igi_embedded *file) {
    char *bytes = NULL;
    size_t length = 0;
    if (igi_file_read_within(path, file->length, IGI_FILE_NO_LINK, &bytes, &length, NULL) != IG_STATUS_OK) return false;
    bool same = length == file->length && memcmp(bytes, file->data, length) == 0;
    free(bytes);
    return same;
}

static bool repair(const char *directory, const igi_embedded *file) {
    char *path = igi_path_join(directory, file->name);
    bool intact = path && is_intact(path, file);
    if (!intact) intact = path && igi_file_write_atomic(path, file->data, file->length) == IG_STATUS_OK;
    free(path);
    return intact;
}

bool igi_msl_repair_headers(const char *directory) {
    static const char text[] = "#include <metal_stdlib>\n";
    const igi_embedded prelude = {igi_msl_prelude, sizeof text - 1, text};
    bool intact = repair(directory, &prelude);
    for (size_t i = 0; i < igi_stdlib_files_count && intact; i++) intact = repair(directory, &igi_stdlib_files[i]);
    return intact;
}

// The directory appears complete or not at all, even when several processes create it.
char *igi_msl_cached_headers(const char *cache_dir, igi_hash identity) {
    char hex[33];
    igi_hash_hex(identity, hex);
    char *final = igi_format("%s/stdlib-%s", cache_dir, hex);
    char *fresh = igi_format("%s/stdlib-new-XXXXXX", cache_dir);
    bool ready = final && igi_file_exists(final);
    if (!ready && final && fresh && igi_make_dirs(cache_dir) && mkdtemp(fresh)) {
        if (igi_msl_repair_headers(fresh)) rename(fresh, final);
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
    if (directory && igi_msl_repair_headers(directory)) return directory;
    if (directory) igi_remove_tree(directory);
    free(directory);
    return NULL;
}
