// SPDX-License-Identifier: Apache-2.0
// Libraries of the software device: from memory, built in, from disk, or from clang. compiled.c and bundle.c have those
// that are no source.
#include <string.h>

#include "compiler-identity.h"
#include "core/embedded.h"
#include "core/settings.h"
#include "device/cpu/bundle.h"
#include "device/cpu/capture.h"
#include "device/cpu/compiled.h"
#include "device/cpu/cpu.h"
#include "msl/build.h"
#include "msl/missing.h"
#include "msl/packed.h"

// ---- Modules alive ----

static cpu_module *find_module(cpu_device *cpu, igi_hash key) {
    pthread_mutex_lock(&cpu->lock);
    cpu_module *module = cpu->modules;
    while (module && !igi_hash_equal(module->key, key)) module = module->next;
    if (module) module->references++;
    pthread_mutex_unlock(&cpu->lock);
    return module;
}

static void add_module(cpu_device *cpu, cpu_module *module) {
    pthread_mutex_lock(&cpu->lock);
    module->next = cpu->modules;
    cpu->modules = module;
    pthread_mutex_unlock(&cpu->lock);
}

void igi_cpu_module_release(cpu_device *cpu, cpu_module *module) {
    pthread_mutex_lock(&cpu->lock);
    bool last = --module->references == 0;
    for (cpu_module **link = &cpu->modules; last && *link; link = &(*link)->next) {
        if (*link != module) continue;
        *link = module->next;
        break;
    }
    pthread_mutex_unlock(&cpu->lock);
    if (!last) return;
    free(module->bitcode), free(module->log);
    igi_cpu_compiled_free(cpu, module->compiled);
    igi_cpu_units_free(cpu, module->units);
    igi_msl_sources_free(&module->sources);
    igi_cpu_origin_free(module->origin);
    free(module);
}

// ---- Built in ----

// The result of this build's own front end for exactly this source, whichever clang is installed now.
static const igi_embedded *find_builtin(const cpu_device *cpu, const igi_msl_request *request) {
    char name[33];
    igi_hash_hex(igi_msl_content_key(cpu->compiler, request), name);
    for (size_t i = 0; i < igi_builtin_libraries_count; i++)
        if (strcmp(igi_builtin_libraries[i].name, name) == 0) return &igi_builtin_libraries[i];
    return NULL;
}

// ---- On disk ----

// What is stored of a library depends on this version of the compiler too.
static igi_hash library_key(const cpu_device *cpu, const igi_msl_request *request) {
    igi_hash source = igi_msl_key(cpu->compiler, request);
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add(hasher, &source, sizeof source);
    igi_hasher_add_string(hasher, IGI_COMPILER_IDENTITY);
    return igi_hasher_finish(hasher);
}

static void store(cpu_device *cpu, igi_hash key, const ig_library *library, const cpu_module *module) {
    igi_text bytes = {0};
    const igi_msl_packed packed = {library->reflection, library->log, module->bitcode, module->bitcode_length};
    igi_msl_packed_write(&packed, &bytes);
    if (!bytes.failed) igi_disk_cache_put(cpu->cache, key, bytes.data, bytes.length);
    igi_text_free(&bytes);
}

static bool unpack(ig_library *library, cpu_module *module, const char *bytes, size_t length) {
    igi_msl_packed packed;
    if (!igi_msl_packed_read(bytes, length, &packed)) return false;
    module->log = igi_strdup(packed.log);
    if (!module->log) {
        free(packed.log), free(packed.bitcode);
        igi_msl_reflection_free(&packed.reflection);
        return false;
    }
    library->reflection = packed.reflection;
    library->log = packed.log;
    module->bitcode = packed.bitcode;
    module->bitcode_length = packed.bitcode_length;
    return true;
}

// What the cache holds under the key of a request: a library, or names of further files that the source needs, which
// lead to another key.
typedef struct cache_entry {
    igi_hash key;
    const igi_embedded *builtin;
    char *bytes;  // NULL: nothing
    size_t length;
} cache_entry;

// A source that keeps naming more files is left to the compiler.
enum { MAX_LOOKUPS = 100 };

