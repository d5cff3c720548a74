// SPDX-License-Identifier: Apache-2.0
// Encoding: every call is checked here, once, for all backends. The first error is kept and makes commit fail.
#include <string.h>

#include "device/backend.h"
#include "device/encode.h"
#include "device/stage-input.h"
#include "device/texture.h"

// ---- Errors and growth ----

ig_status igi_device_encode_fail(ig_commands *commands, ig_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *message = igi_vformat(format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&commands->lock);
    if (commands->error.status == IG_STATUS_OK) igi_error_set(&commands->error, status, "%s", message ? message : "");
    pthread_mutex_unlock(&commands->lock);
    igi_fail(status, "%s", message ? message : ig_status_text(status));
    free(message);
    return status;
}

static ig_status no_memory(ig_commands *commands) {
    return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_MEMORY, "not enough memory");
}

ig_status igi_device_encode_check(ig_commands *commands) {
    if (!commands) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "encoding: commands is NULL");
    if (igi_device_is_inherited(commands->queue->device)) return igi_device_fail_forked();
    if (atomic_load(&commands->state) == IG_COMMANDS_ENCODING) return IG_STATUS_OK;
    return igi_fail_with(IG_STATUS_WRONG_STATE,
                         "encoding: the command buffer was committed already; nothing can be added to it");
}

igi_device_command *igi_device_encode_add(ig_commands *commands, igi_device_command_kind kind) {
    if (!igi_grow((void **)&commands->commands, &commands->command_capacity, commands->command_count + 1,
                  sizeof *commands->commands))
        return NULL;
    igi_device_command *command = &commands->commands[commands->command_count++];
    *command = (igi_device_command){.kind = kind};
    return command;
}

bool igi_device_encode_keep(ig_commands *commands, igi_device_retained retained) {
    // The same buffers are often used repeatedly: checking the last few entries avoids most duplicates.
    for (size_t i = commands->retained_count; i > 0 && i + 8 > commands->retained_count; i--)
        if (commands->retained[i - 1].object == retained.object) return true;
    if (!igi_grow((void **)&commands->retained, &commands->retained_capacity, commands->retained_count + 1,
                  sizeof *commands->retained))
        return false;
    commands->retained[commands->retained_count++] = retained;
    switch (retained.kind) {
        case IGI_RETAINED_BUFFER: ig_buffer_retain(retained.object); break;
        case IGI_RETAINED_PIPELINE: ig_pipeline_retain(retained.object); break;
        case IGI_RETAINED_EVENT: ig_event_retain(retained.object); break;
        case IGI_RETAINED_TEXTURE: ig_texture_retain(retained.object); break;
        case IGI_RETAINED_SAMPLER: ig_texture_sampler_retain(retained.object); break;
        case IGI_RETAINED_FUNCTION_TABLE: ig_function_table_retain(retained.object); break;
        case IGI_RETAINED_INDIRECT: ig_indirect_commands_retain(retained.object); break;
    }
    return true;
}

static bool keep_buffer(ig_commands *commands, ig_buffer *buffer) {
    return igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_BUFFER, buffer});
}

static ig_status check_device(ig_commands *commands, const ig_buffer *buffer, const char *what) {
    if (buffer->device == commands->queue->device) return IG_STATUS_OK;
    return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT, "%s: the buffer belongs to another device",
                                  what);
}

static const char *name_of(const ig_pipeline *pipeline) {
    return pipeline->kernel.name;
}

// ---- State ----

ig_status ig_commands_set_pipeline(ig_commands *commands, ig_pipeline *pipeline) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    if (!pipeline)
        return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT, "set_pipeline: the pipeline is NULL");
    if (pipeline->library->device != commands->queue->device)
        return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT, "pipeline '%s' belongs to another device",
                                      name_of(pipeline));
    if (!igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_PIPELINE, pipeline}))
        return no_memory(commands);
    commands->pipeline = pipeline;
    return IG_STATUS_OK;
}

static ig_status check_slot(ig_commands *commands, uint32_t index, const char *what) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    if (index < IGI_SLOTS) return IG_STATUS_OK;
    return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_RANGE, "%s: index %u is above the highest, %d", what,
                                  index, IGI_SLOTS - 1);
}

