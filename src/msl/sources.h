// SPDX-License-Identifier: Apache-2.0
// The main file and everything it includes, read and rewritten; how clang is shown them under the user's names.
#ifndef INGOT_MSL_SOURCES_H
#define INGOT_MSL_SOURCES_H

#include "core/hash.h"
#include "core/status-internal.h"
#include "msl/rewrite.h"

typedef struct igi_source {
    char *path;     // absolute; what clang is told
    char *display;  // what the user calls it
    char *text;     // the original
    size_t length;
    igi_rewrite rewrite;
} igi_source;

typedef struct igi_sources {
    igi_source *files;  // [0] is the main one
    size_t count, capacity;
    const char *const *include_dirs;  // borrowed
    size_t include_dir_count;
} igi_sources;

typedef struct igi_main_source {
    const char *text;  // or NULL to read `path`
    size_t length;
    const char *path;
    const char *name;  // how diagnostics call `text`
} igi_main_source;

// Where clang finds the headers that Ingot brings, as far as it knows.
extern const char igi_own_includes[];

// Reads, rewrites and follows #include. Headers that are not found are left to clang, which may not need them.
ig_status igi_sources_load(igi_sources *sources, const igi_main_source *main, const char *const *include_dirs,
                           size_t include_dir_count, ig_error *error);
void igi_sources_free(igi_sources *sources);
void igi_sources_hash(const igi_sources *sources, igi_hasher *hasher);

// Writes the rewritten files into `directory` and the overlay that maps the real paths onto them.
// owns: *overlay_path is the caller's.
ig_status igi_sources_write_overlay(const igi_sources *sources, const char *directory, char **overlay_path);

const igi_source *igi_sources_find(const igi_sources *sources, const char *path);  // NULL when unknown

#endif
