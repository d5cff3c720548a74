// SPDX-License-Identifier: Apache-2.0
// The main file and everything it includes, read and rewritten. clang is shown only these files, so its result depends
// on nothing else.
#ifndef INGOT_MSL_SOURCES_H
#define INGOT_MSL_SOURCES_H

#include "core/hash.h"
#include "core/status-internal.h"
#include "msl/rewrite.h"
#include "msl/roots.h"

typedef struct igi_msl_source {
    char *path;     // absolute; as given to clang
    char *display;  // the user's name for it
    char *text;     // the original
    size_t length;
    bool data;    // for #embed: shown to clang unchanged
    bool before;  // included before the main file, as -include asks for
    bool used;    // clang read it; only if it was asked to say so
    igi_msl_rewrite rewrite;
} igi_msl_source;

// A file that was requested and is not shown to clang.
typedef struct igi_msl_refusal {
    size_t includer;
    char *name;    // as spelled there
    char *reason;  // a sentence
} igi_msl_refusal;

// A name that only clang knows, because it comes from a macro.
typedef struct igi_msl_wanted {
    char *includer;  // path of the source that includes it; "" if that is not known
    char *name;
    bool data;
} igi_msl_wanted;

typedef struct igi_msl_sources {
    igi_msl_source *files;  // [0] is the main one
    size_t count, capacity;
    uint64_t bytes;                   // of all of them
    const char *const *include_dirs;  // borrowed
    size_t include_dir_count;
    igi_msl_roots roots;
    igi_msl_refusal *refusals;
    size_t refusal_count, refusal_capacity;
    igi_msl_wanted *wanted;  // what igi_msl_sources_want has added so far
    size_t wanted_count, wanted_capacity;
} igi_msl_sources;

// A file as it was loaded before, for igi_msl_sources_restore.
typedef struct igi_msl_stored_source {
    const char *path, *display, *text;
    size_t length;
    bool data, before;
} igi_msl_stored_source;

// Paths below it exist for clang alone.
extern const char igi_msl_virtual_directory[];

typedef struct igi_msl_main_source {
    const char *text;  // or NULL to read `path`
    size_t length;
    const char *path;
    const char *name;  // the name of `text` in diagnostics
} igi_msl_main_source;

// The directory in which clang finds the headers that come with Ingot.
extern const char igi_msl_own_includes[];

// Reads, rewrites and follows the files that the text itself names. A header that is not found is left to clang, which
// may not need it. errors: NOT_FOUND and IO (of the main file), OVERFLOW, UNSUPPORTED, OUT_OF_MEMORY.
ig_status igi_msl_sources_load(igi_msl_sources *sources, const igi_msl_main_source *main,
                               const char *const *include_dirs, size_t include_dir_count, ig_error *error);
// Sources that were loaded elsewhere, the main one first. Nothing is read from disk: files that are not among them do not
// exist, except the headers that come with Ingot. pre: count > 0, paths are absolute. errors: OVERFLOW, OUT_OF_MEMORY.
ig_status igi_msl_sources_restore(igi_msl_sources *sources, const igi_msl_stored_source *files, size_t count,
                                  const char *const *include_dirs, size_t include_dir_count, ig_error *error);
// Adds a file that clang includes before the main one: of the current directory, else of the include directories.
// errors: NOT_FOUND, and those of igi_msl_sources_load.
ig_status igi_msl_sources_add_before(igi_msl_sources *sources, const char *name, ig_error *error);
// Adds every file that the name may refer to, and what those include. `count` shows whether there was one.
ig_status igi_msl_sources_want(igi_msl_sources *sources, const igi_msl_wanted *wanted, ig_error *error);
void igi_msl_sources_free(igi_msl_sources *sources);
void igi_msl_sources_hash(const igi_msl_sources *sources, igi_hasher *hasher);

const igi_msl_source *igi_msl_sources_find(const igi_msl_sources *sources, const char *path);  // NULL when unknown
// Why an existing file was not found; NULL: it does not exist. `includer` is a path.
const char *igi_msl_sources_refusal(const igi_msl_sources *sources, const char *includer, const char *name);

#endif
