// SPDX-License-Identifier: Apache-2.0
// Loading MSL sources with their includes, and the clang VFS overlay.
#include "msl/sources.h"

#include <string.h>

#include "core/embedded.h"
#include "core/file.h"

enum { MAX_FILES = 4096 };

// Source given as text lives here as far as clang is concerned.
static const char virtual_directory[] = "/ingot-source";
const char igi_own_includes[] = "/ingot-include";

const igi_source *igi_sources_find(const igi_sources *sources, const char *path) {
    for (size_t i = 0; i < sources->count; i++)
        if (strcmp(sources->files[i].path, path) == 0) return &sources->files[i];
    return NULL;
}

// owns: takes path, display and text, also on failure.
static ig_status add(igi_sources *sources, char *path, char *display, char *text, size_t length, ig_error *error) {
    igi_source source = {.path = path, .display = display, .text = text, .length = length};
    if (length >= UINT32_MAX) {
        igi_error_set(error, IG_STATUS_OVERFLOW, "%s: source of %zu bytes is too large", display, length);
        free(path), free(display), free(text);
        return IG_STATUS_OVERFLOW;
    }
    bool ok = path && display && text && igi_rewrite_source(text, length, &source.rewrite);
    if (ok && !igi_grow((void **)&sources->files, &sources->capacity, sources->count + 1, sizeof *sources->files)) {
        igi_rewrite_free(&source.rewrite);
        ok = false;
    }
    if (!ok) {
        free(path), free(display), free(text);
        return igi_error_no_memory(error);
    }
    sources->files[sources->count++] = source;
    return IG_STATUS_OK;
}

// Adds the header if it is a readable file here; true when it is (or was already added), and then *file is its number.
static bool try_header(igi_sources *sources, const char *directory, const char *name, const char *display_directory,
                       size_t *file, ig_status *status) {
    char *joined = igi_path_join(directory, name);
    char *path = joined ? igi_path_absolute(joined) : NULL;
    char *text = NULL;
    size_t length = 0;
    free(joined);
    const igi_source *known = path ? igi_sources_find(sources, path) : NULL;
    if (known) {
        *file = (size_t)(known - sources->files);
        free(path);
        return true;
    }
    if (!path || igi_file_read(path, &text, &length, NULL) != IG_STATUS_OK) {
        free(path);
        return false;
    }
    *status = add(sources, path, igi_path_join(display_directory, name), text, length, NULL);
    *file = sources->count - 1;
    return true;
}

// Headers that Ingot brings: <ingot/ring>.
static ig_status try_own_header(igi_sources *sources, igi_include *include) {
    static const char prefix[] = "ingot/";
    if (strncmp(include->name, prefix, sizeof prefix - 1) != 0) return IG_STATUS_OK;
    for (size_t i = 0; i < igi_include_files_count; i++) {
        const igi_embedded *own = &igi_include_files[i];
        if (strcmp(own->name, include->name + sizeof prefix - 1) != 0) continue;
        char *path = igi_path_join(igi_own_includes, include->name);
        const igi_source *known = path ? igi_sources_find(sources, path) : NULL;
        include->file = known ? (size_t)(known - sources->files) : sources->count;
        if (!known)
            return add(sources, path, igi_strdup(include->name), igi_strndup(own->data, own->length), own->length,
                       NULL);
        free(path);
    }
    return IG_STATUS_OK;
}

static ig_status follow(igi_sources *sources, size_t index, igi_include *include) {
    ig_status status = IG_STATUS_OK;
    if (include->quoted) {
        char *directory = igi_path_dirname(sources->files[index].path);
        char *display = igi_path_dirname(sources->files[index].display);
        if (!directory || !display) status = IG_STATUS_OUT_OF_MEMORY;
        const char *shown = display && strcmp(display, ".") == 0 ? "" : display;
        bool found = status == IG_STATUS_OK &&
                     try_header(sources, directory, include->name, *shown ? shown : ".", &include->file, &status);
        free(directory), free(display);
        if (found || status != IG_STATUS_OK) return status;
    }
    for (size_t i = 0; i < sources->include_dir_count; i++) {
        const char *directory = sources->include_dirs[i];
        if (try_header(sources, directory, include->name, directory, &include->file, &status)) return status;
    }
    return try_own_header(sources, include);
}