ig_status ig_commands_set_buffer(ig_commands *commands, ig_buffer *buffer, uint64_t offset, uint32_t index) {
    ig_status status = check_slot(commands, index, "set_buffer");
    if (status != IG_STATUS_OK) return status;
    if (!buffer) {
        commands->buffers[index] = (igi_device_binding){0};
        return IG_STATUS_OK;
    }
    if (buffer->device != commands->queue->device)
        return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT,
                                      "set_buffer %u: the buffer belongs to another device", index);
    if (offset >= buffer->length)
        return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_RANGE,
                                      "set_buffer %u: offset %llu is outside the buffer of %llu bytes", index,
                                      (unsigned long long)offset, (unsigned long long)buffer->length);
    if (!keep_buffer(commands, buffer)) return no_memory(commands);
    commands->buffers[index] = (igi_device_binding){.index = index, .buffer = buffer, .offset = offset};
    return IG_STATUS_OK;
}

ig_status ig_commands_set_bytes(ig_commands *commands, const void *bytes, uint64_t length, uint32_t index) {
    ig_status status = check_slot(commands, index, "set_bytes");
    if (status != IG_STATUS_OK) return status;
    if (!bytes || !length)
        return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT,
                                      "set_bytes %u: the bytes are NULL or their length is 0", index);
    void *copy = igi_arena_alloc(&commands->arena, length);
    if (!copy) return no_memory(commands);
    memcpy(copy, bytes, length);
    commands->buffers[index] = (igi_device_binding){.index = index, .bytes = copy, .length = length};
    return IG_STATUS_OK;
}

// As <metal_tensor> reads it.
typedef struct tensor_bytes {
    uint64_t address, rank;
    int64_t extents[16], strides[16];
} tensor_bytes;

static bool describe_tensor(const ig_tensor_argument *tensor, tensor_bytes *bytes) {
    bool packed = true;
    uint64_t step = 1;
    for (uint32_t d = 0; d < tensor->rank; d++) packed = packed && !tensor->strides[d];
    *bytes = (tensor_bytes){.address = ig_buffer_device_address(tensor->buffer) + tensor->offset, .rank = tensor->rank};
    for (uint32_t d = 0; d < tensor->rank; d++) {
        bytes->extents[d] = (int64_t)tensor->extents[d];
        bytes->strides[d] = (int64_t)(packed ? step : tensor->strides[d]);
        if (tensor->extents[d] > INT64_MAX || tensor->strides[d] > INT64_MAX ||
            !igi_mul(step, tensor->extents[d], &step) || step > INT64_MAX)
            return false;
    }
    return true;
}

ig_status ig_commands_set_tensor(ig_commands *commands, const ig_tensor_argument *tensor, uint32_t index) {
    tensor_bytes bytes;
    ig_status status = check_slot(commands, index, "set_tensor");
    if (status != IG_STATUS_OK) return status;
    if (!tensor || !tensor->buffer)
        return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT, "set_tensor %u: tensor or buffer is NULL",
                                      index);
    if (!commands->queue->device->backend->has_tensors)
        return igi_device_encode_fail(commands, IG_STATUS_UNSUPPORTED, "set_tensor %u: device '%s' has no tensors",
                                      index, commands->queue->device->backend->name);
    if ((status = check_device(commands, tensor->buffer, "set_tensor")) != IG_STATUS_OK) return status;
    if (!tensor->rank || tensor->rank > 16)
        return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_RANGE,
                                      "set_tensor %u: a tensor has 1 to 16 dimensions, not %u", index, tensor->rank);
    if (tensor->offset >= tensor->buffer->length)
        return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_RANGE,
                                      "set_tensor %u: offset %llu is outside a buffer of %llu bytes", index,
                                      (unsigned long long)tensor->offset, (unsigned long long)tensor->buffer->length);
    if (!describe_tensor(tensor, &bytes))
        return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_RANGE,
                                      "set_tensor %u: its extents multiply to more than 2^63 elements, or a stride is "
                                      "larger than that",
                                      index);
    if (!keep_buffer(commands, tensor->buffer)) return no_memory(commands);
    return ig_commands_set_bytes(commands, &bytes, sizeof bytes, index);
}

