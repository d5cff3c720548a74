// SPDX-License-Identifier: Apache-2.0
// Indirect command buffers on the host: recording, and encoding their execution.
#include <string.h>

#include "device/backend.h"
#include "device/encode.h"
#include "device/execute.h"

// ---- The object ----

static ig_status check_desc(const ig_device *device, const ig_indirect_commands_desc *desc) {
    if (!desc->count)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "indirect_commands_create: the count is 0; there is at least 1");
    if (desc->max_buffers > IGI_SLOTS || desc->max_threadgroup_arguments > IGI_SLOTS)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT,
                        "indirect_commands_create: a command has at most %d buffers and %d threadgroup arguments",
                        IGI_SLOTS, IGI_SLOTS);
    if (device->backend->executes_indirect) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_UNSUPPORTED, "indirect_commands_create: device '%s' has no indirect command buffers",
                    device->backend->name);
}

static void fill(ig_indirect_commands *made, const ig_indirect_commands_desc *desc) {
    made->count = desc->count;
    made->slots = desc->inherit_buffers ? 0 : desc->max_buffers ? desc->max_buffers : IGI_SLOTS;
    made->threadgroup_slots = desc->max_threadgroup_arguments ? desc->max_threadgroup_arguments : IGI_SLOTS;
    made->inherits_pipeline = desc->inherit_pipeline;
    made->inherits_buffers = desc->inherit_buffers;
    made->zeroes = desc->unset_buffers_are_zero;
    *igi_device_indirect_header(made) =
        (igi_indirect_header){.count = made->count, .slots = made->slots, .threadgroup_slots = made->threadgroup_slots};
}

ig_status ig_indirect_commands_create(ig_device *device, const ig_indirect_commands_desc *desc,
                                      ig_indirect_commands **indirect) {
    if (!device || !desc || !indirect)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "indirect_commands_create: device, desc and indirect must not be NULL");
    if (igi_device_is_inherited(device)) return igi_device_fail_forked();
    ig_status status = check_desc(device, desc);
    if (status != IG_STATUS_OK) return status;
    ig_indirect_commands *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_fail_no_memory();
    uint64_t bytes = sizeof(igi_indirect_header) + (uint64_t)desc->count * sizeof(igi_indirect_command);
    made->recorded = igi_calloc(desc->count, sizeof *made->recorded);
    if (!made->recorded)
        status = igi_fail_no_memory();
    else
        status = ig_buffer_create(device, &(ig_buffer_desc){.length = bytes, .label = desc->label}, &made->buffer);
    if (status != IG_STATUS_OK) {
        free(made->recorded), free(made);
        return status;
    }
    igi_ref_init(&made->references);
    made->device = device;  // which lives as long as the buffer
    fill(made, desc);
    *indirect = made;
    return IG_STATUS_OK;
}

ig_indirect_commands *ig_indirect_commands_retain(ig_indirect_commands *indirect) {
    if (indirect) igi_ref_take(&indirect->references);
    return indirect;
}

static void forget(ig_indirect_commands *indirect, uint32_t command) {
    igi_device_recorded *recorded = indirect->recorded[command];
    if (!recorded) return;
    ig_pipeline_release(recorded->pipeline);
    for (int i = 0; i < IGI_SLOTS; i++) ig_buffer_release(recorded->buffers[i]);
    free(recorded);
    indirect->recorded[command] = NULL;
}

void ig_indirect_commands_release(ig_indirect_commands *indirect) {
    if (!indirect || igi_device_is_inherited(indirect->device) || !igi_ref_drop(&indirect->references)) return;
    for (uint32_t i = 0; i < indirect->count; i++) forget(indirect, i);
    ig_buffer_release(indirect->buffer);
    free(indirect->recorded), free(indirect);
}

uint32_t ig_indirect_commands_count(const ig_indirect_commands *indirect) {
    return indirect->count;
}

uint64_t ig_indirect_commands_bytes(const ig_indirect_commands *indirect) {
    return indirect->buffer->length;
}

uint64_t ig_indirect_commands_device_address(const ig_indirect_commands *indirect) {
    return ig_buffer_device_address(indirect->buffer);
}

// ---- Recording ----

