// SPDX-License-Identifier: Apache-2.0
// Loading MSL sources with the files they include and embed.
#include "msl/sources.h"

#include <assert.h>
#include <string.h>

#include "core/embedded.h"
#include "core/file.h"

enum { MAX_FILES = 4096 };
// Limits on the size of one file and of all together.
static const uint64_t max_file_bytes = UINT64_C(64) << 20, max_bytes = UINT64_C(256) << 20;

// For clang, source given as text is in this directory.
const char igi_msl_virtual_directory[] = "/ingot-source";
const char igi_msl_own_includes[] = "/ingot-include";

const igi_msl_source *igi_msl_sources_find(const igi_msl_sources *sources, const char *path) {
    for (size_t i = 0; i < sources->count; i++)
        if (strcmp(sources->files[i].path, path) == 0) return &sources->files[i];
    return NULL;
}

static ig_status check_size(igi_msl_sources *sources, const igi_msl_source *source, ig_error *error) {
    if (source->length > max_file_bytes)
        return igi_error_set(error, IG_STATUS_OVERFLOW, "%s: source of %zu bytes is too large; at most 64 MiB are read",
                             source->display, source->length);
    if (source->length > max_bytes - sources->bytes)
        return igi_error_set(error, IG_STATUS_OVERFLOW, "%s: with this file the source is larger than 256 MiB",
                             source->display);
    return IG_STATUS_OK;
}

// owns: takes what `source` points to, also on failure.
static ig_status add(igi_msl_sources *sources, igi_msl_source source, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    bool made = source.path && source.display && source.text;
    if (made) status = check_size(sources, &source, error);
    if (status == IG_STATUS_OK)
        made = made && (source.data || igi_msl_rewrite_source(source.text, source.length, &source.rewrite)) &&
               igi_grow((void **)&sources->files, &sources->capacity, sources->count + 1, sizeof *sources->files);
    if (status == IG_STATUS_OK && !made) status = igi_error_no_memory(error);
    if (status != IG_STATUS_OK) {
        igi_msl_rewrite_free(&source.rewrite);
        free(source.path), free(source.display), free(source.text);
        return status;
    }
    sources->bytes += source.length;
    sources->files[sources->count++] = source;
    return IG_STATUS_OK;
}

// ---- Refusals ----

static const char outside[] =
    "'%s' may not be read: it is outside the directory of the source and the include directories; to allow it, make "
    "its "
    "directory one of the include directories (-I)";
static const char link_outside[] =
    "'%s' may not be read: it is a symbolic link to a file outside the directory of the source and the include "
    "directories; to allow it, make that file's directory one of the include directories (-I)";

static const igi_msl_refusal *find_refusal(const igi_msl_sources *sources, size_t includer, const char *name) {
    for (size_t i = 0; i < sources->refusal_count; i++) {
        const igi_msl_refusal *refusal = &sources->refusals[i];
        bool here = includer == SIZE_MAX || refusal->includer == includer;
        if (here && strcmp(refusal->name, name) == 0) return refusal;
    }
    return NULL;
}

// owns: takes the reason. Only the first one is kept.
static ig_status refuse(igi_msl_sources *sources, size_t includer, const char *name, char *reason) {
    if (reason && find_refusal(sources, includer, name)) {
        free(reason);
        return IG_STATUS_OK;
    }
    char *copy = igi_strdup(name);
    if (!copy || !reason ||
        !igi_grow((void **)&sources->refusals, &sources->refusal_capacity, sources->refusal_count + 1,
                  sizeof *sources->refusals)) {
        free(copy), free(reason);
        return IG_STATUS_OUT_OF_MEMORY;
    }
    sources->refusals[sources->refusal_count++] = (igi_msl_refusal){includer, copy, reason};
    return IG_STATUS_OK;
}

const char *igi_msl_sources_refusal(const igi_msl_sources *sources, const char *includer, const char *name) {
    const igi_msl_source *source = igi_msl_sources_find(sources, includer);
    const igi_msl_refusal *found = find_refusal(sources, source ? (size_t)(source - sources->files) : SIZE_MAX, name);
    return found ? found->reason : NULL;
}

// ---- One file in one directory ----

typedef struct search {
    size_t includer;
    const char *name;
    bool data;
    size_t file;  // found; SIZE_MAX: not yet
    ig_error *error;
} search;