ig_status ig_commands_set_threadgroup_memory(ig_commands *commands, uint64_t length, uint32_t index) {
    ig_status status = check_slot(commands, index, "set_threadgroup_memory");
    if (status != IG_STATUS_OK) return status;
    uint64_t limit = commands->queue->device->properties.max_threadgroup_memory;
    if (length > limit)
        return igi_device_encode_fail(commands, IG_STATUS_THREADGROUP_TOO_LARGE,
                                      "set_threadgroup_memory %u: %llu bytes are more than the device's %llu", index,
                                      (unsigned long long)length, (unsigned long long)limit);
    commands->threadgroup_lengths[index] = length;
    return IG_STATUS_OK;
}

// Of a texture or a sampler, which may be NULL; `device` is its own.
static ig_status check_object(ig_commands *commands, const char *what, const ig_device *device, uint32_t index,
                              uint32_t count) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    if (index >= count)
        return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_RANGE, "set_%s: index %u is above the highest, %u",
                                      what, index, count - 1);
    if (device && device != commands->queue->device)
        return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT,
                                      "set_%s %u: the %s belongs to another device", what, index, what);
    return IG_STATUS_OK;
}

ig_status ig_commands_set_texture(ig_commands *commands, ig_texture *texture, uint32_t index) {
    ig_status status = check_object(commands, "texture", texture ? texture->device : NULL, index, IGI_TEXTURES);
    if (status != IG_STATUS_OK) return status;
    if (texture && !igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_TEXTURE, texture}))
        return no_memory(commands);
    commands->textures[index] = texture;
    return IG_STATUS_OK;
}

ig_status ig_commands_set_sampler(ig_commands *commands, ig_texture_sampler *sampler, uint32_t index) {
    ig_status status = check_object(commands, "sampler", sampler ? sampler->device : NULL, index, IGI_SAMPLERS);
    if (status != IG_STATUS_OK) return status;
    if (sampler && !igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_SAMPLER, sampler}))
        return no_memory(commands);
    commands->samplers[index] = sampler;
    return IG_STATUS_OK;
}

// ---- Dispatches ----

static uint64_t bound_length(const igi_device_binding *binding) {
    return binding->buffer ? binding->buffer->length - binding->offset : binding->length;
}

static ig_status bind_buffer(ig_commands *commands, const ig_argument *argument, igi_device_binding *binding) {
    const char *kernel = name_of(commands->pipeline);
    *binding = commands->buffers[argument->index];
    if (argument->access == IG_ACCESS_NONE) return IG_STATUS_OK;
    if (!binding->buffer && !binding->bytes) {
        if (*argument->condition) return IG_STATUS_OK;  // may well be absent
        return igi_device_encode_fail(
            commands, IG_STATUS_UNBOUND_ARGUMENT,
            "kernel '%s': argument '%s' (%s, buffer %u) was not set; call set_buffer or set_bytes", kernel,
            argument->name, argument->type, argument->index);
    }
    if (bound_length(binding) >= argument->min_bytes) return IG_STATUS_OK;
    return igi_device_encode_fail(commands, IG_STATUS_BUFFER_TOO_SMALL,
                                  "kernel '%s': argument '%s' (%s, buffer %u) needs %u bytes, but only %llu are bound",
                                  kernel, argument->name, argument->type, argument->index, argument->min_bytes,
                                  (unsigned long long)bound_length(binding));
}

static ig_status bind_function_table(ig_commands *commands, const ig_argument *argument, igi_device_binding *binding) {
    const char *kernel = name_of(commands->pipeline);
    *binding = commands->buffers[argument->index];
    if (!binding->buffer && !binding->bytes && *argument->condition) return IG_STATUS_OK;
    if (!binding->table)
        return igi_device_encode_fail(
            commands, binding->buffer || binding->bytes ? IG_STATUS_INVALID_ARGUMENT : IG_STATUS_UNBOUND_ARGUMENT,
            "kernel '%s': argument '%s' (%s, buffer %u) is a function table that was not set; call set_function_table",
            kernel, argument->name, argument->type, argument->index);
    if (binding->table->pipeline == commands->pipeline) return IG_STATUS_OK;
    return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT,
                                  "kernel '%s': argument '%s' (buffer %u) is bound to a function table of another "
                                  "pipeline, that of kernel '%s'",
                                  kernel, argument->name, argument->index, name_of(binding->table->pipeline));
}

