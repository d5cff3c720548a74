// SPDX-License-Identifier: Apache-2.0
// Pipelines: a kernel with its function constants, and how large its threadgroups should be.
#include <string.h>

#include "device/backend.h"
#include "device/stage-input.h"

// ---- Checking ----

static ig_status no_such_kernel(const ig_library *library, const char *name, ig_error *error) {
    igi_text names = {0};
    size_t count = library->reflection.kernel_count;
    for (size_t i = 0; i < count && i < 20; i++)
        igi_text_addf(&names, "%s%s", i ? ", " : "", library->reflection.kernels[i].info.name);
    if (count > 20) igi_text_addf(&names, " and %zu more", count - 20);
    igi_error_set(error, IG_STATUS_NOT_FOUND, "the library has no kernel '%s'; it has %s", name,
                  count && names.data ? names.data : "none");
    igi_text_free(&names);
    return IG_STATUS_NOT_FOUND;
}

// The name may be that of a function that is not for compute pipelines.
static ig_status cannot_be_made_of(const ig_library *library, const char *name, ig_error *error) {
    const igi_msl_kernel *other = igi_msl_reflection_find_other(&library->reflection, name);
    if (!other && igi_msl_reflection_find_function(&library->reflection, name))
        return igi_error_set(error, IG_STATUS_UNSUPPORTED,
                             "'%.200s' is a visible function, not a kernel: a pipeline can link it", name);
    if (!other) return no_such_kernel(library, name, error);
    return igi_error_set(error, IG_STATUS_UNSUPPORTED,
                         "Ingot does not run %s functions, and '%.200s' is one: pipelines are made of kernels",
                         ig_function_kind_name(other->info.kind), name);
}

static bool has_type_of(const ig_function_constant_info *info, const ig_function_constant *given) {
    return info->type == given->type && info->components == (given->components ? given->components : 1);
}

// Several may share a number, for different kernels: the first of the right type, or else the first.
static const ig_function_constant_info *find_constant(const ig_library *library, const ig_function_constant *given) {
    const ig_function_constant_info *first = NULL;
    for (size_t i = 0; i < library->reflection.constant_count; i++) {
        const ig_function_constant_info *info = &library->reflection.constants[i];
        if (given->name ? strcmp(info->name, given->name) != 0 : info->id != given->id) continue;
        if (has_type_of(info, given)) return info;
        if (!first) first = info;
    }
    return first;
}

// Constants that the library does not have are not an error: hosts use one set of values for many kernels.
static ig_status check_constants(const ig_library *library, const ig_pipeline_desc *desc, ig_error *error) {
    for (size_t i = 0; i < desc->constant_count; i++) {
        const ig_function_constant *given = &desc->constants[i];
        if (!given->value || (unsigned)given->type >= IG_TYPE_COUNT)
            return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "function constant %zu has no value or type", i);
        const ig_function_constant_info *info = find_constant(library, given);
        if (!info) continue;
        if (!has_type_of(info, given))
            return igi_error_set(error, IG_STATUS_WRONG_CONSTANT,
                                 "function constant '%s' (%u) is %s x %u in the source, but %s x %u was given",
                                 info->name, info->id, ig_type_name(info->type), info->components,
                                 ig_type_name(given->type), given->components ? given->components : 1);
    }
    return IG_STATUS_OK;
}

// ---- Linked functions ----

static ig_status no_such_function(const ig_library *library, const char *name, ig_error *error) {
    igi_text names = {0};
    size_t count = library->reflection.function_count;
    for (size_t i = 0; i < count && i < 20; i++)
        igi_text_addf(&names, "%s%s", i ? ", " : "", library->reflection.functions[i].name);
    igi_error_set(error, IG_STATUS_NOT_FOUND, "the library has no [[visible]] function '%s'; it has %s", name,
                  count && names.data ? names.data : "none");
    igi_text_free(&names);
    return IG_STATUS_NOT_FOUND;
}