static ig_status add_main(igi_sources *sources, const igi_main_source *main, ig_error *error) {
    if (main->text) {
        const char *name = main->name ? main->name : "program_source";
        return add(sources, igi_path_join(virtual_directory, name[0] == '/' ? name + 1 : name), igi_strdup(name),
                   igi_strndup(main->text, main->length), main->length, error);
    }
    char *text = NULL;
    size_t length = 0;
    ig_status status = igi_file_read(main->path, &text, &length, error);
    if (status != IG_STATUS_OK) return status;
    return add(sources, igi_path_absolute(main->path), igi_strdup(main->path), text, length, error);
}

ig_status igi_sources_load(igi_sources *sources, const igi_main_source *main, const char *const *include_dirs,
                           size_t include_dir_count, ig_error *error) {
    *sources = (igi_sources){.include_dirs = include_dirs, .include_dir_count = include_dir_count};
    ig_status status = add_main(sources, main, error);
    for (size_t i = 0; status == IG_STATUS_OK && i < sources->count && sources->count < MAX_FILES; i++) {
        for (size_t k = 0; status == IG_STATUS_OK && k < sources->files[i].rewrite.include_count; k++)
            status = follow(sources, i, &sources->files[i].rewrite.includes[k]);
        if (status != IG_STATUS_OK) igi_error_no_memory(error);
    }
    if (status != IG_STATUS_OK) igi_sources_free(sources);
    return status;
}

void igi_sources_free(igi_sources *sources) {
    for (size_t i = 0; i < sources->count; i++) {
        igi_source *file = &sources->files[i];
        igi_rewrite_free(&file->rewrite);
        free(file->path), free(file->display), free(file->text);
    }
    free(sources->files);
    *sources = (igi_sources){0};
}

void igi_sources_hash(const igi_sources *sources, igi_hasher *hasher) {
    for (size_t i = 0; i < sources->count; i++) {
        igi_hasher_add_string(hasher, sources->files[i].path);
        igi_hasher_add_string(hasher, sources->files[i].display);
        igi_hasher_add(hasher, sources->files[i].text, sources->files[i].length);
    }
}

static void add_json_string(igi_text *text, const char *string) {
    igi_text_add(text, "\"");
    for (; *string; string++) {
        if (*string == '"' || *string == '\\') igi_text_add(text, "\\");
        igi_text_append(text, string, 1);
    }
    igi_text_add(text, "\"");
}

static ig_status write_file(const char *directory, size_t index, const igi_source *source, igi_text *overlay) {
    char *copy = igi_format("%s/%zu", directory, index);
    if (!copy) return IG_STATUS_OUT_OF_MEMORY;
    ig_status status = igi_file_write_atomic(copy, source->rewrite.text, source->rewrite.length);
    igi_text_add(overlay, index ? ",{\"type\":\"file\",\"name\":" : "{\"type\":\"file\",\"name\":");
    add_json_string(overlay, source->path);
    igi_text_add(overlay, ",\"external-contents\":");
    add_json_string(overlay, copy);
    igi_text_add(overlay, "}");
    free(copy);
    return status;
}

ig_status igi_sources_write_overlay(const igi_sources *sources, const char *directory, char **overlay_path) {
    igi_text overlay = {0};
    igi_text_add(&overlay, "{\"version\":0,\"case-sensitive\":\"true\",\"use-external-names\":\"false\",\"roots\":[");
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < sources->count && status == IG_STATUS_OK; i++)
        status = write_file(directory, i, &sources->files[i], &overlay);
    igi_text_add(&overlay, "]}");
    char *path = igi_path_join(directory, "overlay.yaml");
    if (status == IG_STATUS_OK && (!path || overlay.failed)) status = IG_STATUS_OUT_OF_MEMORY;
    if (status == IG_STATUS_OK) status = igi_file_write_atomic(path, overlay.data, overlay.length);
    igi_text_free(&overlay);
    if (status == IG_STATUS_OK)
        *overlay_path = path;
    else
        free(path);
    return status;
}
