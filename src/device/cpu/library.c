// SPDX-License-Identifier: Apache-2.0
// Libraries of the software device: from memory, built in, from disk, or from clang.
#include <string.h>

#include "compiler-identity.h"
#include "core/embedded.h"
#include "device/cpu/cpu.h"
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
    igi_sources_free(&module->sources);
    free(module);
}

// ---- On disk ----

static void store(cpu_device *cpu, igi_hash key, const ig_library *library, const cpu_module *module) {
    igi_text bytes = {0};
    const igi_packed packed = {library->reflection, library->log, module->bitcode, module->bitcode_length};
    igi_packed_write(&packed, &bytes);
    if (!bytes.failed) igi_disk_cache_put(cpu->cache, key, bytes.data, bytes.length);
    igi_text_free(&bytes);
}

static bool unpack(ig_library *library, cpu_module *module, const char *bytes, size_t length) {
    igi_packed packed;
    if (!igi_packed_read(bytes, length, &packed)) return false;
    module->log = igi_strdup(packed.log);
    if (!module->log) {
        free(packed.log), free(packed.bitcode);
        igi_reflection_free(&packed.reflection);
        return false;
    }
    library->reflection = packed.reflection;
    library->log = packed.log;
    module->bitcode = packed.bitcode;
    module->bitcode_length = packed.bitcode_length;
    return true;
}

static bool load(cpu_device *cpu, igi_hash key, ig_library *library, cpu_module *module) {
    char *bytes = NULL;
    size_t length = 0;
    if (!igi_disk_cache_get(cpu->cache, key, &bytes, &length)) return false;
    bool loaded = unpack(library, module, bytes, length);
    free(bytes);
    return loaded;
}

// ---- Built in ----

// What this build's own front end made of this very source, whatever clang there is now.
static bool load_builtin(cpu_device *cpu, const igi_msl_request *request, ig_library *library, cpu_module *module) {
    char name[33];
    igi_hash_hex(igi_msl_content_key(cpu->compiler, request), name);
    for (size_t i = 0; i < igi_builtin_libraries_count; i++) {
        const igi_embedded *builtin = &igi_builtin_libraries[i];
        if (strcmp(builtin->name, name) == 0) return unpack(library, module, builtin->data, builtin->length);
    }
    return false;
}

// ---- Compiling ----

static ig_status compile(cpu_device *cpu, const igi_msl_request *request, ig_library *library, cpu_module *module,
                         ig_error *error) {
    igi_diagnostics diagnostics = {.sources = &request->sources};
    ig_status status =
        igi_msl_compile(cpu->compiler, request, &diagnostics, &module->bitcode, &module->bitcode_length, error);
    if (status == IG_STATUS_OK)
        status = igi_reflect(module->bitcode, module->bitcode_length, &library->reflection, &diagnostics, error);
    if (status == IG_STATUS_COMPILE_FAILED) igi_diagnostics_report(&diagnostics, error);
    if (status == IG_STATUS_OK) {
        library->log = igi_text_take(&diagnostics.log);
        module->log = igi_strdup(library->log);
        if (!module->log) {
            free(library->log);
            library->log = NULL;
            igi_reflection_free(&library->reflection);
            status = igi_error_no_memory(error);
        }
    }
    igi_diagnostics_free(&diagnostics);
    return status;
}

// A module in memory has no reflection of its own: the library reads it again from the bitcode.
static ig_status reflect_again(const igi_msl_request *request, ig_library *library, const cpu_module *module,
                               ig_error *error) {
    igi_diagnostics diagnostics = {.sources = &request->sources};
    ig_status status = igi_reflect(module->bitcode, module->bitcode_length, &library->reflection, &diagnostics, error);
    igi_diagnostics_free(&diagnostics);
    if (status != IG_STATUS_OK) return status;
    library->log = igi_strdup(module->log);
    if (library->log) return IG_STATUS_OK;
    igi_reflection_free(&library->reflection);
    return igi_error_no_memory(error);
}

// With line tables the sources stay with the module.
static ig_status make_module(ig_library *library, igi_msl_request *request, igi_hash key, cpu_module **module,
                             ig_error *error) {
    ig_device *device = library->device;
    cpu_device *cpu = igi_cpu(device);
    cpu_module *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    *made = (cpu_module){.references = 1,
                         .key = key,
                         .math_mode = request->math_mode,
                         .timeout_ns = request->timeout_ns,
                         .line_tables = request->line_tables};
    if (load_builtin(cpu, request, library, made)) {
        atomic_fetch_add(&device->memory_hits, 1);
    } else if (load(cpu, key, library, made)) {
        atomic_fetch_add(&device->disk_hits, 1);
    } else {
        atomic_fetch_add(&device->compilations, 1);
        igi_codegen_start(cpu->codegen);  // while clang works; the library's kernels come next
        ig_status status = compile(cpu, request, library, made, error);
        if (status != IG_STATUS_OK) {
            free(made->bitcode), free(made);
            return status;
        }
        store(cpu, key, library, made);
    }
    if (request->line_tables) {
        made->sources = request->sources;
        made->sources.include_dirs = NULL;  // the caller's
        request->sources = (igi_sources){0};
    }
    add_module(cpu, made);
    *module = made;
    return IG_STATUS_OK;
}

// What is kept of a library depends on this version of the compiler too.
static igi_hash library_key(const cpu_device *cpu, const igi_msl_request *request) {
    igi_hash source = igi_msl_key(cpu->compiler, request);
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add(hasher, &source, sizeof source);
    igi_hasher_add_string(hasher, IGI_COMPILER_IDENTITY);
    return igi_hasher_finish(hasher);
}

ig_status igi_cpu_library_open(ig_library *library, const ig_library_desc *desc, ig_error *error) {
    cpu_device *cpu = igi_cpu(library->device);
    igi_msl_request request = {.defines = desc->defines,
                               .define_count = desc->define_count,
                               .language_version = desc->language_version,
                               .math_mode = desc->math_mode,
                               .line_tables = desc->line_tables || cpu->line_tables,
                               .timeout_ns = desc->timeout_ns};
    igi_main_source main = {desc->source, desc->source_length, desc->path, desc->name};
    ig_status status = igi_sources_load(&request.sources, &main, desc->include_dirs, desc->include_dir_count, error);
    if (status != IG_STATUS_OK) return status;
    igi_hash key = library_key(cpu, &request);
    cpu_module *module = find_module(cpu, key);
    if (module) {
        atomic_fetch_add(&library->device->memory_hits, 1);
        status = reflect_again(&request, library, module, error);
        if (status != IG_STATUS_OK) igi_cpu_module_release(cpu, module);
    } else {
        status = make_module(library, &request, key, &module, error);
    }
    igi_sources_free(&request.sources);
    if (status == IG_STATUS_OK) library->state = module;
    return status;
}

void igi_cpu_library_close(ig_library *library) {
    igi_cpu_module_release(igi_cpu(library->device), library->state);
}
