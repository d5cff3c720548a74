// SPDX-License-Identifier: Apache-2.0
// Libraries that were compiled elsewhere: the container is mapped, and each kernel becomes a module of its own, from the
// disk cache or from ingot-codegen, which is the only process that reads its bitcode.
#include "device/cpu/compiled.h"

#include <string.h>

#include "air/container.h"
#include "air/runtime.h"
#include "air/translate.h"
#include "compiler-identity.h"
#include "device/cpu/bundle.h"

typedef struct cpu_compiled {
    igi_air_container container;
    const igi_air_function **functions;  // of each kernel
    const igi_air_function **visible;    // of each visible function
    size_t visible_count;
    const igi_air_function **others;  // of each function that draws or traces rays
    size_t other_count;
    uint64_t timeout_ns;
    pthread_mutex_t lock;  // guards what follows, and the arguments of kernels
    cpu_module **parts;    // of each kernel; NULL until it is asked for
    size_t count;
    cpu_module **visible_parts;
    bool *were_read;  // of each of the others: its arguments are known, or never will be
} cpu_compiled;

void igi_cpu_compiled_free(cpu_device *cpu, cpu_compiled *compiled) {
    if (!compiled) return;
    for (size_t i = 0; compiled->parts && i < compiled->count; i++)
        if (compiled->parts[i]) igi_cpu_module_release(cpu, compiled->parts[i]);
    for (size_t i = 0; compiled->visible_parts && i < compiled->visible_count; i++)
        if (compiled->visible_parts[i]) igi_cpu_module_release(cpu, compiled->visible_parts[i]);
    igi_air_close(&compiled->container);
    pthread_mutex_destroy(&compiled->lock);
    free(compiled->visible_parts), free((void *)compiled->visible);
    free((void *)compiled->others), free(compiled->were_read);
    free(compiled->parts), free((void *)compiled->functions), free(compiled);
}

// ---- Opening ----

bool igi_cpu_is_compiled(const ig_library_desc *desc) {
    return desc->data || (desc->path && igi_air_is_container_file(desc->path));
}

static bool add_constants(igi_msl_reflection *reflection, const igi_air_function *function) {
    igi_air_constants constants = igi_air_constants_of(function);
    ig_function_constant_info constant;
    while (igi_air_next_constant(&constants, &constant)) {
        if (igi_msl_reflection_has_constant(reflection, &constant)) continue;
        if (!igi_grow((void **)&reflection->constants, &reflection->constant_capacity, reflection->constant_count + 1,
                      sizeof *reflection->constants))
            return false;
        constant.name = igi_strdup(constant.name);
        if (!constant.name) return false;
        reflection->constants[reflection->constant_count++] = constant;
    }
    return true;
}

static bool add_kernel(ig_library *library, cpu_compiled *compiled, const igi_air_function *function) {
    igi_msl_reflection *reflection = &library->reflection;
    igi_msl_kernel *kernel = &reflection->kernels[reflection->kernel_count++];
    compiled->functions[compiled->count++] = function;
    kernel->info.name = igi_strdup(function->name);
    kernel->symbol = igi_strdup("");
    return kernel->info.name && kernel->symbol && add_constants(reflection, function);
}

static bool kind_of_other(const igi_air_function *function, ig_function_kind *kind) {
    static const struct {
        igi_air_function_kind from;
        ig_function_kind to;
    } kinds[] = {{IGI_AIR_VERTEX, IG_FUNCTION_VERTEX},
                 {IGI_AIR_FRAGMENT, IG_FUNCTION_FRAGMENT},
                 {IGI_AIR_INTERSECTION, IG_FUNCTION_INTERSECTION},
                 {IGI_AIR_MESH, IG_FUNCTION_MESH},
                 {IGI_AIR_OBJECT, IG_FUNCTION_OBJECT}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].from != function->kind) continue;
        *kind = kinds[i].to;
        return true;
    }
    return false;
}

// Their arguments are read when they are asked for.
static bool list_others(ig_library *library, cpu_compiled *compiled) {
    const igi_air_container *container = &compiled->container;
    igi_msl_reflection *reflection = &library->reflection;
    ig_function_kind kind;
    size_t count = 0;
    for (size_t i = 0; i < container->count; i++) count += kind_of_other(&container->functions[i], &kind);
    reflection->others = igi_calloc(count, sizeof *reflection->others);
    reflection->other_capacity = count;
    compiled->others = igi_calloc(count, sizeof *compiled->others);
    compiled->were_read = igi_calloc(count, sizeof *compiled->were_read);
    bool ok = reflection->others && compiled->others && compiled->were_read;
    for (size_t i = 0; ok && i < container->count; i++) {
        const igi_air_function *function = &container->functions[i];
        if (!kind_of_other(function, &kind)) continue;
        igi_msl_kernel *other = &reflection->others[reflection->other_count++];
        compiled->others[compiled->other_count++] = function;
        *other = (igi_msl_kernel){{.name = igi_strdup(function->name), .kind = kind}, igi_strdup("")};
        ok = other->info.name && other->symbol && add_constants(reflection, function);
    }
    return ok;
}