static ig_status check_range(const ig_indirect_commands *indirect, const char *call, uint32_t first, uint32_t count) {
    if (!indirect) return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: the indirect command buffer is NULL", call);
    if (igi_device_is_inherited(indirect->device)) return igi_device_fail_forked();
    if (igi_in_range(first, count, indirect->count)) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_OUT_OF_RANGE, "%s: commands %u to %llu are outside an indirect command buffer of %u",
                    call, first, (unsigned long long)first + (count ? count - 1 : 0), indirect->count);
}

static ig_status check_index(const ig_indirect_commands *indirect, const char *call, uint32_t index, uint32_t count,
                             bool inherited) {
    if (inherited)
        return igi_fail(IG_STATUS_WRONG_STATE,
                        "%s: the commands inherit what is set where they are executed; they record none of their own",
                        call);
    if (index < count) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_OUT_OF_RANGE, "%s: index %u is above the highest of the indirect command buffer, %d",
                    call, index, (int)count - 1);
}

static igi_device_recorded *recorded_of(ig_indirect_commands *indirect, uint32_t command) {
    igi_device_recorded **at = &indirect->recorded[command];
    if (!*at) *at = igi_calloc(1, sizeof **at);
    return *at;
}

ig_status ig_indirect_commands_set_pipeline(ig_indirect_commands *indirect, uint32_t command, ig_pipeline *pipeline) {
    static const char call[] = "indirect_commands_set_pipeline";
    uint64_t id;
    ig_status status = check_range(indirect, call, command, 1);
    if (status == IG_STATUS_OK) status = check_index(indirect, call, 0, 1, indirect->inherits_pipeline);
    if (status != IG_STATUS_OK) return status;
    if (!pipeline || pipeline->library->device != indirect->device)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: the pipeline is NULL or belongs to another device", call);
    igi_device_recorded *recorded = recorded_of(indirect, command);
    if (!recorded) return igi_fail_no_memory();
    if ((status = ig_pipeline_resource_id(pipeline, &id)) != IG_STATUS_OK) return status;
    ig_pipeline *before = recorded->pipeline;
    recorded->pipeline = ig_pipeline_retain(pipeline);
    ig_pipeline_release(before);
    igi_device_indirect_at(indirect, command)->pipeline = id;
    return IG_STATUS_OK;
}

ig_status ig_indirect_commands_set_buffer(ig_indirect_commands *indirect, uint32_t command, ig_buffer *buffer,
                                          uint64_t offset, uint32_t index) {
    static const char call[] = "indirect_commands_set_buffer";
    ig_status status = check_range(indirect, call, command, 1);
    if (status == IG_STATUS_OK)
        status = check_index(indirect, call, index, indirect->slots, indirect->inherits_buffers);
    if (status != IG_STATUS_OK) return status;
    if (buffer && buffer->device != indirect->device)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: the buffer belongs to another device", call);
    if (buffer && offset >= buffer->length)
        return igi_fail(IG_STATUS_OUT_OF_RANGE, "%s: offset %llu is outside the buffer of %llu bytes", call,
                        (unsigned long long)offset, (unsigned long long)buffer->length);
    igi_device_recorded *recorded = recorded_of(indirect, command);
    if (!recorded) return igi_fail_no_memory();
    ig_buffer *before = recorded->buffers[index];
    recorded->buffers[index] = ig_buffer_retain(buffer);
    ig_buffer_release(before);
    igi_device_indirect_at(indirect, command)->buffers[index] = buffer ? ig_buffer_device_address(buffer) + offset : 0;
    return IG_STATUS_OK;
}

ig_status ig_indirect_commands_set_attribute_stride(ig_indirect_commands *indirect, uint32_t command, uint32_t stride,
                                                    uint32_t index) {
    static const char call[] = "indirect_commands_set_attribute_stride";
    ig_status status = check_range(indirect, call, command, 1);
    if (status == IG_STATUS_OK)
        status = check_index(indirect, call, index, indirect->slots, indirect->inherits_buffers);
    if (status == IG_STATUS_OK && stride == IG_STRIDE_DYNAMIC)
        status = igi_fail(IG_STATUS_OUT_OF_RANGE, "%s: a stride is at most 2^32 - 2 bytes", call);
    if (status == IG_STATUS_OK) igi_device_indirect_at(indirect, command)->strides[index] = stride;
    return status;
}