static ig_status bind_threadgroup(ig_commands *commands, const ig_argument *argument, igi_device_binding *binding,
                                  uint64_t *total) {
    uint64_t length = commands->threadgroup_lengths[argument->index];
    if (!length && !*argument->condition)
        return igi_device_encode_fail(
            commands, IG_STATUS_UNBOUND_ARGUMENT,
            "kernel '%s': threadgroup argument '%s' (%s, index %u) has no length; call set_threadgroup_memory",
            name_of(commands->pipeline), argument->name, argument->type, argument->index);
    binding->length = length;
    *total += igi_round_up(length, 64);
    return IG_STATUS_OK;
}

static ig_status bind_texture(ig_commands *commands, const ig_argument *argument, igi_device_binding *binding) {
    ig_texture *texture = commands->textures[binding->index];
    const char *kernel = name_of(commands->pipeline);
    binding->texture = texture;
    if (!texture && *argument->condition) return IG_STATUS_OK;
    if (!texture)
        return igi_device_encode_fail(commands, IG_STATUS_UNBOUND_ARGUMENT,
                                      "kernel '%s': argument '%s' (%s, texture %u) was not set; call set_texture",
                                      kernel, argument->name, argument->type, binding->index);
    const char *wrong = igi_device_texture_mismatch(texture, argument->type);
    if (!wrong) return IG_STATUS_OK;
    return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT,
                                  "kernel '%s': argument '%s' (%s, texture %u) %s, but the texture is %s of %s", kernel,
                                  argument->name, argument->type, binding->index, wrong,
                                  igi_device_texture_type_name(texture->desc.type),
                                  ig_pixel_format_name(texture->desc.format));
}

static ig_status bind_sampler(ig_commands *commands, const ig_argument *argument, igi_device_binding *binding) {
    binding->sampler = commands->samplers[binding->index];
    if (binding->sampler || *argument->condition) return IG_STATUS_OK;
    return igi_device_encode_fail(commands, IG_STATUS_UNBOUND_ARGUMENT,
                                  "kernel '%s': argument '%s' (sampler %u) was not set; call set_sampler",
                                  name_of(commands->pipeline), argument->name, binding->index);
}

static ig_status bind_argument(ig_commands *commands, const ig_argument *argument, igi_device_binding *binding,
                               uint64_t *threadgroup_bytes) {
    switch (argument->kind) {
        case IG_ARGUMENT_BUFFER: return bind_buffer(commands, argument, binding);
        case IG_ARGUMENT_TEXTURE: return bind_texture(commands, argument, binding);
        case IG_ARGUMENT_SAMPLER: return bind_sampler(commands, argument, binding);
        case IG_ARGUMENT_FUNCTION_TABLE: return bind_function_table(commands, argument, binding);
        default: return bind_threadgroup(commands, argument, binding, threadgroup_bytes);
    }
}

static size_t count_bindings(const ig_kernel_info *kernel) {
    size_t count = 1;  // the arena gives no empty blocks
    for (size_t i = 0; i < kernel->argument_count; i++) count += kernel->arguments[i].array_length;
    return count;
}

static ig_status bind_arguments(ig_commands *commands, igi_device_dispatch *dispatch) {
    const ig_kernel_info *kernel = &commands->pipeline->kernel;
    dispatch->bindings = igi_arena_alloc(&commands->arena, count_bindings(kernel) * sizeof *dispatch->bindings);
    if (!dispatch->bindings) return no_memory(commands);
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        if (argument->kind == IG_ARGUMENT_BUILTIN || argument->kind == IG_ARGUMENT_STAGE_INPUT) continue;
        for (uint32_t k = 0; k < argument->array_length; k++) {
            igi_device_binding *binding = &dispatch->bindings[dispatch->binding_count];
            *binding = (igi_device_binding){.index = argument->index + k};
            ig_status status = bind_argument(commands, argument, binding, &dispatch->threadgroup_bytes);
            if (status != IG_STATUS_OK) return status;
            // To backends, a table is the buffer it is in.
            binding->kind = argument->kind == IG_ARGUMENT_FUNCTION_TABLE ? IG_ARGUMENT_BUFFER : argument->kind;
            binding->index = argument->index + k;
            dispatch->binding_count++;
        }
    }
    return IG_STATUS_OK;
}