static ig_status add_linked(ig_pipeline *made, const ig_linked_function *linked, ig_error *error) {
    ig_library *library = linked->library ? linked->library : made->library;
    if (!linked->name) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "a linked function has no name");
    if (library->device != made->library->device)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                             "linked function '%.100s' belongs to another device than the kernel", linked->name);
    const igi_msl_function *function = igi_msl_reflection_find_function(&library->reflection, linked->name);
    const igi_msl_kernel *other = igi_msl_reflection_find_other(&library->reflection, linked->name);
    if (other)
        return igi_error_set(error, IG_STATUS_UNSUPPORTED,
                             "Ingot does not run %s functions, and '%.200s' is one: pipelines link visible functions",
                             ig_function_kind_name(other->info.kind), linked->name);
    if (!function) return no_such_function(library, linked->name, error);
    made->functions[made->function_count] = function;
    made->libraries[made->function_count++] = ig_library_retain(library);
    return IG_STATUS_OK;
}

static bool is_linked(const ig_pipeline *made, const char *name) {
    for (size_t i = 0; i < made->function_count; i++)
        if (strcmp(made->functions[i]->name, name) == 0) return true;
    return igi_msl_reflection_find_function(&made->library->reflection, name) != NULL;
}

// What the kernel's library was given to call. Its own functions, and those that are listed, come first.
static void add_functions_of(ig_pipeline *made, ig_library *other) {
    for (size_t i = 0; i < other->reflection.function_count; i++) {
        const igi_msl_function *function = &other->reflection.functions[i];
        if (is_linked(made, function->name)) continue;
        made->functions[made->function_count] = function;
        made->libraries[made->function_count++] = ig_library_retain(other);
    }
}

static ig_status link_functions(ig_pipeline *made, const ig_pipeline_desc *desc, ig_error *error) {
    const ig_library *library = made->library;
    size_t count = desc->linked_function_count;
    for (size_t i = 0; i < library->linked_count; i++) count += library->linked[i]->reflection.function_count;
    if (!count) return IG_STATUS_OK;
    const igi_device_backend *backend = made->library->device->backend;
    if (!backend->links_functions)
        return igi_error_set(error, IG_STATUS_UNSUPPORTED, "device '%s' does not link functions", backend->name);
    made->functions = igi_calloc(count, sizeof *made->functions);
    made->libraries = igi_calloc(count, sizeof *made->libraries);
    ig_status status = made->functions && made->libraries ? IG_STATUS_OK : igi_error_no_memory(error);
    for (size_t i = 0; i < desc->linked_function_count && status == IG_STATUS_OK; i++)
        status = add_linked(made, &desc->linked_functions[i], error);
    for (size_t i = 0; i < library->linked_count && status == IG_STATUS_OK; i++)
        add_functions_of(made, library->linked[i]);
    return status;
}

static void free_pipeline(ig_pipeline *pipeline) {
    for (size_t i = 0; i < pipeline->function_count; i++) ig_library_release(pipeline->libraries[i]);
    free(pipeline->libraries), free((void *)pipeline->functions);
    free(pipeline->label), free((void *)pipeline->kernel.arguments), free(pipeline->stage), free(pipeline);
}

// ---- Arguments of this specialisation ----

static bool is_zero(const ig_function_constant *constant) {
    const unsigned char *bytes = constant->value;
    for (uint32_t i = 0; i < ig_type_size(constant->type); i++)
        if (bytes[i]) return false;
    return true;
}

// Whether a value is given for the constant of that name, which may share its number with others.
static bool means(const ig_library *library, const ig_function_constant *given, const char *name) {
    if (given->name) return strcmp(given->name, name) == 0;
    for (size_t i = 0; i < library->reflection.constant_count; i++) {
        const ig_function_constant_info *info = &library->reflection.constants[i];
        if (info->id == given->id && has_type_of(info, given) && strcmp(info->name, name) == 0) return true;
    }
    return false;
}

// The value of the constant an argument depends on; NULL when it has none.
static const ig_function_constant *value_of(const ig_library *library, const ig_pipeline_desc *desc,
                                            const char *condition) {
    for (size_t i = 0; *condition && i < desc->constant_count; i++) {
        if (means(library, &desc->constants[i], condition)) return &desc->constants[i];
    }
    return NULL;
}

