// SPDX-License-Identifier: Apache-2.0
// Writing a bundle, and a unit of a request that was compiled.
#include <assert.h>
#include <string.h>

#include "core/bytes.h"
#include "core/file.h"
#include "msl/bundle-format.h"
#include "msl/bundle.h"
#include "msl/packed.h"

static void put_string(igi_text *bytes, const char *string) {
    igi_put_block(bytes, string, strlen(string) + 1);
}

static void put_hash(igi_text *bytes, igi_hash hash) {
    igi_put_u64(bytes, hash.low);
    igi_put_u64(bytes, hash.high);
}

void igi_msl_bundle_write(const igi_msl_unit *units, size_t count, igi_text *bytes) {
    igi_text body = {0};
    for (size_t i = 0; i < count; i++) {
        igi_put_block(&body, units[i].description, units[i].description_length);
        igi_put_block(&body, units[i].product, units[i].product_length);
    }
    igi_text_append(bytes, IGI_BUNDLE_MAGIC, IGI_BUNDLE_MAGIC_BYTES);
    igi_put_u32(bytes, IGI_BUNDLE_FORMAT);
    igi_put_u32(bytes, (uint32_t)count);
    put_hash(bytes, igi_hash_bytes(body.data ? body.data : "", body.length));
    if (body.failed) bytes->failed = true;
    if (body.length) igi_text_append(bytes, body.data, body.length);
    igi_text_free(&body);
}

// ---- Where files are ----

// The files and directories of the machine that a description names. Their paths get a common beginning, so that a
// library does not depend on where it was built.
typedef struct layout {
    const igi_msl_request *request;
    char **directories;  // absolute, of the request's include directories; NULL: it is not used
    char *common;        // the directory above all of them
    bool fixed;          // a source includes a file by its whole path: all stay where they are
} layout;

static bool is_below(const char *path, const char *directory, size_t length) {
    return strncmp(path, directory, length) == 0 && (path[length] == '/' || !path[length]);
}

// Those that come with Ingot are not stored: they belong to the version that loads the library.
static bool is_own(const igi_msl_source *source) {
    return is_below(source->path, igi_msl_own_includes, strlen(igi_msl_own_includes));
}

static bool is_virtual(const char *path) {
    return is_below(path, igi_msl_virtual_directory, strlen(igi_msl_virtual_directory));
}

static bool leads_to_file(const igi_msl_sources *sources, const char *directory, const char *name) {
    char *joined = igi_path_join(directory, name), *path = joined ? igi_path_absolute(joined) : NULL;
    bool leads = path && igi_msl_sources_find(sources, path);
    free(joined), free(path);
    return leads;
}

static bool is_used(const igi_msl_sources *sources, const char *directory) {
    for (size_t i = 0; i < sources->count; i++) {
        const igi_msl_rewrite *rewrite = &sources->files[i].rewrite;
        for (size_t k = 0; k < rewrite->include_count; k++)
            if (leads_to_file(sources, directory, rewrite->includes[k].name)) return true;
    }
    for (size_t i = 0; i < sources->wanted_count; i++)
        if (leads_to_file(sources, directory, sources->wanted[i].name)) return true;
    return false;
}

// Shortens l->common to a directory above the path, too.
static bool share(layout *l, const char *path) {
    if (!l->common) return (l->common = igi_strdup(path)) != NULL;
    for (size_t length = strlen(l->common); length && !is_below(path, l->common, length);) {
        while (length && l->common[length - 1] != '/') length--;
        if (length) length--;
        l->common[length] = '\0';
    }
    return true;
}

static bool share_directory_of(layout *l, const char *path) {
    char *directory = igi_path_dirname(path);
    bool shared = directory && share(l, strcmp(directory, "/") == 0 ? "" : directory);
    free(directory);
    return shared;
}

static bool includes_whole_path(const igi_msl_sources *sources) {
    for (size_t i = 0; i < sources->count; i++) {
        const igi_msl_rewrite *rewrite = &sources->files[i].rewrite;
        for (size_t k = 0; k < rewrite->include_count; k++)
            if (rewrite->includes[k].name[0] == '/' && rewrite->includes[k].file != SIZE_MAX) return true;
    }
    return false;
}