static size_t count_visible(const igi_air_container *container) {
    size_t count = 0;
    for (size_t i = 0; i < container->count; i++) count += container->functions[i].kind == IGI_AIR_VISIBLE;
    return count;
}

// Their symbols are known once they are translated.
static bool list_visible(ig_library *library, cpu_compiled *compiled) {
    const igi_air_container *container = &compiled->container;
    igi_msl_reflection *reflection = &library->reflection;
    size_t count = count_visible(container);
    reflection->functions = igi_calloc(count, sizeof *reflection->functions);
    reflection->function_capacity = count;
    compiled->visible = igi_calloc(count, sizeof *compiled->visible);
    compiled->visible_parts = igi_calloc(count, sizeof *compiled->visible_parts);
    bool ok = reflection->functions && compiled->visible && compiled->visible_parts;
    for (size_t i = 0; ok && i < container->count; i++) {
        const igi_air_function *function = &container->functions[i];
        if (function->kind != IGI_AIR_VISIBLE) continue;
        igi_msl_function *listed = &reflection->functions[reflection->function_count++];
        *listed = (igi_msl_function){igi_strdup(function->name), igi_strdup("")};
        compiled->visible[compiled->visible_count++] = function;
        ok = listed->name && listed->symbol && add_constants(reflection, function);
    }
    return ok;
}

static bool list_kernels(ig_library *library, cpu_compiled *compiled) {
    const igi_air_container *container = &compiled->container;
    igi_msl_reflection *reflection = &library->reflection;
    reflection->kernels = igi_calloc(container->count, sizeof *reflection->kernels);
    reflection->kernel_capacity = container->count;
    compiled->functions = igi_calloc(container->count, sizeof *compiled->functions);
    compiled->parts = igi_calloc(container->count, sizeof *compiled->parts);
    library->log = igi_strdup("");
    bool ok = reflection->kernels && compiled->functions && compiled->parts && library->log;
    for (size_t i = 0; ok && i < container->count; i++)
        if (container->functions[i].kind == IGI_AIR_KERNEL)
            ok = add_kernel(library, compiled, &container->functions[i]);
    return ok && list_visible(library, compiled) && list_others(library, compiled);
}

static ig_status open_container(const ig_library_desc *desc, igi_air_container *container, ig_error *error) {
    const char *name = desc->name ? desc->name : "the library";
    return desc->path ? igi_air_open_file(desc->path, container, error)
                      : igi_air_open_copy(desc->data, desc->data_length, name, container, error);
}

static void clear_contents(ig_library *library) {
    igi_msl_reflection_free(&library->reflection);
    library->reflection = (igi_msl_reflection){0};
    free(library->log);
    library->log = NULL;
}

ig_status igi_cpu_compiled_open(ig_library *library, const ig_library_desc *desc, ig_error *error) {
    cpu_device *cpu = igi_cpu(library->device);
    cpu_module *module = igi_calloc(1, sizeof *module);
    cpu_compiled *compiled = igi_calloc(1, sizeof *compiled);
    if (!module || !compiled) {
        free(module), free(compiled);
        return igi_error_no_memory(error);
    }
    pthread_mutex_init(&compiled->lock, NULL);
    *module = (cpu_module){.references = 1, .compiled = compiled};
    compiled->timeout_ns = desc->timeout_ns;
    ig_status status = open_container(desc, &compiled->container, error);
    if (status == IG_STATUS_OK && !list_kernels(library, compiled)) status = igi_error_no_memory(error);
    if (status == IG_STATUS_OK) {
        igi_codegen_start(cpu->codegen);  // the library's kernels come next
        library->state = module;
    } else {
        clear_contents(library);
        igi_cpu_module_release(cpu, module);
    }
    return status;
}

// ---- One kernel ----