static ig_status check_group(ig_commands *commands, const igi_device_dispatch *dispatch) {
    const ig_pipeline *pipeline = commands->pipeline;
    const ig_pipeline_properties *limits = &pipeline->properties;
    ig_size group = dispatch->group;
    uint64_t threads;
    bool fits = igi_mul(group.x, group.y, &threads) && igi_mul(threads, group.z, &threads) &&
                threads <= limits->max_threads_per_threadgroup;
    if (!fits)
        return igi_device_encode_fail(
            commands, IG_STATUS_THREADGROUP_TOO_LARGE,
            "kernel '%s': a threadgroup of %llu x %llu x %llu is more than the %u threads allowed", name_of(pipeline),
            (unsigned long long)group.x, (unsigned long long)group.y, (unsigned long long)group.z,
            limits->max_threads_per_threadgroup);
    uint64_t memory = dispatch->threadgroup_bytes + limits->static_threadgroup_memory;
    uint64_t most = commands->queue->device->properties.max_threadgroup_memory;
    if (memory <= most) return IG_STATUS_OK;
    return igi_device_encode_fail(commands, IG_STATUS_THREADGROUP_TOO_LARGE,
                                  "kernel '%s': a threadgroup needs %llu bytes of memory, the device has %llu",
                                  name_of(pipeline), (unsigned long long)memory, (unsigned long long)most);
}

static bool counts_fit(ig_size grid) {
    return grid.x <= UINT32_MAX && grid.y <= UINT32_MAX && grid.z <= UINT32_MAX;
}

static ig_size with_ones(ig_size size) {
    if (size.x && !size.y) size.y = 1;
    if (size.x && !size.z) size.z = 1;
    return size;
}

// Checks everything and appends the dispatch; the fields that do not depend on the pipeline are already filled.
static ig_status add_dispatch(ig_commands *commands, igi_device_dispatch *dispatch) {
    if (!commands->pipeline)
        return igi_device_encode_fail(commands, IG_STATUS_WRONG_STATE,
                                      "dispatch without a pipeline; call set_pipeline first");
    dispatch->stage_origin = commands->stage_origin, dispatch->stage_size = commands->stage_size;
    dispatch->stage_region = commands->stage_region, dispatch->stage_region_offset = commands->stage_region_offset;
    ig_status status = bind_arguments(commands, dispatch);
    if (status == IG_STATUS_OK) status = check_group(commands, dispatch);
    if (status == IG_STATUS_OK && commands->pipeline->stage) status = igi_device_stage_check(commands, dispatch);
    if (status != IG_STATUS_OK) return status;
    igi_device_command *command = igi_device_encode_add(commands, IGI_COMMAND_DISPATCH);
    if (!command) return no_memory(commands);
    dispatch->pipeline = commands->pipeline;
    command->dispatch = *dispatch;
    commands->dispatch_count++;
    return IG_STATUS_OK;
}

static ig_size chosen_group(const ig_commands *commands, ig_size group, ig_size grid) {
    bool automatic = !group.x && !group.y && !group.z;
    if (automatic && commands->pipeline) return ig_pipeline_threadgroup_size(commands->pipeline, grid);
    return with_ones(group);
}

static ig_status grid_too_large(ig_commands *commands) {
    return igi_device_encode_fail(commands, IG_STATUS_OVERFLOW,
                                  "dispatch: a grid has at most 2^32 - 1 threads in each dimension");
}

static ig_status check_nonzero_group(ig_commands *commands, ig_size group) {
    if (group.x && group.y && group.z) return IG_STATUS_OK;
    return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT, "dispatch: a threadgroup has no threads");
}