static bool is_virtual(const char *path) {
    size_t source = strlen(igi_msl_virtual_directory), own = strlen(igi_msl_own_includes);
    return (strncmp(path, igi_msl_virtual_directory, source) == 0 && path[source] == '/') ||
           (strncmp(path, igi_msl_own_includes, own) == 0 && path[own] == '/');
}

// clang sees one text under each name.
static ig_status find_again(const igi_msl_sources *sources, search *s, const igi_msl_source *known) {
    bool rewritten = known->data != s->data && (known->data || known->rewrite.edits.count);
    if (rewritten)
        return igi_error_set(s->error, IG_STATUS_UNSUPPORTED,
                             "%s is both included and embedded; embed a copy of it under another name", known->display);
    s->file = (size_t)(known - sources->files);
    return IG_STATUS_OK;
}

// Reads a file if that is allowed. NULL text: there is none, or it is refused.
static ig_status read_allowed(igi_msl_sources *sources, const search *s, const char *path, char **text,
                              size_t *length) {
    if (is_virtual(path)) return IG_STATUS_OK;
    if (!igi_msl_roots_have_name(&sources->roots, path))
        return refuse(sources, s->includer, s->name, igi_format(outside, s->name));
    ig_error error = {0};
    ig_status status = igi_file_read_within(path, max_file_bytes, IGI_FILE_FOLLOW_LINKS, text, length, &error);
    if (status == IG_STATUS_IO)
        status = refuse(sources, s->includer, s->name, igi_format("'%s' cannot be read: %s", s->name, error.message));
    else if (status == IG_STATUS_NOT_FOUND)
        status = IG_STATUS_OK;
    ig_error_clear(&error);
    if (status == IG_STATUS_OK && *text && !igi_msl_roots_have_file(&sources->roots, path)) {
        free(*text);
        *text = NULL;
        status = refuse(sources, s->includer, s->name, igi_format(link_outside, s->name));
    }
    return status;
}

static ig_status try_directory(igi_msl_sources *sources, search *s, const char *directory,
                               const char *display_directory) {
    char *joined = igi_path_join(directory, s->name), *path = joined ? igi_path_absolute(joined) : NULL, *text = NULL;
    size_t length = 0;
    free(joined);
    if (!path) return IG_STATUS_OUT_OF_MEMORY;
    const igi_msl_source *known = igi_msl_sources_find(sources, path);
    ig_status status = known ? find_again(sources, s, known) : read_allowed(sources, s, path, &text, &length);
    if (status == IG_STATUS_OK && text) {
        char *display = igi_path_join(display_directory, s->name);
        status =
            add(sources,
                (igi_msl_source){.path = path, .display = display, .text = text, .length = length, .data = s->data},
                s->error);
        if (status == IG_STATUS_OK) s->file = sources->count - 1;
        return status;
    }
    free(path), free(text);
    return status;
}

// ---- All directories ----

static ig_status try_own_directory(igi_msl_sources *sources, search *s) {
    const igi_msl_source *includer = &sources->files[s->includer];
    char *directory = igi_path_dirname(includer->path), *display = igi_path_dirname(includer->display);
    ig_status status = directory && display ? try_directory(sources, s, directory, display) : IG_STATUS_OUT_OF_MEMORY;
    free(directory), free(display);
    return status;
}

// Headers that are part of Ingot: <ingot/ring>.
static ig_status try_own_header(igi_msl_sources *sources, search *s) {
    static const char prefix[] = "ingot/";
    if (strncmp(s->name, prefix, sizeof prefix - 1) != 0) return IG_STATUS_OK;
    for (size_t i = 0; i < igi_include_files_count; i++) {
        const igi_embedded *own = &igi_include_files[i];
        if (strcmp(own->name, s->name + sizeof prefix - 1) != 0) continue;
        char *path = igi_path_join(igi_msl_own_includes, s->name);
        const igi_msl_source *known = path ? igi_msl_sources_find(sources, path) : NULL;
        s->file = known ? (size_t)(known - sources->files) : sources->count;
        if (!known) {
            igi_msl_source header = {.path = path,
                                     .display = igi_strdup(s->name),
                                     .text = igi_strndup(own->data, own->length),
                                     .length = own->length};
            return add(sources, header, s->error);
        }
        free(path);
    }
    return IG_STATUS_OK;
}