// What a translation depends on. The name is in it: messages and code carry it.
static igi_hash translation_key(const igi_air_function *function) {
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add_string(hasher, "AIR");
    igi_hasher_add_string(hasher, function->name);
    igi_hasher_add(hasher, function->bitcode, function->bitcode_length);
    igi_hasher_add(hasher, igi_air_runtime, igi_air_runtime_length);
    igi_hasher_add_string(hasher, IGI_COMPILER_IDENTITY);
    return igi_hasher_finish(hasher);
}

static bool read_cached(ig_device *device, igi_hash key, igi_air_translated *translated) {
    char *bytes = NULL;
    size_t length = 0;
    if (!igi_disk_cache_get(igi_cpu(device)->cache, key, &bytes, &length)) return false;
    bool ok = igi_air_translated_read(bytes, length, translated);
    free(bytes);
    if (ok) atomic_fetch_add(&device->disk_hits, 1);
    return ok;
}

static ig_status translate(ig_device *device, const cpu_compiled *compiled, const igi_air_function *function,
                           igi_hash key, igi_air_translated *translated, ig_error *error) {
    cpu_device *cpu = igi_cpu(device);
    if (read_cached(device, key, translated)) return IG_STATUS_OK;
    const igi_simt_request request = {
        .bitcode = function->bitcode, .bitcode_length = function->bitcode_length, .symbol = "", .name = function->name};
    char *bytes = NULL;
    size_t length = 0;
    ig_status status =
        igi_codegen_compile(cpu->codegen, &request, IGI_STAGE_TRANSLATED, compiled->timeout_ns, &bytes, &length, error);
    if (status != IG_STATUS_OK) return status;
    if (!igi_air_translated_read(bytes, length, translated))
        status =
            igi_error_set(error, IG_STATUS_BAD_FORMAT, "the translation of kernel '%.200s' is damaged", function->name);
    else
        igi_disk_cache_put(cpu->cache, key, bytes, length);
    free(bytes);
    return status;
}

// Takes over what was translated, but its reflection. NULL when memory is short.
static cpu_module *make_part(const cpu_compiled *compiled, igi_hash key, igi_air_translated *translated) {
    cpu_module *part = igi_calloc(1, sizeof *part);
    if (!part) return NULL;
    *part = (cpu_module){.references = 1,
                         .key = key,
                         .bitcode = translated->library.bitcode,
                         .bitcode_length = translated->library.bitcode_length,
                         .log = translated->library.log,
                         .math_mode = translated->flushes_denormals ? IG_MATH_FAST : IG_MATH_SAFE,
                         .flushes_denormals = translated->flushes_denormals,
                         .timeout_ns = compiled->timeout_ns};
    translated->library.bitcode = translated->library.log = NULL;
    return part;
}

// What was translated keeps nothing of these.
static void take_description(igi_msl_kernel *kernel, igi_msl_kernel *from) {
    char *symbol = kernel->symbol;
    const char *name = kernel->info.name;
    ig_function_kind kind = kernel->info.kind;
    kernel->symbol = from->symbol;
    kernel->info = from->info;
    kernel->info.name = name;
    kernel->info.kind = kind;
    from->symbol = symbol;
    from->info.arguments = NULL;
    from->info.argument_count = 0;
}

static bool is_prepared(cpu_compiled *compiled, cpu_module *const *part) {
    pthread_mutex_lock(&compiled->lock);
    bool done = *part != NULL;
    pthread_mutex_unlock(&compiled->lock);
    return done;
}

ig_status igi_cpu_kernel_prepare(ig_library *library, igi_msl_kernel *kernel, ig_error *error) {
    cpu_compiled *compiled = ((cpu_module *)library->state)->compiled;
    size_t index = (size_t)(kernel - library->reflection.kernels);
    if (!compiled || is_prepared(compiled, &compiled->parts[index])) return IG_STATUS_OK;
    const igi_air_function *function = compiled->functions[index];
    igi_hash key = translation_key(function);
    igi_air_translated translated;
    ig_status status = translate(library->device, compiled, function, key, &translated, error);
    if (status != IG_STATUS_OK) return status;
    if (!translated.library.reflection.kernel_count) {
        igi_air_translated_free(&translated);
        return igi_error_set(error, IG_STATUS_BAD_FORMAT, "the bitcode of kernel '%.200s' has no kernel",
                             function->name);
    }
    cpu_module *part = make_part(compiled, key, &translated);
    pthread_mutex_lock(&compiled->lock);
    bool first = part && !compiled->parts[index];  // another thread may have been faster
    if (first) {
        take_description(kernel, &translated.library.reflection.kernels[0]);
        compiled->parts[index] = part;
    }
    pthread_mutex_unlock(&compiled->lock);
    if (part && !first) igi_cpu_module_release(igi_cpu(library->device), part);
    igi_air_translated_free(&translated);
    return part ? IG_STATUS_OK : igi_error_no_memory(error);
}