ig_status ig_commands_dispatch_threads(ig_commands *commands, ig_size grid, ig_size group) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    grid = with_ones(grid);
    if (!counts_fit(grid)) return grid_too_large(commands);
    igi_device_dispatch dispatch = {.grid = grid, .group = chosen_group(commands, group, grid)};
    if (commands->pipeline && (status = check_nonzero_group(commands, dispatch.group)) != IG_STATUS_OK) return status;
    return add_dispatch(commands, &dispatch);
}

ig_status ig_commands_dispatch_threadgroups(ig_commands *commands, ig_size groups, ig_size group) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    groups = with_ones(groups);
    group = chosen_group(commands, group, (ig_size){1024, 1, 1});
    igi_device_dispatch dispatch = {.group = group, .whole_groups = true};
    bool fits = igi_mul(groups.x, group.x, &dispatch.grid.x) && igi_mul(groups.y, group.y, &dispatch.grid.y) &&
                igi_mul(groups.z, group.z, &dispatch.grid.z) && counts_fit(dispatch.grid);
    if (!fits) return grid_too_large(commands);
    if (commands->pipeline && (status = check_nonzero_group(commands, group)) != IG_STATUS_OK) return status;
    return add_dispatch(commands, &dispatch);
}

// Keeps the buffer if `count` uint32_t are in it at `offset`.
static ig_status check_indirect(ig_commands *commands, ig_buffer *buffer, uint64_t offset, uint32_t count,
                                const char *what) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    if (!buffer) return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT, "%s: the buffer is NULL", what);
    if ((status = check_device(commands, buffer, what)) != IG_STATUS_OK) return status;
    if (offset % 4 || !igi_in_range(offset, count * sizeof(uint32_t), buffer->length))
        return igi_device_encode_fail(
            commands, IG_STATUS_OUT_OF_RANGE,
            "%s: %s uint32_t at offset %llu do not fit a buffer of %llu bytes, or are not aligned to 4", what,
            count == 3 ? "three" : "six", (unsigned long long)offset, (unsigned long long)buffer->length);
    return keep_buffer(commands, buffer) ? IG_STATUS_OK : no_memory(commands);
}

ig_status ig_commands_dispatch_indirect(ig_commands *commands, ig_buffer *buffer, uint64_t offset, ig_size group) {
    ig_status status = check_indirect(commands, buffer, offset, 3, "dispatch_indirect");
    if (status != IG_STATUS_OK) return status;
    group = chosen_group(commands, group, (ig_size){1024, 1, 1});
    igi_device_dispatch dispatch = {
        .group = group, .whole_groups = true, .indirect = buffer, .indirect_offset = offset, .grid = {1, 1, 1}};
    if (commands->pipeline && (status = check_nonzero_group(commands, group)) != IG_STATUS_OK) return status;
    return add_dispatch(commands, &dispatch);
}

ig_status ig_commands_dispatch_threads_indirect(ig_commands *commands, ig_buffer *buffer, uint64_t offset) {
    ig_status status = check_indirect(commands, buffer, offset, 6, "dispatch_threads_indirect");
    if (status != IG_STATUS_OK) return status;
    if (!commands->queue->device->backend->has_indirect_threads)
        return igi_device_encode_fail(commands, IG_STATUS_UNSUPPORTED,
                                      "dispatch_threads_indirect: device '%s' reads only numbers of threadgroups",
                                      commands->queue->device->properties.name);
    const ig_size one = {1, 1, 1};
    return add_dispatch(
        commands, &(igi_device_dispatch){.group = one, .indirect = buffer, .indirect_offset = offset, .grid = one});
}

// ---- Copies, fills, events ----

static ig_status check_range(ig_commands *commands, const ig_buffer *buffer, uint64_t offset, uint64_t length,
                             const char *what) {
    if (!buffer) return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT, "%s: the buffer is NULL", what);
    if (igi_in_range(offset, length, buffer->length)) return check_device(commands, buffer, what);
    return igi_device_encode_fail(
        commands, IG_STATUS_OUT_OF_RANGE, "%s: %llu bytes at offset %llu are outside a buffer of %llu bytes", what,
        (unsigned long long)length, (unsigned long long)offset, (unsigned long long)buffer->length);
}