// An argument stays unless the constant it depends on is known to be false; if it is true, the condition is removed.
static bool specialise(ig_pipeline *pipeline, const ig_pipeline_desc *desc, const ig_kernel_info *kernel) {
    ig_argument *arguments = igi_calloc(kernel->argument_count, sizeof *arguments);
    if (!arguments) return false;
    pipeline->kernel = *kernel;
    pipeline->kernel.arguments = arguments;
    pipeline->kernel.argument_count = 0;
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const ig_function_constant *value = value_of(pipeline->library, desc, kernel->arguments[i].condition);
        if (value && is_zero(value)) continue;
        ig_argument *argument = &arguments[pipeline->kernel.argument_count++];
        *argument = kernel->arguments[i];
        if (value) argument->condition = "";
    }
    return true;
}

// ---- The calls ----

static ig_status open_on_backend(ig_pipeline *made, const ig_pipeline_desc *desc, const igi_msl_kernel *kernel,
                                 ig_error *error) {
    const ig_device *device = made->library->device;
    made->label = igi_strdup(desc->label ? desc->label : "");
    if (!made->label || !specialise(made, desc, &kernel->info)) return igi_error_no_memory(error);
    made->properties = (ig_pipeline_properties){
        .max_threads_per_threadgroup = device->properties.max_threads_per_threadgroup,
        .execution_width = device->properties.execution_width,
        .static_threadgroup_memory = kernel->info.static_threadgroup_memory,
    };
    uint32_t limit = kernel->info.max_total_threads;
    if (limit && limit < made->properties.max_threads_per_threadgroup)
        made->properties.max_threads_per_threadgroup = limit;
    return device->backend->pipeline_open(made, desc, kernel, error);
}

// A backend that compiles kernels itself gets the description of their attributes as function constants.
static ig_status open_with_stage(ig_pipeline *made, const ig_pipeline_desc *desc, const igi_msl_kernel *kernel,
                                 ig_error *error) {
    const igi_device_backend *backend = made->library->device->backend;
    ig_status status = igi_device_stage_open(desc, &kernel->info, backend->lowers_stage_inputs, &made->stage, error);
    if (status != IG_STATUS_OK) return status;
    ig_pipeline_desc with_stage = *desc;
    ig_function_constant *constants = NULL;
    if (made->stage && backend->lowers_stage_inputs) {
        constants = igi_device_stage_constants(made->stage, desc, &with_stage.constant_count);
        if (!constants) return igi_error_no_memory(error);
        with_stage.constants = constants;
    }
    status = open_on_backend(made, &with_stage, kernel, error);
    free(constants);
    if (status != IG_STATUS_OK || !made->stage || igi_device_stage_add_buffers(made)) return status;
    backend->pipeline_close(made);
    return igi_error_no_memory(error);
}

ig_status ig_pipeline_create(ig_library *library, const ig_pipeline_desc *desc, ig_pipeline **pipeline,
                             ig_error *error) {
    if (!library || !desc || !desc->kernel || !pipeline || (desc->constant_count && !desc->constants) ||
        (desc->linked_function_count && !desc->linked_functions))
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "library, kernel name and pipeline must not be NULL");
    if (igi_device_is_inherited(library->device)) return igi_device_error_forked(error);
    const igi_msl_kernel *kernel = igi_msl_reflection_find(&library->reflection, desc->kernel);
    if (!kernel) return cannot_be_made_of(library, desc->kernel, error);
    ig_status status = check_constants(library, desc, error);
    const igi_device_backend *backend = library->device->backend;
    if (status == IG_STATUS_OK && backend->kernel_prepare)
        status = backend->kernel_prepare(library, (igi_msl_kernel *)kernel, error);
    if (status != IG_STATUS_OK) return status;
    ig_pipeline *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    igi_ref_init(&made->references);
    made->library = library;
    status = link_functions(made, desc, error);
    if (status == IG_STATUS_OK) status = open_with_stage(made, desc, kernel, error);
    if (status != IG_STATUS_OK) {
        free_pipeline(made);
        return status;
    }
    ig_library_retain(library);
    *pipeline = made;
    return IG_STATUS_OK;
}

ig_pipeline *ig_pipeline_retain(ig_pipeline *pipeline) {
    if (pipeline) igi_ref_take(&pipeline->references);
    return pipeline;
}

