// SPDX-License-Identifier: Apache-2.0
// Libraries: compiled MSL, and what it contains.
#include <assert.h>
#include <string.h>

#include "core/clock.h"
#include "device/backend.h"
#include "device/profile.h"
#include "msl/compiler.h"

static ig_status check(const ig_library_desc *desc, ig_error *error) {
    if (!desc || (desc->source != NULL) + (desc->path != NULL) + (desc->data != NULL) != 1)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "give a library one of source, path and data");
    if (desc->data && !desc->data_length)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "a library's data has no length");
    if ((desc->define_count && !desc->defines) || (desc->include_dir_count && !desc->include_dirs) ||
        (desc->library_count && !desc->libraries))
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "a count was given without its array");
    for (size_t i = 0; i < desc->define_count; i++)
        if (!desc->defines[i].name || !*desc->defines[i].name)
            return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "define %zu has no name", i);
    uint32_t version = desc->language_version;
    bool between = version > 320 && version < 400;
    if (version && (version < 100 || version > 410 || between || version % 10))
        return igi_error_set(error, IG_STATUS_UNSUPPORTED,
                             "Metal language version %g is not supported; the newest is 4.1", version / 100.0);
    return IG_STATUS_OK;
}

static void profile_library(ig_device *device, const ig_library_desc *desc, uint64_t compilations, uint64_t start) {
    const char *name = desc->path ? desc->path : desc->name ? desc->name : "program_source";
    bool compiled = atomic_load(&device->compilations) != compilations;
    igi_device_profile_compiled(device, name, compiled ? "clang" : "cache", 0, start);
}

// ---- Libraries that it calls ----

static void link_one(ig_library *made, ig_library *other) {
    for (size_t i = 0; i < made->linked_count; i++)
        if (made->linked[i] == other) return;
    made->linked[made->linked_count++] = ig_library_retain(other);
}

static void unlink_all(ig_library *library) {
    for (size_t i = 0; i < library->linked_count; i++) ig_library_release(library->linked[i]);
    free(library->linked);
}

// Those that it was given come before those that they were given.
static ig_status link_libraries(ig_library *made, const ig_library_desc *desc, ig_error *error) {
    size_t most = desc->library_count;
    for (size_t i = 0; i < desc->library_count; i++) {
        const ig_library *other = desc->libraries[i];
        if (!other || other->device != made->device)
            return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "library %zu is NULL or belongs to another device",
                                 i);
        most += other->linked_count;
    }
    made->linked = igi_calloc(most, sizeof *made->linked);
    if (!made->linked) return igi_error_no_memory(error);
    for (size_t i = 0; i < desc->library_count; i++) link_one(made, desc->libraries[i]);
    for (size_t i = 0; i < desc->library_count; i++)
        for (size_t k = 0; k < desc->libraries[i]->linked_count; k++) link_one(made, desc->libraries[i]->linked[k]);
    return IG_STATUS_OK;
}

ig_status ig_library_create(ig_device *device, const ig_library_desc *desc, ig_library **library, ig_error *error) {
    if (!device || !library)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "device and library must not be NULL");
    if (igi_device_is_inherited(device)) return igi_device_error_forked(error);
    ig_status status = check(desc, error);
    if (status != IG_STATUS_OK) return status;
    ig_library_desc full = *desc;
    if (full.source && !full.source_length) full.source_length = strlen(full.source);
    if (!full.language_version) full.language_version = IGI_MSL_DEFAULT_LANGUAGE;
    ig_library *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    igi_ref_init(&made->references);
    made->device = device;
    uint64_t start = device->profile ? igi_now_ns() : 0, compilations = atomic_load(&device->compilations);
    status = link_libraries(made, desc, error);
    if (status == IG_STATUS_OK) status = device->backend->library_open(made, &full, error);
    if (device->profile) profile_library(device, &full, compilations, start);
    if (status != IG_STATUS_OK) {
        unlink_all(made);
        free(made);
        return status;
    }
    ig_device_retain(device);
    *library = made;
    return IG_STATUS_OK;
}

ig_library *ig_library_retain(ig_library *library) {
    if (library) igi_ref_take(&library->references);
    return library;
}

void ig_library_release(ig_library *library) {
    if (!library || igi_device_is_inherited(library->device) || !igi_ref_drop(&library->references)) return;
    ig_device *device = library->device;
    device->backend->library_close(library);
    igi_msl_reflection_free(&library->reflection);
    unlink_all(library);
    free(library->log);
    free(library);
    ig_device_release(device);
}

const char *ig_library_log(const ig_library *library) {
    return library->log ? library->log : "";
}

size_t ig_library_kernel_count(const ig_library *library) {
    return library->reflection.kernel_count;
}

static const ig_kernel_info *reflect_kernel(const ig_library *library, igi_msl_kernel *kernel) {
    const igi_device_backend *backend = library->device->backend;
    if (backend->kernel_reflect) backend->kernel_reflect((ig_library *)library, kernel);
    return &kernel->info;
}

const ig_kernel_info *ig_library_kernel(const ig_library *library, size_t index) {
    if (index >= library->reflection.kernel_count) return NULL;
    return reflect_kernel(library, &library->reflection.kernels[index]);
}

const char *ig_library_kernel_name(const ig_library *library, size_t index) {
    return index < library->reflection.kernel_count ? library->reflection.kernels[index].info.name : NULL;
}

const ig_kernel_info *ig_library_find_kernel(const ig_library *library, const char *name) {
    const igi_msl_kernel *kernel = name ? igi_msl_reflection_find(&library->reflection, name) : NULL;
    return kernel ? reflect_kernel(library, (igi_msl_kernel *)kernel) : NULL;
}

size_t ig_library_other_count(const ig_library *library) {
    return library->reflection.other_count;
}

const ig_kernel_info *ig_library_other(const ig_library *library, size_t index) {
    if (index >= library->reflection.other_count) return NULL;
    return reflect_kernel(library, &library->reflection.others[index]);
}

const char *ig_library_other_name(const ig_library *library, size_t index) {
    return index < library->reflection.other_count ? library->reflection.others[index].info.name : NULL;
}

ig_function_kind ig_library_other_kind(const ig_library *library, size_t index) {
    assert(index < library->reflection.other_count);
    return library->reflection.others[index].info.kind;
}

const ig_kernel_info *ig_library_find_other(const ig_library *library, const char *name) {
    const igi_msl_kernel *other = name ? igi_msl_reflection_find_other(&library->reflection, name) : NULL;
    return other ? reflect_kernel(library, (igi_msl_kernel *)other) : NULL;
}

size_t ig_library_function_constant_count(const ig_library *library) {
    return library->reflection.constant_count;
}

const ig_function_constant_info *ig_library_function_constant(const ig_library *library, size_t index) {
    return index < library->reflection.constant_count ? &library->reflection.constants[index] : NULL;
}

size_t ig_library_function_count(const ig_library *library) {
    return library->reflection.function_count;
}

const char *ig_library_function(const ig_library *library, size_t index) {
    return index < library->reflection.function_count ? library->reflection.functions[index].name : NULL;
}