static bool lay_out(layout *l) {
    const igi_msl_sources *sources = &l->request->sources;
    l->fixed = includes_whole_path(sources);
    bool ok = (l->directories = igi_calloc(sources->include_dir_count, sizeof *l->directories)) != NULL;
    for (size_t i = 0; ok && i < sources->count; i++)
        if (!is_own(&sources->files[i]) && !is_virtual(sources->files[i].path))
            ok = share_directory_of(l, sources->files[i].path);
    for (size_t i = 0; ok && i < sources->include_dir_count; i++) {
        char *directory = igi_path_absolute(sources->include_dirs[i]);
        ok = directory != NULL;
        if (ok && is_used(sources, directory)) {
            l->directories[i] = directory;
            ok = is_virtual(directory) || share(l, directory);
        } else {
            free(directory);
        }
    }
    return ok && (l->common || (l->common = igi_strdup("")));
}

static void free_layout(layout *l) {
    for (size_t i = 0; l->directories && i < l->request->sources.include_dir_count; i++) free(l->directories[i]);
    free(l->directories), free(l->common);
}

static void put_path(const layout *l, igi_text *bytes, const char *path) {
    bool moved = !is_virtual(path) && !l->fixed;
    assert(!moved || is_below(path, l->common, strlen(l->common)));
    char *stored = moved ? igi_format("%s%s", igi_msl_virtual_directory, path + strlen(l->common)) : igi_strdup(path);
    if (stored)
        put_string(bytes, stored);
    else
        bytes->failed = true;
    free(stored);
}

// ---- The two parts ----

static void put_options(const igi_msl_request *request, igi_text *bytes) {
    put_string(bytes, request->sources.files[0].display);
    igi_put_u32(bytes, request->language_version);
    igi_put_u32(bytes, request->math_mode);
    igi_put_u32(bytes, (uint32_t)request->define_count);
    for (size_t i = 0; i < request->define_count; i++) {
        put_string(bytes, request->defines[i].name);
        put_string(bytes, request->defines[i].value ? request->defines[i].value : "1");
    }
}

static void put_directories(const layout *l, igi_text *bytes) {
    uint32_t used = 0;
    for (size_t i = 0; i < l->request->sources.include_dir_count; i++) used += l->directories[i] != NULL;
    igi_put_u32(bytes, used);
    for (size_t i = 0; i < l->request->sources.include_dir_count; i++)
        if (l->directories[i]) put_path(l, bytes, l->directories[i]);
}

static void put_files(const layout *l, igi_text *bytes) {
    const igi_msl_sources *sources = &l->request->sources;
    uint32_t count = 0;
    for (size_t i = 0; i < sources->count; i++) count += !is_own(&sources->files[i]);
    igi_put_u32(bytes, count);
    for (size_t i = 0; i < sources->count; i++) {
        const igi_msl_source *file = &sources->files[i];
        if (is_own(file)) continue;
        put_path(l, bytes, file->path);
        put_string(bytes, file->display);
        igi_put_u32(bytes, (file->data ? IGI_BUNDLE_DATA : 0) | (file->before ? IGI_BUNDLE_BEFORE : 0));
        igi_put_block(bytes, file->text, file->length);
    }
}

static void put_description(const igi_msl_request *request, igi_text *bytes) {
    layout l = {.request = request};
    if (lay_out(&l)) {
        put_options(request, bytes);
        put_directories(&l, bytes);
        put_files(&l, bytes);
    } else {
        bytes->failed = true;
    }
    free_layout(&l);
}

static void put_symbols(const igi_msl_reflection *reflection, igi_text *bytes) {
    igi_put_u32(bytes, (uint32_t)(reflection->kernel_count + reflection->function_count + reflection->other_count));
    for (size_t i = 0; i < reflection->kernel_count; i++) {
        igi_put_u32(bytes, IG_FUNCTION_KERNEL);
        put_string(bytes, reflection->kernels[i].info.name);
    }
    for (size_t i = 0; i < reflection->function_count; i++) {
        igi_put_u32(bytes, IG_FUNCTION_VISIBLE);
        put_string(bytes, reflection->functions[i].name);
    }
    for (size_t i = 0; i < reflection->other_count; i++) {
        igi_put_u32(bytes, reflection->others[i].info.kind);
        put_string(bytes, reflection->others[i].info.name);
    }
}

