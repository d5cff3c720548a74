// SPDX-License-Identifier: Apache-2.0
// Libraries of several units: each is opened like a library of its own, and what they contain is put together.
#include "device/cpu/bundle.h"

#include <string.h>

#include "compiler-identity.h"
#include "core/file.h"
#include "device/cpu/compiled.h"
#include "msl/bundle.h"

typedef struct cpu_units {
    cpu_module **modules;
    size_t count;
    size_t *of_kernels, *of_functions;  // which unit each is from
} cpu_units;

void igi_cpu_units_free(cpu_device *cpu, cpu_units *units) {
    if (!units) return;
    for (size_t i = 0; units->modules && i < units->count; i++) igi_cpu_module_release(cpu, units->modules[i]);
    free(units->modules), free(units->of_kernels), free(units->of_functions), free(units);
}

cpu_module *igi_cpu_unit_of_kernel(const cpu_units *units, size_t kernel) {
    return units->modules[units->of_kernels[kernel]];
}

cpu_module *igi_cpu_module_of_function(const ig_library *library, const igi_msl_function *function) {
    cpu_module *module = library->state;
    size_t index = (size_t)(function - library->reflection.functions);
    if (module->compiled) return igi_cpu_compiled_function(module->compiled, index);
    if (!module->units) return module;
    return module->units->modules[module->units->of_functions[index]];
}

bool igi_cpu_is_bundle(const ig_library_desc *desc) {
    if (desc->data) return igi_msl_is_bundle(desc->data, desc->data_length);
    return desc->path && igi_msl_is_bundle_file(desc->path);
}

// ---- One unit ----

// What is made from the unit's bitcode is kept on disk by what is in it, not by what the file says of itself.
static igi_hash content_key(const igi_msl_unit *unit) {
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add_string(hasher, "unit");
    igi_hasher_add(hasher, unit->packed, unit->packed_length);
    igi_hasher_add_u64(hasher, unit->math_mode);
    igi_hasher_add_string(hasher, IGI_COMPILER_IDENTITY);
    return igi_hasher_finish(hasher);
}

static ig_status open_unit(ig_library *part, const igi_msl_unit *unit, const ig_library_desc *desc, ig_error *error) {
    igi_msl_request request;
    ig_status status = igi_msl_unit_request(unit, &request, error);
    if (status != IG_STATUS_OK) return status;
    igi_cpu_complete_request(part->device, desc, &request);
    igi_hash key = igi_msl_unit_key(igi_cpu(part->device)->compiler, &request, IGI_COMPILER_IDENTITY);
    const cpu_kept kept = {content_key(unit), unit->packed, unit->packed_length};
    bool usable = igi_hash_valid(key) && igi_hash_equal(key, unit->key) && igi_hash_valid(kept.key);
    status = igi_cpu_open_request(part, &request, usable ? &kept : NULL, error);
    igi_msl_sources_free(&request.sources);
    return status;
}

// ---- All of them ----

static bool note_unit(size_t **list, size_t count, size_t added, size_t unit) {
    size_t *longer = igi_realloc(*list, (count + added) * sizeof *longer);
    if (!longer) return false;
    for (size_t i = count; i < count + added; i++) longer[i] = unit;
    *list = longer;
    return true;
}

static bool take_kernels(igi_msl_reflection *to, cpu_units *units, igi_msl_reflection *from, size_t unit) {
    if (!note_unit(&units->of_kernels, to->kernel_count, from->kernel_count, unit) ||
        !igi_grow((void **)&to->kernels, &to->kernel_capacity, to->kernel_count + from->kernel_count,
                  sizeof *to->kernels))
        return false;
    for (size_t i = 0; i < from->kernel_count; i++) to->kernels[to->kernel_count++] = from->kernels[i];
    from->kernel_count = 0;
    return true;
}

static bool take_functions(igi_msl_reflection *to, cpu_units *units, igi_msl_reflection *from, size_t unit) {
    if (!note_unit(&units->of_functions, to->function_count, from->function_count, unit) ||
        !igi_grow((void **)&to->functions, &to->function_capacity, to->function_count + from->function_count,
                  sizeof *to->functions))
        return false;
    for (size_t i = 0; i < from->function_count; i++) to->functions[to->function_count++] = from->functions[i];
    from->function_count = 0;
    return true;
}

