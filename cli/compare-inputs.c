// SPDX-License-Identifier: Apache-2.0
// ingot compare: inputs that fit the arguments of both kernels.
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "console/output.h"
#include "core/memory.h"
#include "msl/element-type.h"

__attribute__((format(printf, 2, 3))) static bool refuse(char reason[COMPARE_REASON], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, COMPARE_REASON, format, arguments);
    va_end(arguments);
    return false;
}

// ---- One buffer ----

static bool is_reference(const ig_argument *argument) {
    return argument && strchr(argument->type, '&') != NULL;
}

static const ig_argument *either(const compare_argument *argument) {
    return argument->sides[0] ? argument->sides[0] : argument->sides[1];
}

// The side whose reflection knows the members of the structure, else any.
static const ig_argument *best(const compare_argument *argument) {
    for (int side = 0; side < 2; side++)
        if (argument->sides[side] && argument->sides[side]->layout) return argument->sides[side];
    return either(argument);
}

static bool sizes_agree(const compare_argument *argument, char reason[COMPARE_REASON]) {
    const ig_argument *a = argument->sides[0], *b = argument->sides[1];
    if (!is_reference(a) || !is_reference(b) || a->min_bytes == b->min_bytes) return true;
    return refuse(reason, "argument %u '%s' has %u bytes in the first library and %u in the second", argument->index,
                  a->name, a->min_bytes, b->min_bytes);
}

static uint64_t bytes_for(const compare_job *job, const compare_argument *argument) {
    uint64_t least = 1;
    bool single = true;
    for (int side = 0; side < 2; side++) {
        if (!argument->sides[side]) continue;
        if (argument->sides[side]->min_bytes > least) least = argument->sides[side]->min_bytes;
        single = single && is_reference(argument->sides[side]);
    }
    return single || least > job->size ? least : job->size;
}

static bool fill_from_spec(const char *text, compare_argument *argument, char reason[COMPARE_REASON]) {
    cli_spec spec = {0};
    ig_error error = {0};
    igi_skip(&text, "raw:");
    ig_status status = cli_spec_parse(text, &spec, &error);
    if (status == IG_STATUS_OK) status = cli_spec_load(&spec, &error);
    if (status == IG_STATUS_OK) {
        argument->bytes = spec.bytes;
        argument->contents = cli_alloc(spec.bytes);
        if (!argument->typed) argument->type = spec.type;
        argument->typed = true;
        cli_spec_fill(&spec, argument->contents);
    } else {
        refuse(reason, "argument %u: %s", argument->index, error.message ? error.message : ig_status_text(status));
    }
    cli_spec_free(&spec);
    ig_error_clear(&error);
    return status == IG_STATUS_OK;
}

// Neither a number nor described: as 64-bit numbers parameters are small, whatever the members are.
static void fill_unknown(compare_role role, uint64_t seed, compare_argument *argument) {
    ig_type type = role == COMPARE_PARAMETER ? IG_TYPE_U64 : IG_TYPE_F32;
    memset(argument->contents, 0, argument->bytes);
    compare_fill(type, role, seed, argument->contents, argument->bytes / ig_type_size(type));
}

static bool fill(const compare_job *job, const compare_plan *plan, compare_argument *argument,
                 char reason[COMPARE_REASON]) {
    const ig_argument *known = best(argument);
    bool parameter = strcmp(known->address_space, "constant") == 0;
    compare_role role = parameter ? COMPARE_PARAMETER : COMPARE_DATA;
    uint64_t seed = compare_mix(job->seed, argument->index);
    argument->typed = igi_msl_element_type(known->type, &argument->type);
    const char *spec = compare_find_index(&plan->arguments, argument->index);
    if (spec) return fill_from_spec(spec, argument, reason);
    argument->bytes = bytes_for(job, argument);
    argument->contents = cli_alloc(argument->bytes);
    memset(argument->contents, 0, argument->bytes);
    if (known->layout) return compare_fill_structures(plan, known, role, seed, argument, reason);
    const char *values = compare_find(&plan->values, known->name);
    if (!argument->typed) {
        fill_unknown(role, seed, argument);
        return true;
    }
    uint64_t count = argument->bytes / ig_type_size(argument->type);
    if (!values) compare_fill(argument->type, role, seed, argument->contents, count);
    return !values || compare_fill_values(argument->type, values, argument->contents, count) ||
           refuse(reason, "the rules' value for '%s' is not of type '%s'", known->name, known->type);
}

// Without a type, the largest that divides the length.
static void choose_type(compare_argument *argument) {
    if (argument->typed) return;
    argument->type = argument->bytes % 4 ? IG_TYPE_U8 : IG_TYPE_U32;
    argument->typed = true;
}

static compare_argument *find(compare_inputs *inputs, uint32_t index) {
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->arguments[i].index == index) return &inputs->arguments[i];
    if (inputs->count == COMPARE_MAX_ARGUMENTS) return NULL;
    compare_argument *made = &inputs->arguments[inputs->count++];
    *made = (compare_argument){.index = index};
    return made;
}

// ---- All arguments ----

static bool add_threadgroup(const compare_plan *plan, uint32_t index, compare_inputs *inputs) {
    for (size_t i = 0; i < inputs->threadgroup_count; i++)
        if (inputs->threadgroup[i].index == index) return true;
    if (inputs->threadgroup_count == COMPARE_MAX_ARGUMENTS) return false;
    const char *given = compare_find_index(&plan->threadgroup, index);
    uint64_t bytes = 0;
    if (given) cli_parse_u64(given, strlen(given), &bytes);
    inputs->threadgroup[inputs->threadgroup_count].index = index;
    inputs->threadgroup[inputs->threadgroup_count++].bytes = bytes;
    return true;
}

