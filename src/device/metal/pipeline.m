// SPDX-License-Identifier: Apache-2.0
// Pipelines: functions with their constants.
#include <stdio.h>
#include <string.h>

#include "device/metal/metal.h"

// ---- Constants ----

// libMetal's; Apple's Metal refuses constants that are missing by itself.
#ifndef __APPLE__
extern void igi_metal_constants_must_be_set(MTLFunctionConstantValues *values);
#endif

static MTLFunctionConstantValues *values_of(const ig_pipeline_desc *desc) {
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
#ifndef __APPLE__
    if (!desc->unset_constants_are_zero) igi_metal_constants_must_be_set(values);
#endif
    for (size_t i = 0; i < desc->constant_count; i++) {
        const ig_function_constant *given = &desc->constants[i];
        MTLDataType type = igi_metal_data_type(given->type, given->components ? given->components : 1);
        if (given->name)
            [values setConstantValue:given->value type:type withName:igi_metal_string(given->name)];
        else
            [values setConstantValue:given->value type:type atIndex:given->id];
    }
    return values;
}

// ---- Arguments, when nobody has made a pipeline yet ----

// Turns all switches on, so that every argument is reported.
static MTLFunctionConstantValues *all_on(id<MTLFunction> function) {
    static const uint64_t ones[4] = {1, 1, 1, 1};
    static const uint8_t trues[4] = {1, 1, 1, 1};
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    NSDictionary<NSString *, MTLFunctionConstant *> *constants = [function functionConstantsDictionary];
    for (NSString *name in constants) {
        MTLFunctionConstant *constant = [constants objectForKey:name];
        ig_type type = IG_TYPE_BOOL;
        uint32_t components = 1;
        igi_metal_type([constant type], &type, &components);
        const void *value = type == IG_TYPE_BOOL ? (const void *)trues : ones;
        [values setConstantValue:value type:[constant type] atIndex:[constant index]];
    }
    return values;
}

// The library frees each string separately.
static void keep_arguments(igi_msl_kernel *kernel, MTLComputePipelineReflection *reflection) {
    size_t count = 0;
    ig_argument *shared = igi_metal_arguments(reflection, &count);
    ig_argument *arguments = shared ? igi_calloc(count, sizeof *arguments) : NULL;
    for (size_t i = 0; arguments && i < count; i++) {
        arguments[i] = shared[i];
        arguments[i].name = igi_strdup(shared[i].name);
        arguments[i].type = igi_strdup(shared[i].type);
        arguments[i].condition = igi_strdup(shared[i].condition);
    }
    free(shared);
    kernel->info.arguments = arguments;
    kernel->info.argument_count = arguments ? count : 0;
}

static void reflect(ig_library *library, igi_msl_kernel *kernel) {
    metal_library *state = library->state;
    NSString *name = igi_metal_string(kernel->info.name);
    id<MTLFunction> function = [[state->library newFunctionWithName:name] autorelease];
    if ([[function functionConstantsDictionary] count])
        function = [[state->library newFunctionWithName:name constantValues:all_on(function) error:NULL] autorelease];
    MTLComputePipelineReflection *reflection = nil;
    id<MTLComputePipelineState> made =
        function ? igi_metal_make_pipeline(igi_metal(library->device), function, NULL, NULL, &reflection, NULL) : nil;
    if (!made) return;
    keep_arguments(kernel, reflection);
    kernel->info.static_threadgroup_memory = (uint32_t)[made staticThreadgroupMemoryLength];
    [made release];
}

void igi_metal_kernel_reflect(ig_library *library, igi_msl_kernel *kernel) {
    metal_library *state = library->state;
    if (kernel->info.kind != IG_FUNCTION_KERNEL) return;
    bool *done = &state->reflected[kernel - library->reflection.kernels];
    pthread_mutex_lock(&state->lock);
    if (!*done) {
        @autoreleasepool {
            reflect(library, kernel);
        }
        *done = true;
    }
    pthread_mutex_unlock(&state->lock);
}

// ---- The calls ----

static ig_status find_function(ig_pipeline *pipeline, const ig_pipeline_desc *desc, id<MTLFunction> *function,
                               ig_error *error) {
    id<MTLLibrary> library = ((metal_library *)pipeline->library->state)->library;
    NSString *name = igi_metal_string(desc->kernel);
    NSError *problem = nil;
    *function = [[library newFunctionWithName:name] autorelease];
    if ([[*function functionConstantsDictionary] count])
        *function = [[library newFunctionWithName:name constantValues:values_of(desc) error:&problem] autorelease];
    if (*function) return IG_STATUS_OK;
    // The source compiled, so a constant has the wrong type or is missing.
    ig_status status = igi_metal_read_problem(problem, "program_source", error);
    if (status != IG_STATUS_COMPILE_FAILED) return status;
    if (error) error->status = IG_STATUS_WRONG_CONSTANT;
    return IG_STATUS_WRONG_CONSTANT;
}

static ig_status describe(ig_pipeline *pipeline, id<MTLComputePipelineState> made,
                          MTLComputePipelineReflection *reflection, ig_error *error) {
    size_t count = 0;
    ig_argument *arguments = igi_metal_arguments(reflection, &count);
    if (!arguments) return igi_error_no_memory(error);
    free((void *)pipeline->kernel.arguments);
    pipeline->kernel.arguments = arguments;
    pipeline->kernel.argument_count = count;
    pipeline->kernel.static_threadgroup_memory = (uint32_t)[made staticThreadgroupMemoryLength];
    pipeline->properties = (ig_pipeline_properties){
        .max_threads_per_threadgroup = (uint32_t)[made maxTotalThreadsPerThreadgroup],
        .execution_width = (uint32_t)[made threadExecutionWidth],
        .static_threadgroup_memory = (uint32_t)[made staticThreadgroupMemoryLength],
    };
    return IG_STATUS_OK;
}

static ig_status open_pipeline(ig_pipeline *pipeline, const ig_pipeline_desc *desc, ig_error *error) {
    id<MTLFunction> function = nil;
    ig_status status = find_function(pipeline, desc, &function, error);
    if (status != IG_STATUS_OK) return status;
    MTLComputePipelineReflection *reflection = nil;
    NSError *problem = nil;
    metal_device *metal = igi_metal(pipeline->library->device);
    id<MTLComputePipelineState> made =
        igi_metal_make_pipeline(metal, function, desc->label, desc->stage_input, &reflection, &problem);
    if (!made) return igi_metal_read_problem(problem, "program_source", error);
    status = describe(pipeline, made, reflection, error);
    if (status == IG_STATUS_OK)
        pipeline->state = made;
    else
        [made release];
    return status;
}

ig_status igi_metal_pipeline_open(ig_pipeline *pipeline, const ig_pipeline_desc *desc, const igi_msl_kernel *kernel,
                                  ig_error *error) {
    (void)kernel;
    @autoreleasepool {
        return open_pipeline(pipeline, desc, error);
    }
}

void igi_metal_pipeline_close(ig_pipeline *pipeline) {
    @autoreleasepool {
        [igi_metal_pipeline(pipeline) release];
    }
}