void ig_pipeline_release(ig_pipeline *pipeline) {
    if (!pipeline || igi_device_is_inherited(pipeline->library->device) || !igi_ref_drop(&pipeline->references)) return;
    ig_library *library = pipeline->library;
    igi_device_forget_pipeline(pipeline);
    library->device->backend->pipeline_close(pipeline);
    free_pipeline(pipeline);
    ig_library_release(library);
}

void ig_pipeline_get_properties(const ig_pipeline *pipeline, ig_pipeline_properties *properties) {
    const igi_device_backend *backend = pipeline->library->device->backend;
    *properties = pipeline->properties;
    if (backend->pipeline_tier) properties->tier = backend->pipeline_tier(pipeline);
}

const ig_kernel_info *ig_pipeline_kernel(const ig_pipeline *pipeline) {
    return &pipeline->kernel;
}

ig_status ig_pipeline_emit(ig_pipeline *pipeline, const char *stage, char **text) {
    if (!pipeline || !stage || !text)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "pipeline_emit: pipeline, stage and text must not be NULL");
    if (igi_device_is_inherited(pipeline->library->device)) return igi_device_fail_forked();
    const igi_device_backend *backend = pipeline->library->device->backend;
    if (!backend->pipeline_emit)
        return igi_fail(IG_STATUS_UNSUPPORTED, "pipeline_emit: device '%s' does not show its code", backend->name);
    ig_status status = backend->pipeline_emit(pipeline, stage, text);
    if (status == IG_STATUS_INVALID_ARGUMENT)
        return igi_fail(status, "pipeline_emit: unknown stage '%.40s'; choose from air, llvm, simt and asm", stage);
    return status == IG_STATUS_OK ? status
                                  : igi_fail(status, "pipeline_emit: kernel '%s', stage '%.40s': %s",
                                             pipeline->kernel.name, stage, ig_status_text(status));
}

ig_status ig_pipeline_get_remarks(ig_pipeline *pipeline, ig_remark **remarks, size_t *count) {
    if (!pipeline || !remarks || !count)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "get_remarks: pipeline, remarks and count must not be NULL");
    if (igi_device_is_inherited(pipeline->library->device)) return igi_device_fail_forked();
    const igi_device_backend *backend = pipeline->library->device->backend;
    if (!backend->pipeline_remarks)
        return igi_fail(IG_STATUS_UNSUPPORTED, "get_remarks: device '%s' has no remarks", backend->name);
    ig_status status = backend->pipeline_remarks(pipeline, remarks, count);
    return status == IG_STATUS_OK
               ? status
               : igi_fail(status, "get_remarks: kernel '%s': %s", pipeline->kernel.name, ig_status_text(status));
}

const ig_argument *igi_device_pipeline_argument(const ig_pipeline *pipeline, ig_argument_kind kind, uint32_t index) {
    for (size_t i = 0; i < pipeline->kernel.argument_count; i++) {
        const ig_argument *argument = &pipeline->kernel.arguments[i];
        if (argument->kind == kind && argument->index == index) return argument;
    }
    return NULL;
}

// ---- Threadgroup size ----

static uint64_t power_of_two_at_least(uint64_t value) {
    uint64_t power = 1;
    while (power < value) power *= 2;
    return power;
}

// Powers of two, which tree reductions need: rows of whole simdgroups first, then as many rows as fit.
ig_size ig_pipeline_threadgroup_size(const ig_pipeline *pipeline, ig_size grid) {
    enum { PREFERRED = 256 };
    uint64_t limit = pipeline->properties.max_threads_per_threadgroup, width = pipeline->properties.execution_width;
    uint64_t budget = 1;
    while (budget * 2 <= (limit < PREFERRED ? limit : PREFERRED)) budget *= 2;
    bool flat = grid.y <= 1 && grid.z <= 1;
    uint64_t row = flat || width > budget ? budget : width;
    ig_size size = {1, 1, 1};
    size.x = grid.x < row ? power_of_two_at_least(grid.x ? grid.x : 1) : row;
    size.y = grid.y < budget / size.x ? power_of_two_at_least(grid.y ? grid.y : 1) : budget / size.x;
    uint64_t left = budget / size.x / size.y;
    size.z = grid.z < left ? power_of_two_at_least(grid.z ? grid.z : 1) : left;
    return size;
}