ig_status ig_commands_copy(ig_commands *commands, ig_buffer *source, uint64_t source_offset, ig_buffer *target,
                           uint64_t target_offset, uint64_t length) {
    ig_status status = igi_device_encode_check(commands);
    if (status == IG_STATUS_OK) status = check_range(commands, source, source_offset, length, "copy source");
    if (status == IG_STATUS_OK) status = check_range(commands, target, target_offset, length, "copy target");
    if (status != IG_STATUS_OK) return status;
    igi_device_command *command = igi_device_encode_add(commands, IGI_COMMAND_COPY);
    if (!command || !keep_buffer(commands, source) || !keep_buffer(commands, target)) return no_memory(commands);
    command->blit.source = source, command->blit.source_offset = source_offset;
    command->blit.target = target, command->blit.target_offset = target_offset;
    command->blit.length = length;
    return IG_STATUS_OK;
}

ig_status ig_commands_fill(ig_commands *commands, ig_buffer *buffer, uint64_t offset, uint64_t length, uint8_t value) {
    ig_status status = igi_device_encode_check(commands);
    if (status == IG_STATUS_OK) status = check_range(commands, buffer, offset, length, "fill");
    if (status != IG_STATUS_OK) return status;
    igi_device_command *command = igi_device_encode_add(commands, IGI_COMMAND_FILL);
    if (!command || !keep_buffer(commands, buffer)) return no_memory(commands);
    command->blit.target = buffer, command->blit.target_offset = offset;
    command->blit.length = length, command->blit.value = value;
    return IG_STATUS_OK;
}

// ---- Products ----

static ig_status check_matrix(ig_commands *commands, const igi_device_matrix *matrix) {
    uint64_t length;
    if (!igi_mul(matrix->rows, matrix->row_bytes, &length)) length = UINT64_MAX;
    return check_range(commands, matrix->buffer, matrix->offset, length, "product");
}

ig_status igi_device_commands_product(ig_commands *commands, const igi_device_product *product) {
    const igi_device_matrix *matrices[] = {&product->left, &product->right, &product->result};
    ig_status status = igi_device_encode_check(commands);
    for (int i = 0; i < 3 && status == IG_STATUS_OK; i++) status = check_matrix(commands, matrices[i]);
    if (status != IG_STATUS_OK) return status;
    igi_device_product *copy = igi_arena_alloc(&commands->arena, sizeof *copy);
    igi_device_command *command = copy ? igi_device_encode_add(commands, IGI_COMMAND_PRODUCT) : NULL;
    if (!command) return no_memory(commands);
    *copy = *product;
    command->product = copy;
    for (int i = 0; i < 3; i++)
        if (!keep_buffer(commands, matrices[i]->buffer)) return no_memory(commands);
    return IG_STATUS_OK;
}

ig_status ig_commands_barrier(ig_commands *commands) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    return igi_device_encode_add(commands, IGI_COMMAND_BARRIER) ? IG_STATUS_OK : no_memory(commands);
}

static ig_status add_event(ig_commands *commands, igi_device_command_kind kind, ig_event *event, uint64_t value) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    if (!event) return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT, "the event is NULL");
    igi_device_command *command = igi_device_encode_add(commands, kind);
    if (!command || !igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_EVENT, event}))
        return no_memory(commands);
    command->event.event = event;
    command->event.value = value;
    return IG_STATUS_OK;
}

ig_status ig_commands_wait_event(ig_commands *commands, ig_event *event, uint64_t value) {
    return add_event(commands, IGI_COMMAND_WAIT_EVENT, event, value);
}

ig_status ig_commands_signal_event(ig_commands *commands, ig_event *event, uint64_t value) {
    return add_event(commands, IGI_COMMAND_SIGNAL_EVENT, event, value);
}

// ---- Taking back ----

igi_device_encoding_mark igi_device_commands_mark(const ig_commands *commands) {
    return (igi_device_encoding_mark){commands->command_count, commands->dispatch_count};
}

void igi_device_commands_rewind(ig_commands *commands, igi_device_encoding_mark mark) {
    commands->command_count = mark.command_count;
    commands->dispatch_count = mark.dispatch_count;
    pthread_mutex_lock(&commands->lock);
    ig_error_clear(&commands->error);
    pthread_mutex_unlock(&commands->lock);
}