static void put_product(const igi_msl_product *product, const char *identity, igi_hash key, igi_text *bytes) {
    igi_text packed = {0};
    igi_msl_packed_write(&(igi_msl_packed){product->reflection, (char *)"", product->bitcode, product->bitcode_length},
                         &packed);
    put_string(bytes, identity);
    put_hash(bytes, key);
    put_symbols(&product->reflection, bytes);
    if (packed.failed) bytes->failed = true;
    igi_put_block(bytes, packed.data, packed.length);
    igi_text_free(&packed);
}

// ---- A unit ----

ig_status igi_msl_unit_request(const igi_msl_unit *unit, igi_msl_request *request, ig_error *error) {
    *request = (igi_msl_request){.defines = unit->defines,
                                 .define_count = unit->define_count,
                                 .language_version = unit->language_version,
                                 .math_mode = unit->math_mode};
    return igi_msl_sources_restore(&request->sources, unit->files, unit->file_count, unit->include_dirs,
                                   unit->include_dir_count, error);
}

igi_hash igi_msl_unit_key(const igi_msl_compiler *compiler, const igi_msl_request *request, const char *identity) {
    igi_hash source = igi_msl_content_key(compiler, request);
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add(hasher, &source, sizeof source);
    igi_hasher_add_string(hasher, identity);
    return igi_hasher_finish(hasher);
}

// The key of the description as a reader will see it. Its paths are others than those that were compiled, which only
// __FILE__ shows.
static ig_status key_of(const igi_msl_compiler *compiler, const igi_msl_request *request, const igi_text *description,
                        const char *identity, igi_hash *key, ig_error *error) {
    igi_text bytes = {0};
    igi_text product = {0};
    put_product(&(igi_msl_product){.bitcode = (char *)""}, "", (igi_hash){0}, &product);
    const igi_msl_unit bare = {.description = description->data,
                               .description_length = description->length,
                               .product = product.data,
                               .product_length = product.length};
    igi_msl_bundle bundle = {0};
    igi_msl_request restored = {0};
    igi_msl_bundle_write(&bare, 1, &bytes);
    ig_status status = product.failed || bytes.failed
                           ? igi_error_no_memory(error)
                           : igi_msl_bundle_read(bytes.data, bytes.length, "this library", &bundle, error);
    assert(status != IG_STATUS_OK || (bundle.count == 1 && bundle.units));
    if (status == IG_STATUS_OK) status = igi_msl_unit_request(&bundle.units[0], &restored, error);
    if (status == IG_STATUS_OK) {
        restored.tensor_layout = request->tensor_layout;
        *key = igi_msl_unit_key(compiler, &restored, identity);
    }
    igi_msl_sources_free(&restored.sources);
    igi_msl_bundle_free(&bundle);
    igi_text_free(&bytes), igi_text_free(&product);
    return status;
}

ig_status igi_msl_unit_write(const igi_msl_compiler *compiler, const igi_msl_request *request,
                             const igi_msl_product *product, const char *identity, igi_text *bytes, ig_error *error) {
    igi_text description = {0}, made = {0};
    igi_hash key = {0};
    put_description(request, &description);
    ig_status status = description.failed ? igi_error_no_memory(error)
                                          : key_of(compiler, request, &description, identity, &key, error);
    if (status == IG_STATUS_OK) {
        put_product(product, identity, key, &made);
        const igi_msl_unit unit = {.description = description.data,
                                   .description_length = description.length,
                                   .product = made.data,
                                   .product_length = made.length};
        igi_msl_bundle_write(&unit, 1, bytes);
        if (made.failed || bytes->failed) status = igi_error_no_memory(error);
    }
    igi_text_free(&description), igi_text_free(&made);
    return status;
}