ig_status ig_indirect_commands_set_threadgroup_memory(ig_indirect_commands *indirect, uint32_t command, uint32_t length,
                                                      uint32_t index) {
    static const char call[] = "indirect_commands_set_threadgroup_memory";
    ig_status status = check_range(indirect, call, command, 1);
    if (status == IG_STATUS_OK) status = check_index(indirect, call, index, indirect->threadgroup_slots, false);
    if (status == IG_STATUS_OK) igi_device_indirect_at(indirect, command)->threadgroup_lengths[index] = length;
    return status;
}

// False if it does not fit.
static bool put(uint32_t to[3], ig_size from) {
    if (from.x > UINT32_MAX || from.y > UINT32_MAX || from.z > UINT32_MAX) return false;
    to[0] = (uint32_t)from.x, to[1] = (uint32_t)from.y, to[2] = (uint32_t)from.z;
    return true;
}

static ig_status too_large(const char *call) {
    return igi_fail(IG_STATUS_OVERFLOW, "%s: a grid has at most 2^32 - 1 threads in each dimension", call);
}

ig_status ig_indirect_commands_set_stage_region(ig_indirect_commands *indirect, uint32_t command, ig_size origin,
                                                ig_size size) {
    static const char call[] = "indirect_commands_set_stage_region";
    uint32_t first[3], sizes[3];
    ig_status status = check_range(indirect, call, command, 1);
    if (status != IG_STATUS_OK) return status;
    if (!put(first, origin) || !put(sizes, size)) return too_large(call);
    igi_indirect_command *at = igi_device_indirect_at(indirect, command);
    memcpy(at->stage_origin, first, sizeof first);
    memcpy(at->stage_size, sizes, sizeof sizes);
    return IG_STATUS_OK;
}

static ig_size with_ones(ig_size size) {
    if (size.x && !size.y) size.y = 1;
    if (size.x && !size.z) size.z = 1;
    return size;
}

static ig_status record(ig_indirect_commands *indirect, const char *call, uint32_t command, uint32_t kind, ig_size grid,
                        ig_size group) {
    uint32_t counts[3], sizes[3];
    ig_status status = check_range(indirect, call, command, 1);
    if (status != IG_STATUS_OK) return status;
    if (!put(counts, with_ones(grid)) || !put(sizes, with_ones(group))) return too_large(call);
    if (!group.x) return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: a threadgroup has no threads", call);
    igi_indirect_command *at = igi_device_indirect_at(indirect, command);
    at->kind = kind;
    memcpy(at->grid, counts, sizeof counts);
    memcpy(at->group, sizes, sizeof sizes);
    return IG_STATUS_OK;
}

ig_status ig_indirect_commands_dispatch_threads(ig_indirect_commands *indirect, uint32_t command, ig_size grid,
                                                ig_size group) {
    return record(indirect, "indirect_commands_dispatch_threads", command, IGI_INDIRECT_THREADS, grid, group);
}

ig_status ig_indirect_commands_dispatch_threadgroups(ig_indirect_commands *indirect, uint32_t command, ig_size groups,
                                                     ig_size group) {
    return record(indirect, "indirect_commands_dispatch_threadgroups", command, IGI_INDIRECT_GROUPS, groups, group);
}

ig_status ig_indirect_commands_set_barrier(ig_indirect_commands *indirect, uint32_t command, bool barrier) {
    ig_status status = check_range(indirect, "indirect_commands_set_barrier", command, 1);
    if (status == IG_STATUS_OK) igi_device_indirect_at(indirect, command)->barrier = barrier;
    return status;
}

ig_status ig_indirect_commands_reset(ig_indirect_commands *indirect, uint32_t first, uint32_t count) {
    ig_status status = check_range(indirect, "indirect_commands_reset", first, count);
    if (status != IG_STATUS_OK) return status;
    for (uint32_t i = 0; i < count; i++) forget(indirect, first + i);
    memset(igi_device_indirect_at(indirect, first), 0, (uint64_t)count * sizeof(igi_indirect_command));
    return IG_STATUS_OK;
}

