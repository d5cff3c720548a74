// SPDX-License-Identifier: Apache-2.0
// ingot run: matching the given arguments with those of the kernel.
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "msl/element-type.h"
#include "run.h"

static const ig_argument *find_reflection(const ig_kernel_info *kernel, ig_argument_kind kind, uint32_t index) {
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        if (argument->kind == kind && argument->index == index) return argument;
    }
    return NULL;
}

static int no_such_argument(const ig_kernel_info *kernel, ig_argument_kind kind, uint32_t index) {
    static const char *const names[] = {[IG_ARGUMENT_BUFFER] = "buffer",
                                        [IG_ARGUMENT_THREADGROUP] = "threadgroup",
                                        [IG_ARGUMENT_TEXTURE] = "texture",
                                        [IG_ARGUMENT_SAMPLER] = "sampler",
                                        [IG_ARGUMENT_FUNCTION_TABLE] = "function table"};
    const char *what = names[kind];
    igi_text known = {0};
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        if (argument->kind == kind)
            igi_text_addf(&known, "%s%u (%s)", known.length ? ", " : "", argument->index, argument->name);
    }
    char *list = igi_text_take(&known);
    int result = cli_error(CLI_BAD_INPUT, "kernel '%s' has no %s argument %u; it has %s", kernel->name, what, index,
                           list && *list ? list : "none");
    free(list);
    return result;
}

// The type that a user would write for the kernel's; a structure can be given with any type.
static const char *type_for(const char *type) {
    ig_type element;
    return igi_msl_element_type(type, &element) ? ig_type_name(element) : "u8";
}

static int missing_argument(const ig_kernel_info *kernel, const ig_argument *argument) {
    char declared[CLI_TYPE_TEXT];
    cli_argument_type(argument, declared);
    if (argument->kind == IG_ARGUMENT_TEXTURE)
        return cli_error(CLI_BAD_INPUT,
                         "kernel '%s' needs texture %u '%s' (%s): add --arg %u=texture:FILE.png or --arg "
                         "%u=texture:rgba8_unorm[HEIGHT,WIDTH]",
                         kernel->name, argument->index, argument->name, declared, argument->index, argument->index);
    if (argument->kind == IG_ARGUMENT_SAMPLER)
        return cli_error(CLI_BAD_INPUT, "kernel '%s' needs sampler %u '%s': add --arg %u=sampler:linear", kernel->name,
                         argument->index, argument->name, argument->index);
    if (argument->kind == IG_ARGUMENT_FUNCTION_TABLE)
        return cli_error(CLI_BAD_INPUT,
                         "kernel '%s' needs function table %u '%s' (%s): add --arg %u=functions:NAME,NAME",
                         kernel->name, argument->index, argument->name, declared, argument->index);
    if (argument->kind == IG_ARGUMENT_THREADGROUP)
        return cli_error(CLI_BAD_INPUT, "kernel '%s' needs threadgroup memory %u '%s' (%s): add --threadgroup %u=BYTES",
                         kernel->name, argument->index, argument->name, declared, argument->index);
    bool single = strchr(argument->type, '&') != NULL;
    return cli_error(CLI_BAD_INPUT, "kernel '%s' needs argument %u '%s' (%s): add --arg %u=%s%s or --arg %u=FILE.npy",
                     kernel->name, argument->index, argument->name, declared, argument->index, type_for(argument->type),
                     single ? ":VALUE" : "[COUNT]", argument->index);
}

static bool has_threadgroup_memory(const run_job *job, uint32_t index) {
    for (size_t i = 0; i < job->threadgroup.count; i++)
        if (job->threadgroup.items[i].index == index) return true;
    return false;
}

static int check_all_given(run_job *job, const ig_kernel_info *kernel) {
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        // A condition that is still there is computed from function constants: only the kernel knows it.
        bool given =
            argument->kind == IG_ARGUMENT_BUILTIN || argument->kind == IG_ARGUMENT_STAGE_INPUT || *argument->condition;
        if (argument->kind == IG_ARGUMENT_BUFFER) given |= run_find_argument(job, argument->index) != NULL;
        if (argument->kind == IG_ARGUMENT_THREADGROUP) given |= has_threadgroup_memory(job, argument->index);
        if (argument->kind == IG_ARGUMENT_TEXTURE || argument->kind == IG_ARGUMENT_SAMPLER ||
            argument->kind == IG_ARGUMENT_FUNCTION_TABLE)
            given |= run_find_object(job, argument->kind, argument->index) != NULL;
        if (!given) return missing_argument(kernel, argument);
    }
    return CLI_CONTINUE;
}

static int check_all_known(run_job *job, const ig_kernel_info *kernel) {
    for (size_t i = 0; i < job->argument_count; i++) {
        run_argument *argument = &job->arguments[i];
        argument->reflection = find_reflection(kernel, IG_ARGUMENT_BUFFER, argument->index);
        if (!argument->reflection) return no_such_argument(kernel, IG_ARGUMENT_BUFFER, argument->index);
    }
    for (size_t i = 0; i < job->object_count; i++) {
        run_object *object = &job->objects[i];
        object->reflection = find_reflection(kernel, object->kind, object->index);
        if (!object->reflection) return no_such_argument(kernel, object->kind, object->index);
    }
    for (size_t i = 0; i < job->threadgroup.count; i++) {
        uint32_t index = job->threadgroup.items[i].index;
        if (!find_reflection(kernel, IG_ARGUMENT_THREADGROUP, index))
            return no_such_argument(kernel, IG_ARGUMENT_THREADGROUP, index);
    }
    return CLI_CONTINUE;
}

int run_bind_arguments(run_job *job) {
    const ig_kernel_info *kernel = ig_pipeline_kernel(job->pipeline);
    int result = check_all_known(job, kernel);
    if (result == CLI_CONTINUE) result = check_all_given(job, kernel);
    ig_error error = {0};
    for (size_t i = 0; i < job->argument_count && result == CLI_CONTINUE; i++) {
        ig_status status = cli_spec_load(&job->arguments[i].spec, &error);
        if (status != IG_STATUS_OK) result = cli_report_and_clear(status, &error);
        if (result == CLI_CONTINUE) result = run_check_type(&job->arguments[i]);
    }
    return result;
}

int run_create_buffers(run_job *job) {
    for (size_t i = 0; i < job->argument_count; i++) {
        run_argument *argument = &job->arguments[i];
        if (argument->spec.is_constant) continue;
        ig_buffer_desc desc = {.length = argument->spec.bytes, .label = argument->reflection->name};
        ig_status status = ig_buffer_create(job->device, &desc, &argument->buffer);
        if (status != IG_STATUS_OK)
            return cli_error(cli_exit_code(status), "argument %u '%s' of %llu bytes: %s", argument->index,
                             argument->reflection->name, (unsigned long long)argument->spec.bytes,
                             ig_status_text(status));
        if (argument->spec.fill != CLI_FILL_ZEROS) cli_spec_fill(&argument->spec, ig_buffer_contents(argument->buffer));
    }
    return run_create_objects(job);
}

void run_refill_buffers(run_job *job) {
    for (size_t i = 0; i < job->argument_count; i++) {
        run_argument *argument = &job->arguments[i];
        if (argument->buffer && argument->reflection->access == IG_ACCESS_READ_WRITE)
            cli_spec_fill(&argument->spec, ig_buffer_contents(argument->buffer));
    }
    run_refill_textures(job);
}