// The first file with the name, or all of them.
static ig_status look_everywhere(igi_msl_sources *sources, search *s, bool own_directory, bool every) {
    size_t first = SIZE_MAX;
    ig_status status = own_directory ? try_own_directory(sources, s) : IG_STATUS_OK;
    for (size_t i = 0; status == IG_STATUS_OK && i < sources->include_dir_count; i++) {
        if (first == SIZE_MAX) first = s->file;
        if (first != SIZE_MAX && !every) break;
        status = try_directory(sources, s, sources->include_dirs[i], sources->include_dirs[i]);
    }
    if (first != SIZE_MAX) s->file = first;
    if (status == IG_STATUS_OK && (s->file == SIZE_MAX || every)) status = try_own_header(sources, s);
    return status;
}

static ig_status follow(igi_msl_sources *sources, size_t index, size_t number, ig_error *error) {
    const igi_msl_include include = sources->files[index].rewrite.includes[number];
    search s = {.includer = index, .name = include.name, .data = include.data, .file = SIZE_MAX, .error = error};
    ig_status status = look_everywhere(sources, &s, include.quoted, include.every);
    sources->files[index].rewrite.includes[number].file = s.file;
    return status;
}

// Follows the includes of the files from `first` on, recursively.
static ig_status follow_all(igi_msl_sources *sources, size_t first, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    for (size_t i = first; status == IG_STATUS_OK && i < sources->count && sources->count < MAX_FILES; i++)
        for (size_t k = 0; status == IG_STATUS_OK && k < sources->files[i].rewrite.include_count; k++)
            status = follow(sources, i, k, error);
    return status == IG_STATUS_OUT_OF_MEMORY ? igi_error_no_memory(error) : status;
}

// ---- Loading ----

static ig_status add_main(igi_msl_sources *sources, const igi_msl_main_source *main, ig_error *error) {
    igi_msl_source source = {0};
    if (main->text) {
        const char *name = main->name ? main->name : "program_source";
        source.path = igi_path_join(igi_msl_virtual_directory, name[0] == '/' ? name + 1 : name);
        source.display = igi_strdup(name);
        source.text = igi_strndup(main->text, main->length);
        source.length = main->length;
        return add(sources, source, error);
    }
    ig_status status = igi_file_read(main->path, &source.text, &source.length, error);
    if (status != IG_STATUS_OK) return status;
    source.path = igi_path_absolute(main->path);
    source.display = igi_strdup(main->path);
    return add(sources, source, error);
}

static ig_status add_roots(igi_msl_sources *sources, const igi_msl_main_source *main, ig_error *error) {
    char *own = main->text ? NULL : igi_path_dirname(sources->files[0].path);
    bool added = main->text || (own && igi_msl_roots_add(&sources->roots, own));
    free(own);
    for (size_t i = 0; added && i < sources->include_dir_count; i++)
        added = igi_msl_roots_add(&sources->roots, sources->include_dirs[i]);
    return added ? IG_STATUS_OK : igi_error_no_memory(error);
}

ig_status igi_msl_sources_load(igi_msl_sources *sources, const igi_msl_main_source *main,
                               const char *const *include_dirs, size_t include_dir_count, ig_error *error) {
    *sources = (igi_msl_sources){.include_dirs = include_dirs, .include_dir_count = include_dir_count};
    ig_status status = add_main(sources, main, error);
    if (status == IG_STATUS_OK) status = add_roots(sources, main, error);
    if (status == IG_STATUS_OK) status = follow_all(sources, 0, error);
    if (status != IG_STATUS_OK) igi_msl_sources_free(sources);
    return status;
}

ig_status igi_msl_sources_restore(igi_msl_sources *sources, const igi_msl_stored_source *files, size_t count,
                                  const char *const *include_dirs, size_t include_dir_count, ig_error *error) {
    *sources = (igi_msl_sources){.include_dirs = include_dirs, .include_dir_count = include_dir_count};
    ig_status status = IG_STATUS_OK;
    assert(count > 0);
    for (size_t i = 0; status == IG_STATUS_OK && i < count; i++) {
        const igi_msl_stored_source *file = &files[i];
        assert(file->path[0] == '/');
        igi_msl_source source = {.path = igi_strdup(file->path),
                                 .display = igi_strdup(file->display),
                                 .text = igi_strndup(file->text, file->length),
                                 .length = file->length,
                                 .data = file->data,
                                 .before = file->before};
        status = add(sources, source, error);
    }
    if (status == IG_STATUS_OK) status = follow_all(sources, 0, error);
    if (status != IG_STATUS_OK) igi_msl_sources_free(sources);
    return status;
}