// ---- Encoding ----

static ig_status check_encoding(ig_commands *commands, const ig_indirect_commands *indirect, const char *call,
                                uint32_t first, uint32_t count) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    if (!indirect || indirect->device != commands->queue->device)
        return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT,
                                      "%s: the indirect command buffer is NULL or belongs to another device", call);
    if (igi_in_range(first, count, indirect->count)) return IG_STATUS_OK;
    return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_RANGE,
                                  "%s: commands %u to %llu are outside an indirect command buffer of %u", call, first,
                                  (unsigned long long)first + (count ? count - 1 : 0), indirect->count);
}

static ig_status add_execution(ig_commands *commands, const igi_device_execution *execution) {
    igi_device_execution *copy = igi_arena_alloc(&commands->arena, sizeof *copy);
    bool kept = copy &&
                igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_INDIRECT, execution->indirect}) &&
                (!execution->range ||
                 igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_BUFFER, execution->range}));
    igi_device_command *command = kept ? igi_device_encode_add(commands, IGI_COMMAND_EXECUTE) : NULL;
    if (!command) return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_MEMORY, "not enough memory");
    *copy = *execution;
    copy->pipeline = commands->pipeline;
    memcpy(copy->buffers, commands->buffers, sizeof copy->buffers);
    memcpy(copy->threadgroup_lengths, commands->threadgroup_lengths, sizeof copy->threadgroup_lengths);
    memcpy(copy->stage_strides, commands->stage_strides, sizeof copy->stage_strides);
    command->execution = copy;
    return IG_STATUS_OK;
}

ig_status ig_commands_execute(ig_commands *commands, ig_indirect_commands *indirect, uint32_t first, uint32_t count) {
    ig_status status = check_encoding(commands, indirect, "execute", first, count);
    if (status != IG_STATUS_OK || !count) return status;
    return add_execution(commands, &(igi_device_execution){.indirect = indirect, .first = first, .count = count});
}

ig_status ig_commands_execute_indirect(ig_commands *commands, ig_indirect_commands *indirect, ig_buffer *buffer,
                                       uint64_t offset) {
    ig_status status = check_encoding(commands, indirect, "execute_indirect", 0, 0);
    if (status != IG_STATUS_OK) return status;
    if (!buffer || buffer->device != commands->queue->device)
        return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT,
                                      "execute_indirect: the buffer is NULL or belongs to another device");
    if (offset % 4 || !igi_in_range(offset, 2 * sizeof(uint32_t), buffer->length))
        return igi_device_encode_fail(
            commands, IG_STATUS_OUT_OF_RANGE,
            "execute_indirect: two uint32_t at offset %llu do not fit a buffer of %llu bytes, or are not aligned to 4",
            (unsigned long long)offset, (unsigned long long)buffer->length);
    return add_execution(commands,
                         &(igi_device_execution){.indirect = indirect, .range = buffer, .range_offset = offset});
}

static uint64_t offset_of(uint32_t command) {
    return sizeof(igi_indirect_header) + (uint64_t)command * sizeof(igi_indirect_command);
}

// A command of zeros does nothing.
ig_status ig_commands_reset_indirect(ig_commands *commands, ig_indirect_commands *indirect, uint32_t first,
                                     uint32_t count) {
    ig_status status = check_encoding(commands, indirect, "reset_indirect", first, count);
    if (status != IG_STATUS_OK || !count) return status;
    return ig_commands_fill(commands, indirect->buffer, offset_of(first),
                            (uint64_t)count * sizeof(igi_indirect_command), 0);
}

ig_status ig_commands_copy_indirect(ig_commands *commands, ig_indirect_commands *source, uint32_t first, uint32_t count,
                                    ig_indirect_commands *target, uint32_t target_first) {
    ig_status status = check_encoding(commands, source, "copy_indirect", first, count);
    if (status == IG_STATUS_OK) status = check_encoding(commands, target, "copy_indirect", target_first, count);
    if (status != IG_STATUS_OK || !count) return status;
    return ig_commands_copy(commands, source->buffer, offset_of(first), target->buffer, offset_of(target_first),
                            (uint64_t)count * sizeof(igi_indirect_command));
}