static bool take_others(igi_msl_reflection *to, igi_msl_reflection *from) {
    if (!igi_grow((void **)&to->others, &to->other_capacity, to->other_count + from->other_count, sizeof *to->others))
        return false;
    for (size_t i = 0; i < from->other_count; i++) to->others[to->other_count++] = from->others[i];
    from->other_count = 0;
    return true;
}

// Units may declare the same constants.
static bool take_constants(igi_msl_reflection *to, igi_msl_reflection *from) {
    if (!igi_grow((void **)&to->constants, &to->constant_capacity, to->constant_count + from->constant_count,
                  sizeof *to->constants))
        return false;
    for (size_t i = 0; i < from->constant_count; i++) {
        if (igi_msl_reflection_has_constant(to, &from->constants[i]))
            free((char *)from->constants[i].name);
        else
            to->constants[to->constant_count++] = from->constants[i];
    }
    from->constant_count = 0;
    return true;
}

static ig_status add_unit(ig_library *library, cpu_units *units, igi_text *log, const igi_msl_unit *unit,
                          const ig_library_desc *desc, ig_error *error) {
    ig_library part = {.device = library->device};
    ig_status status = open_unit(&part, unit, desc, error);
    if (status != IG_STATUS_OK) return status;
    units->modules[units->count] = part.state;
    size_t number = units->count++;
    bool merged = take_kernels(&library->reflection, units, &part.reflection, number) &&
                  take_functions(&library->reflection, units, &part.reflection, number) &&
                  take_others(&library->reflection, &part.reflection) &&
                  take_constants(&library->reflection, &part.reflection);
    igi_text_add(log, part.log);
    igi_msl_reflection_free(&part.reflection);
    free(part.log);
    return merged && !log->failed ? IG_STATUS_OK : igi_error_no_memory(error);
}

static ig_status add_units(ig_library *library, cpu_units *units, const igi_msl_bundle *bundle,
                           const ig_library_desc *desc, ig_error *error) {
    igi_text log = {0};
    ig_status status = IG_STATUS_OK;
    units->modules = igi_calloc(bundle->count, sizeof *units->modules);
    if (!units->modules) return igi_error_no_memory(error);
    for (size_t i = 0; i < bundle->count && status == IG_STATUS_OK; i++)
        status = add_unit(library, units, &log, &bundle->units[i], desc, error);
    if (status == IG_STATUS_OK && !(library->log = igi_text_take(&log))) status = igi_error_no_memory(error);
    igi_text_free(&log);
    return status;
}

static ig_status open_all(ig_library *library, const igi_msl_bundle *bundle, const ig_library_desc *desc,
                          ig_error *error) {
    cpu_module *module = igi_calloc(1, sizeof *module);
    cpu_units *units = igi_calloc(1, sizeof *units);
    if (!module || !units) {
        free(module), free(units);
        return igi_error_no_memory(error);
    }
    *module = (cpu_module){.references = 1, .units = units};
    ig_status status = add_units(library, units, bundle, desc, error);
    if (status == IG_STATUS_OK) {
        library->state = module;
        return IG_STATUS_OK;
    }
    igi_msl_reflection_free(&library->reflection);
    library->reflection = (igi_msl_reflection){0};
    igi_cpu_module_release(igi_cpu(library->device), module);
    return status;
}

// Modules copy what they need: the file is not kept.
ig_status igi_cpu_bundle_open(ig_library *library, const ig_library_desc *desc, ig_error *error) {
    const char *name = desc->path ? desc->path : desc->name ? desc->name : "the library", *bytes = desc->data;
    char *file = NULL;
    size_t length = desc->data_length;
    igi_msl_bundle bundle;
    ig_status status = desc->path ? igi_file_read(desc->path, &file, &length, error) : IG_STATUS_OK;
    if (status == IG_STATUS_OK) status = igi_msl_bundle_read(file ? file : bytes, length, name, &bundle, error);
    if (status == IG_STATUS_OK) {
        status = open_all(library, &bundle, desc, error);
        igi_msl_bundle_free(&bundle);
    }
    free(file);
    return status;
}