static bool add(const compare_job *job, const compare_plan *plan, const ig_argument *argument, int side,
                compare_inputs *inputs, char reason[COMPARE_REASON]) {
    switch (argument->kind) {
        case IG_ARGUMENT_BUILTIN: return true;
        case IG_ARGUMENT_THREADGROUP: return add_threadgroup(plan, argument->index, inputs);
        case IG_ARGUMENT_TEXTURE:
        case IG_ARGUMENT_SAMPLER: return compare_objects_add(job, argument, inputs, reason);
        case IG_ARGUMENT_FUNCTION_TABLE: return refuse(reason, "argument '%s' is a function table", argument->name);
        case IG_ARGUMENT_STAGE_INPUT: return refuse(reason, "it has [[stage_in]]");
        case IG_ARGUMENT_ACCELERATION_STRUCTURE:
        case IG_ARGUMENT_BUFFER: break;
    }
    compare_argument *buffer = find(inputs, argument->index);
    if (!buffer) return refuse(reason, "it has too many arguments");
    buffer->sides[side] = argument;
    buffer->written |= argument->access == IG_ACCESS_WRITE || argument->access == IG_ACCESS_READ_WRITE;
    return true;
}

static bool collect(const compare_job *job, const compare_plan *plan, const ig_kernel_info *kernel, int side,
                    compare_inputs *inputs, char reason[COMPARE_REASON]) {
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (!add(job, plan, &kernel->arguments[i], side, inputs, reason)) return false;
    return true;
}

// Threadgroup memory that no rule gives is an equal share of what is left.
static void share_threadgroup(ig_pipeline *const pipelines[2], compare_inputs *inputs) {
    enum { ALL = 32768, MOST = 8192, UNIT = 16 };
    uint64_t used = 0, open = 0;
    for (int side = 0; side < 2; side++) {
        ig_pipeline_properties properties;
        ig_pipeline_get_properties(pipelines[side], &properties);
        if (properties.static_threadgroup_memory > used) used = properties.static_threadgroup_memory;
    }
    for (size_t i = 0; i < inputs->threadgroup_count; i++)
        inputs->threadgroup[i].bytes ? (used += inputs->threadgroup[i].bytes) : open++;
    uint64_t share = open && used < ALL ? (ALL - used) / open / UNIT * UNIT : UNIT;
    for (size_t i = 0; i < inputs->threadgroup_count; i++)
        if (!inputs->threadgroup[i].bytes) inputs->threadgroup[i].bytes = share < MOST ? share : MOST;
}

// How many dimensions the kernel asks for: "uint", "ushort2", "uint3".
static unsigned dimensions(const ig_kernel_info *kernel) {
    unsigned most = 1;
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        size_t length = strlen(argument->type);
        if (argument->kind != IG_ARGUMENT_BUILTIN || !length || !strstr(argument->attribute, "position")) continue;
        unsigned here = argument->type[length - 1] == '3' ? 3 : argument->type[length - 1] == '2' ? 2 : 1;
        if (here > most) most = here;
    }
    return most;
}

static void choose_geometry(const compare_plan *plan, ig_pipeline *const pipelines[2], compare_inputs *inputs) {
    enum { USUAL_GROUP = 64 };
    uint64_t group = USUAL_GROUP;
    for (int side = 0; side < 2; side++) {
        ig_pipeline_properties properties;
        ig_pipeline_get_properties(pipelines[side], &properties);
        uint32_t stated = ig_pipeline_kernel(pipelines[side])->max_total_threads;
        if (stated) group = stated;
        if (properties.max_threads_per_threadgroup < group) group = properties.max_threads_per_threadgroup;
    }
    inputs->group = plan->group.x ? plan->group : (ig_size){group, 1, 1};
    inputs->grid = plan->grid;
    inputs->groups = plan->groups;
    static const ig_size usual[] = {{4, 1, 1}, {2, 2, 1}, {2, 2, 2}};
    unsigned most = dimensions(ig_pipeline_kernel(pipelines[0]));
    if (!plan->grid.x && !plan->groups.x) inputs->groups = usual[most - 1];
}

bool compare_inputs_make(const compare_job *job, const compare_plan *plan, ig_pipeline *const pipelines[2],
                         compare_inputs *inputs, char reason[COMPARE_REASON]) {
    for (int side = 0; side < 2; side++)
        if (!collect(job, plan, ig_pipeline_kernel(pipelines[side]), side, inputs, reason)) return false;
    bool written = false;
    for (size_t i = 0; i < inputs->count; i++) {
        compare_argument *argument = &inputs->arguments[i];
        if (!sizes_agree(argument, reason) || !fill(job, plan, argument, reason)) return false;
        choose_type(argument);
        written |= argument->written;
    }
    for (size_t i = 0; i < inputs->object_count; i++) written |= inputs->objects[i].written;
    if (!written) return refuse(reason, "it writes nothing that could be compared");
    share_threadgroup(pipelines, inputs);
    choose_geometry(plan, pipelines, inputs);
    return true;
}

void compare_inputs_free(compare_inputs *inputs) {
    for (size_t i = 0; i < inputs->count; i++) {
        compare_argument *argument = &inputs->arguments[i];
        free(argument->contents), free(argument->results[0]), free(argument->results[1]);
        ig_buffer_release(argument->buffer);
    }
    compare_objects_release(inputs);
    for (size_t i = 0; i < inputs->object_count; i++) {
        compare_object *object = &inputs->objects[i];
        free(object->contents), free(object->results[0]), free(object->results[1]);
    }
    *inputs = (compare_inputs){0};
}