// ---- Before the main file ----

static ig_status find_before(igi_msl_sources *sources, search *s) {
    char *path = igi_path_absolute(s->name), *directory = path ? igi_path_dirname(path) : NULL;
    bool here = path && igi_file_exists(path);
    ig_status status =
        directory && (!here || igi_msl_roots_add(&sources->roots, directory)) ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY;
    if (status == IG_STATUS_OK && here)
        status = try_directory(sources, s, ".", ".");
    else if (status == IG_STATUS_OK)
        status = look_everywhere(sources, s, false, false);
    free(path), free(directory);
    return status;
}

ig_status igi_msl_sources_add_before(igi_msl_sources *sources, const char *name, ig_error *error) {
    size_t known = sources->count;
    search s = {.name = name, .file = SIZE_MAX, .error = error};
    ig_status status = find_before(sources, &s);
    if (status == IG_STATUS_OUT_OF_MEMORY) return igi_error_no_memory(error);
    if (status != IG_STATUS_OK) return status;
    if (s.file == SIZE_MAX) return igi_error_set(error, IG_STATUS_NOT_FOUND, "'%s' file not found", name);
    sources->files[s.file].before = true;
    return follow_all(sources, known, error);
}

// ---- What clang asks for ----

static ig_status remember_wanted(igi_msl_sources *sources, const igi_msl_wanted *wanted) {
    igi_msl_wanted copy = {igi_strdup(wanted->includer), igi_strdup(wanted->name), wanted->data};
    if (!copy.includer || !copy.name ||
        !igi_grow((void **)&sources->wanted, &sources->wanted_capacity, sources->wanted_count + 1,
                  sizeof *sources->wanted)) {
        free(copy.includer), free(copy.name);
        return IG_STATUS_OUT_OF_MEMORY;
    }
    sources->wanted[sources->wanted_count++] = copy;
    return IG_STATUS_OK;
}

// Only clang knows which of the candidates is the right one (it may be in <>, or #include_next): it gets them all, and
// chooses as it would among all files.
ig_status igi_msl_sources_want(igi_msl_sources *sources, const igi_msl_wanted *wanted, ig_error *error) {
    size_t before = sources->count;
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; status == IG_STATUS_OK && i < before && sources->count < MAX_FILES; i++) {
        const igi_msl_source *source = &sources->files[i];
        if (source->data || (*wanted->includer && strcmp(source->path, wanted->includer) != 0)) continue;
        search s = {.includer = i, .name = wanted->name, .data = wanted->data, .file = SIZE_MAX, .error = error};
        status = look_everywhere(sources, &s, true, true);
    }
    if (status == IG_STATUS_OK && sources->count > before) status = remember_wanted(sources, wanted);
    if (status == IG_STATUS_OUT_OF_MEMORY) igi_error_no_memory(error);
    return status == IG_STATUS_OK ? follow_all(sources, before, error) : status;
}

// ---- Letting go, hashing ----

static void free_wanted(igi_msl_sources *sources) {
    for (size_t i = 0; i < sources->wanted_count; i++) free(sources->wanted[i].includer), free(sources->wanted[i].name);
    free(sources->wanted);
}

static void free_refusals(igi_msl_sources *sources) {
    for (size_t i = 0; i < sources->refusal_count; i++)
        free(sources->refusals[i].name), free(sources->refusals[i].reason);
    free(sources->refusals);
}

void igi_msl_sources_free(igi_msl_sources *sources) {
    for (size_t i = 0; i < sources->count; i++) {
        igi_msl_source *file = &sources->files[i];
        igi_msl_rewrite_free(&file->rewrite);
        free(file->path), free(file->display), free(file->text);
    }
    free(sources->files);
    free_wanted(sources), free_refusals(sources);
    igi_msl_roots_free(&sources->roots);
    *sources = (igi_msl_sources){0};
}

void igi_msl_sources_hash(const igi_msl_sources *sources, igi_hasher *hasher) {
    for (size_t i = 0; i < sources->count; i++) {
        igi_hasher_add_string(hasher, sources->files[i].path);
        igi_hasher_add_string(hasher, sources->files[i].display);
        igi_hasher_add(hasher, sources->files[i].text, sources->files[i].length);
        igi_hasher_add_u64(hasher, sources->files[i].data | sources->files[i].before << 1);
    }
}