// A message of a translation names a kernel; here it is a function.
static ig_status translate_visible(ig_library *library, cpu_compiled *compiled, size_t index, ig_error *error) {
    const igi_air_function *function = compiled->visible[index];
    igi_hash key = translation_key(function);
    igi_air_translated translated;
    ig_status status = translate(library->device, compiled, function, key, &translated, error);
    if (status != IG_STATUS_OK) return status;
    const igi_msl_reflection *found = &translated.library.reflection;
    cpu_module *part = found->function_count == 1 ? make_part(compiled, key, &translated) : NULL;
    pthread_mutex_lock(&compiled->lock);
    bool first = part && !compiled->visible_parts[index];
    if (first) {
        char **to = &library->reflection.functions[index].symbol, **from = &found->functions[0].symbol, *symbol = *to;
        *to = *from, *from = symbol;
        compiled->visible_parts[index] = part;
    }
    pthread_mutex_unlock(&compiled->lock);
    if (part && !first) igi_cpu_module_release(igi_cpu(library->device), part);
    igi_air_translated_free(&translated);
    if (part) return IG_STATUS_OK;
    return igi_error_set(error, IG_STATUS_BAD_FORMAT, "the bitcode of function '%.200s' has no visible function",
                         function->name);
}

ig_status igi_cpu_functions_prepare(const ig_pipeline *pipeline, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < pipeline->function_count && status == IG_STATUS_OK; i++) {
        ig_library *library = pipeline->libraries[i];
        cpu_compiled *compiled = ((cpu_module *)library->state)->compiled;
        size_t index = (size_t)(pipeline->functions[i] - library->reflection.functions);
        if (compiled && !is_prepared(compiled, &compiled->visible_parts[index]))
            status = translate_visible(library, compiled, index, error);
    }
    return status;
}

cpu_module *igi_cpu_compiled_function(const struct cpu_compiled *compiled, size_t index) {
    return compiled->visible_parts[index];
}

ig_status igi_cpu_compiled_print(ig_library *library, const char *kernel, char **text) {
    const cpu_compiled *compiled = ((cpu_module *)library->state)->compiled;
    for (size_t i = 0; compiled && i < compiled->count; i++) {
        const igi_air_function *function = compiled->functions[i];
        if (strcmp(function->name, kernel) != 0) continue;
        const igi_simt_request request = {.bitcode = function->bitcode,
                                          .bitcode_length = function->bitcode_length,
                                          .symbol = "",
                                          .name = function->name};
        size_t length;
        return igi_codegen_compile(igi_cpu(library->device)->codegen, &request, IGI_STAGE_AIR, compiled->timeout_ns,
                                   text, &length, NULL);
    }
    return IG_STATUS_UNSUPPORTED;
}

// A function that draws or traces rays: one that cannot be read has no arguments.
static void reflect_other(ig_library *library, igi_msl_kernel *other) {
    cpu_compiled *compiled = ((cpu_module *)library->state)->compiled;
    size_t index = (size_t)(other - library->reflection.others);
    if (!compiled) return;
    const igi_air_function *function = compiled->others[index];
    pthread_mutex_lock(&compiled->lock);
    bool known = compiled->were_read[index];
    pthread_mutex_unlock(&compiled->lock);
    igi_air_translated translated;
    if (known ||
        translate(library->device, compiled, function, translation_key(function), &translated, NULL) != IG_STATUS_OK)
        return;
    pthread_mutex_lock(&compiled->lock);
    if (!compiled->were_read[index] && translated.library.reflection.other_count)
        take_description(other, &translated.library.reflection.others[0]);
    compiled->were_read[index] = true;
    pthread_mutex_unlock(&compiled->lock);
    igi_air_translated_free(&translated);
}

void igi_cpu_kernel_reflect(ig_library *library, igi_msl_kernel *kernel) {
    if (kernel->info.kind == IG_FUNCTION_KERNEL)
        igi_cpu_kernel_prepare(library, kernel, NULL);
    else
        reflect_other(library, kernel);
}

cpu_module *igi_cpu_module_of(const ig_library *library, const igi_msl_kernel *kernel) {
    cpu_module *module = library->state;
    size_t index = (size_t)(kernel - library->reflection.kernels);
    if (module->units) return igi_cpu_unit_of_kernel(module->units, index);
    return module->compiled ? module->compiled->parts[index] : module;
}