static ig_status look_up(cpu_device *cpu, igi_msl_request *request, cache_entry *entry, cpu_module **module,
                         ig_error *error) {
    ig_status status = IG_STATUS_OK;
    for (int i = 0; i < MAX_LOOKUPS; i++) {
        igi_hash key = library_key(cpu, request);
        if (i > 0 && igi_hash_equal(key, entry->key)) break;
        entry->key = key;
        // The bitcode of a module does not describe types.
        *module = request->types ? NULL : find_module(cpu, key);
        entry->builtin = *module ? NULL : find_builtin(cpu, request);
        if (*module || entry->builtin) break;
        if (!igi_disk_cache_get(cpu->cache, key, &entry->bytes, &entry->length)) break;
        if (!igi_msl_wanted_is(entry->bytes, entry->length)) break;
        status = igi_msl_wanted_apply(entry->bytes, entry->length, &request->sources, error);
        free(entry->bytes);
        entry->bytes = NULL;
        if (status != IG_STATUS_OK) break;
    }
    return status;
}

// Names that only clang could find lead from the source's key without them to its current key.
static void store_wanted(cpu_device *cpu, const igi_msl_request *request, size_t known, cache_entry *entry) {
    igi_text bytes = {0};
    igi_msl_wanted_write(&request->sources, known, &bytes);
    if (!bytes.failed) igi_disk_cache_put(cpu->cache, entry->key, bytes.data, bytes.length);
    igi_text_free(&bytes);
    entry->key = library_key(cpu, request);
}

// ---- Compiling ----

static ig_status compile(cpu_device *cpu, igi_msl_request *request, ig_library *library, cpu_module *module,
                         ig_error *error) {
    igi_msl_diagnostics diagnostics = {.sources = &request->sources};
    igi_msl_product product;
    ig_status status = igi_msl_build(cpu->compiler, request, &diagnostics, &product, error);
    if (status == IG_STATUS_COMPILE_FAILED) igi_msl_diagnostics_report(&diagnostics, error);
    if (status == IG_STATUS_OK) {
        module->bitcode = product.bitcode;
        module->bitcode_length = product.bitcode_length;
        library->reflection = product.reflection;
        library->log = igi_text_take(&diagnostics.log);
        module->log = igi_strdup(library->log);
        if (!module->log) {
            free(library->log);
            library->log = NULL;
            igi_msl_reflection_free(&library->reflection);
            status = igi_error_no_memory(error);
        }
    }
    igi_msl_diagnostics_free(&diagnostics);
    return status;
}

// A module in memory has no reflection: the library reads it again from the bitcode.
static ig_status reflect_again(const igi_msl_request *request, ig_library *library, const cpu_module *module,
                               ig_error *error) {
    igi_msl_diagnostics diagnostics = {.sources = &request->sources};
    ig_status status =
        igi_msl_reflect(module->bitcode, module->bitcode_length, &library->reflection, &diagnostics, error);
    igi_msl_diagnostics_free(&diagnostics);
    if (status != IG_STATUS_OK) return status;
    library->log = igi_strdup(module->log);
    if (library->log) return IG_STATUS_OK;
    igi_msl_reflection_free(&library->reflection);
    return igi_error_no_memory(error);
}

static bool load_kept(ig_library *library, const cache_entry *entry, cpu_module *module) {
    ig_device *device = library->device;
    if (entry->builtin && unpack(library, module, entry->builtin->data, entry->builtin->length)) {
        atomic_fetch_add(&device->memory_hits, 1);
        return true;
    }
    if (entry->bytes && unpack(library, module, entry->bytes, entry->length)) {
        atomic_fetch_add(&device->disk_hits, 1);
        return true;
    }
    return false;
}

static ig_status compile_and_store(ig_library *library, igi_msl_request *request, cache_entry *entry,
                                   cpu_module *module, ig_error *error) {
    cpu_device *cpu = igi_cpu(library->device);
    size_t known = request->sources.wanted_count;
    atomic_fetch_add(&library->device->compilations, 1);
    igi_codegen_start(cpu->codegen);  // while clang works; the library's kernels come next
    ig_status status = compile(cpu, request, library, module, error);
    if (status != IG_STATUS_OK) return status;
    if (request->sources.wanted_count > known) store_wanted(cpu, request, known, entry);
    store(cpu, entry->key, library, module);
    return IG_STATUS_OK;
}

// With line tables, the sources are kept with the module.
static bool flushes_denormals(const igi_msl_request *request) {
    return request->flush_denormals || request->math_mode == IG_MATH_FAST;
}

static ig_status make_module(ig_library *library, igi_msl_request *request, cache_entry *entry, cpu_module **module,
                             ig_error *error) {
    cpu_module *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    *made = (cpu_module){.references = 1,
                         .math_mode = request->math_mode,
                         .flushes_denormals = flushes_denormals(request),
                         .timeout_ns = request->timeout_ns,
                         .line_tables = request->line_tables};
    ig_status status = IG_STATUS_OK;
    if (!load_kept(library, entry, made)) status = compile_and_store(library, request, entry, made, error);
    if (status != IG_STATUS_OK) {
        free(made->bitcode), free(made);
        return status;
    }
    made->key = entry->key;
    if (igi_cpu(library->device)->keeps_origins) made->origin = igi_cpu_origin_create(request);
    if (request->line_tables) {
        made->sources = request->sources;
        made->sources.include_dirs = NULL;  // the caller's
        request->sources = (igi_msl_sources){0};
    }
    add_module(igi_cpu(library->device), made);
    *module = made;
    return IG_STATUS_OK;
}

static ig_status open_with(ig_library *library, igi_msl_request *request, ig_error *error) {
    cpu_device *cpu = igi_cpu(library->device);
    cache_entry entry = {0};
    cpu_module *module = NULL;
    ig_status status = look_up(cpu, request, &entry, &module, error);
    if (status == IG_STATUS_OK && module) {
        atomic_fetch_add(&library->device->memory_hits, 1);
        status = reflect_again(request, library, module, error);
        if (status != IG_STATUS_OK) igi_cpu_module_release(cpu, module);
    } else if (status == IG_STATUS_OK) {
        status = make_module(library, request, &entry, &module, error);
    }
    free(entry.bytes);
    if (status == IG_STATUS_OK) library->state = module;
    return status;
}

// Others that open the same source do not get this module: who wrote the file may have put anything there.
static bool open_kept(ig_library *library, const igi_msl_request *request, const cpu_kept *kept) {
    cpu_module *module = igi_calloc(1, sizeof *module);
    if (!module) return false;
    *module = (cpu_module){.references = 1,
                           .key = kept->key,
                           .math_mode = request->math_mode,
                           .flushes_denormals = flushes_denormals(request),
                           .timeout_ns = request->timeout_ns};
    if (!unpack(library, module, kept->packed, kept->length)) {
        free(module);
        return false;
    }
    atomic_fetch_add(&library->device->memory_hits, 1);
    if (igi_cpu(library->device)->keeps_origins) module->origin = igi_cpu_origin_create(request);
    library->state = module;
    return true;
}

ig_status igi_cpu_open_request(ig_library *library, igi_msl_request *request, const cpu_kept *kept, ig_error *error) {
    return kept && open_kept(library, request, kept) ? IG_STATUS_OK : open_with(library, request, error);
}

// Libraries that cannot have tensors do not depend on it.
static uint32_t tensor_layout(uint32_t language_version) {
    if (language_version < 400) return 0;
    return igi_setting_is(IGI_SETTING_TENSOR_LAYOUT, "interleaved") ? 1
           : igi_setting_is(IGI_SETTING_TENSOR_LAYOUT, "blocked")   ? 2
                                                                    : 0;
}

void igi_cpu_complete_request(const ig_device *device, const ig_library_desc *desc, igi_msl_request *request) {
    const cpu_device *cpu = igi_cpu(device);
    request->tensor_layout = tensor_layout(request->language_version);
    request->line_tables = desc->line_tables || cpu->line_tables;
    request->variables = cpu->variables;
    request->types = desc->describe_types;
    request->flush_denormals = desc->flush_denormals;
    request->marks_overflow = cpu->checks & IG_CHECK_ARITHMETIC;
    request->timeout_ns = desc->timeout_ns;
}

ig_status igi_cpu_library_open(ig_library *library, const ig_library_desc *desc, ig_error *error) {
    if (igi_cpu_is_bundle(desc)) return igi_cpu_bundle_open(library, desc, error);
    if (igi_cpu_is_compiled(desc)) return igi_cpu_compiled_open(library, desc, error);
    igi_msl_request request = {.defines = desc->defines,
                               .define_count = desc->define_count,
                               .language_version = desc->language_version,
                               .math_mode = desc->math_mode};
    igi_cpu_complete_request(library->device, desc, &request);
    igi_msl_main_source main = {desc->source, desc->source_length, desc->path, desc->name};
    ig_status status =
        igi_msl_sources_load(&request.sources, &main, desc->include_dirs, desc->include_dir_count, error);
    if (status != IG_STATUS_OK) return status;
    status = igi_cpu_open_request(library, &request, NULL, error);
    igi_msl_sources_free(&request.sources);
    return status;
}

void igi_cpu_library_close(ig_library *library) {
    igi_cpu_module_release(igi_cpu(library->device), library->state);
}
