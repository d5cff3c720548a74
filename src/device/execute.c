// SPDX-License-Identifier: Apache-2.0
// Executing indirect command buffers. Kernels may have written anything into their memory: every command is copied first,
// names are looked up, and the calls that encode check the rest.
#include "device/execute.h"

#include <inttypes.h>
#include <string.h>

#include "simt/run.h"

enum { LEAST_THREADGROUP_MEMORY = 16 };
static const char zeros[4096];

// One execution.
typedef struct executor {
    ig_commands *commands;  // in which it is
    const igi_device_execution *execution;
    ig_indirect_commands *indirect;
    igi_device_runner run;
    igi_indirect_command command;
    ig_commands *inner;  // in which the command is encoded
    ig_error *error;
} executor;

// ---- State ----

static ig_status set_pipeline(executor *e) {
    ig_device *device = e->indirect->device;
    if (e->indirect->inherits_pipeline) {
        if (e->command.pipeline)
            return igi_error_set(e->error, IG_STATUS_WRONG_STATE, "it has a pipeline, but inherits one");
        if (!e->execution->pipeline)
            return igi_error_set(e->error, IG_STATUS_WRONG_STATE,
                                 "it inherits the pipeline, but none is set where it is executed");
        return ig_commands_set_pipeline(e->inner, e->execution->pipeline);
    }
    if (!e->command.pipeline) return igi_error_set(e->error, IG_STATUS_WRONG_STATE, "it has no pipeline");
    ig_pipeline *pipeline = igi_device_find_pipeline(device, e->command.pipeline);
    if (!pipeline)
        return igi_error_set(e->error, IG_STATUS_NOT_FOUND,
                             "its pipeline, with resource id 0x%" PRIx64 ", does not exist, or no longer",
                             e->command.pipeline);
    ig_status status = ig_commands_set_pipeline(e->inner, pipeline);
    ig_pipeline_release(pipeline);
    return status;
}

static ig_status set_buffer(executor *e, uint32_t index) {
    uint64_t address = e->command.buffers[index], offset = 0;
    ig_buffer *buffer = NULL;
    ig_status status = igi_device_find_buffer(e->indirect->device, address, &buffer, &offset);
    if (status != IG_STATUS_OK) return igi_error_no_memory(e->error);
    if (!buffer)
        return igi_error_set(e->error, IG_STATUS_NOT_FOUND,
                             "buffer %u is at address 0x%" PRIx64 ", where no buffer is, or no longer", index, address);
    status = ig_commands_set_buffer(e->inner, buffer, offset, index);
    ig_buffer_release(buffer);
    return status;
}

static ig_status set_buffers(executor *e) {
    const igi_indirect_command *command = &e->command;
    ig_status status = IG_STATUS_OK;
    if (command->missing_slot)
        return igi_error_set(
            e->error, IG_STATUS_OUT_OF_RANGE,
            "a kernel has set buffer or threadgroup argument %u of it, but indices of buffers are below "
            "%u, of threadgroup arguments below %u",
            command->missing_slot - 1, e->indirect->slots, e->indirect->threadgroup_slots);
    // Inherited buffers are retained by the commands around.
    if (e->indirect->inherits_buffers) {
        memcpy(e->inner->buffers, e->execution->buffers, sizeof e->inner->buffers);
        memcpy(e->inner->threadgroup_lengths, e->execution->threadgroup_lengths, sizeof e->inner->threadgroup_lengths);
        memcpy(e->inner->stage_strides, e->execution->stage_strides, sizeof e->inner->stage_strides);
    }
    for (uint32_t i = 0; i < e->indirect->slots && status == IG_STATUS_OK; i++)
        if (command->buffers[i]) status = set_buffer(e, i);
    for (uint32_t i = 0; i < e->indirect->slots && status == IG_STATUS_OK; i++)
        if (command->strides[i]) status = ig_commands_set_attribute_stride(e->inner, command->strides[i], i);
    for (uint32_t i = 0; i < e->indirect->threadgroup_slots && status == IG_STATUS_OK; i++)
        if (command->threadgroup_lengths[i])
            status = ig_commands_set_threadgroup_memory(e->inner, command->threadgroup_lengths[i], i);
    return status;
}

// ---- What is not set ----

static void warn(executor *e, const ig_argument *argument) {
    if (atomic_exchange(&e->indirect->warned, true)) return;
    igi_log(IG_LOG_WARNING,
            "kernel '%s' of an indirect command buffer: argument '%s' (buffer %u) was not set and reads as zeros",
            e->inner->pipeline->kernel.name, argument->name, argument->index);
}

static ig_status set_zeros(executor *e) {
    const ig_kernel_info *kernel = &e->inner->pipeline->kernel;
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < kernel->argument_count && status == IG_STATUS_OK; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        const igi_device_binding *bound = &e->inner->buffers[argument->index];
        if (argument->kind == IG_ARGUMENT_THREADGROUP && !e->inner->threadgroup_lengths[argument->index])
            status = ig_commands_set_threadgroup_memory(e->inner, LEAST_THREADGROUP_MEMORY, argument->index);
        bool unset = argument->kind == IG_ARGUMENT_BUFFER && !bound->buffer && !bound->bytes;
        if (!unset || argument->access == IG_ACCESS_NONE || *argument->condition || argument->min_bytes > sizeof zeros)
            continue;
        warn(e, argument);
        status = ig_commands_set_bytes(e->inner, zeros, sizeof zeros, argument->index);
    }
    return status;
}

// They cannot be recorded, so it would not be known whose they are.
static ig_status check_arguments(executor *e) {
    const ig_kernel_info *kernel = &e->inner->pipeline->kernel;
    for (size_t i = 0; i < kernel->argument_count; i++) {
        ig_argument_kind kind = kernel->arguments[i].kind;
        if (kind != IG_ARGUMENT_TEXTURE && kind != IG_ARGUMENT_SAMPLER) continue;
        return igi_error_set(e->error, IG_STATUS_UNSUPPORTED,
                             "argument '%s' of kernel '%s' is a texture or sampler, which commands do not have; put it "
                             "into an argument buffer",
                             kernel->arguments[i].name, kernel->name);
    }
    return IG_STATUS_OK;
}

// ---- Commands ----

static ig_size size_of(const uint32_t counts[3]) {
    return (ig_size){counts[0], counts[1], counts[2]};
}

static bool is_empty(const uint32_t counts[3]) {
    return !counts[0] || !counts[1] || !counts[2];
}

static ig_status encode(executor *e) {
    const igi_indirect_command *command = &e->command;
    if (is_empty(command->group))
        return igi_error_set(e->error, IG_STATUS_INVALID_ARGUMENT, "its threadgroups have no threads");
    ig_status status = set_pipeline(e);
    if (status == IG_STATUS_OK) status = check_arguments(e);
    if (status == IG_STATUS_OK) status = set_buffers(e);
    if (status == IG_STATUS_OK && e->indirect->zeroes) status = set_zeros(e);
    if (status == IG_STATUS_OK)
        status = ig_commands_set_stage_region(e->inner, size_of(command->stage_origin), size_of(command->stage_size));
    if (status != IG_STATUS_OK) return status;
    return command->kind == IGI_INDIRECT_GROUPS
               ? ig_commands_dispatch_threadgroups(e->inner, size_of(command->grid), size_of(command->group))
               : ig_commands_dispatch_threads(e->inner, size_of(command->grid), size_of(command->group));
}

static ig_status run_inner(executor *e) {
    ig_status status = encode(e);
    if (status != IG_STATUS_OK) {
        if (e->inner->error.status != IG_STATUS_OK) igi_error_copy(e->error, &e->inner->error);
        return status;
    }
    atomic_fetch_add(&e->indirect->device->dispatches, 1);
    return e->run(e->commands, &e->inner->commands[0].dispatch, e->error);
}

static ig_status run_command(executor *e) {
    if (e->command.kind == IGI_INDIRECT_NONE || is_empty(e->command.grid)) return IG_STATUS_OK;
    if (e->command.kind != IGI_INDIRECT_GROUPS && e->command.kind != IGI_INDIRECT_THREADS)
        return igi_error_set(e->error, IG_STATUS_INVALID_ARGUMENT, "it is of kind %u, which does not exist",
                             e->command.kind);
    ig_status status = ig_commands_create(e->commands->queue, NULL, &e->inner);
    if (status != IG_STATUS_OK) return igi_error_no_memory(e->error);
    status = run_inner(e);
    ig_commands_release(e->inner);
    return status;
}

static ig_status explain(executor *e, uint32_t number, ig_status status) {
    const char *label = ig_buffer_label(e->indirect->buffer);
    char *message = igi_strdup(e->error->message ? e->error->message : ig_status_text(status));
    igi_error_set(e->error, status, "command %u of indirect command buffer%s%s%s: %s", number, *label ? " '" : "",
                  label, *label ? "'" : "", message ? message : ig_status_text(status));
    free(message);
    return status;
}

// ---- Ranges ----

static ig_status read_range(const igi_device_execution *execution, uint32_t *first, uint32_t *count, ig_error *error) {
    uint32_t range[2] = {execution->first, execution->count};
    if (execution->range) memcpy(range, (const char *)execution->range->memory + execution->range_offset, sizeof range);
    *first = range[0], *count = range[1];
    if (igi_in_range(*first, *count, execution->indirect->count)) return IG_STATUS_OK;
    return igi_error_set(
        error, IG_STATUS_OUT_OF_RANGE,
        "execute_indirect: %u commands from %u on, as the buffer says, are outside an indirect command "
        "buffer of %u",
        *count, *first, execution->indirect->count);
}

// A kernel has encoded a command that does not exist. It is told once.
static ig_status check_header(const ig_indirect_commands *indirect, ig_error *error) {
    uint32_t *missing = &igi_device_indirect_header(indirect)->missing_command;
    uint32_t number = __atomic_exchange_n(missing, 0, __ATOMIC_RELAXED);
    if (!number) return IG_STATUS_OK;
    const char *label = ig_buffer_label(indirect->buffer);
    return igi_error_set(error, IG_STATUS_OUT_OF_RANGE,
                         "a kernel has encoded command %u of indirect command buffer%s%s%s, which has %u", number - 1,
                         *label ? " '" : "", label, *label ? "'" : "", indirect->count);
}

// ---- Order ----

// Of the commands from `first` on, those up to the next barrier.
static uint32_t count_concurrent(const ig_indirect_commands *indirect, uint32_t first, uint32_t count) {
    uint32_t i = 1;
    while (i < count && !igi_device_indirect_at(indirect, first + i)->barrier) i++;
    return i;
}

// The command that comes at place `at` of so many: a step without a common divisor with their number reaches each of them.
static uint32_t in_order(uint64_t schedule, uint32_t at, uint32_t count) {
    if (!schedule) return at;
    uint64_t shift = igi_simt_schedule_mix(schedule, count),
             step = igi_simt_schedule_mix(schedule, count + 1ull) % count;
    while (igi_common_divisor(step, count) != 1) step = (step + 1) % count;
    return (uint32_t)((at * step + shift % count) % count);
}

static ig_status run_numbered(executor *e, uint32_t number) {
    // Once: the command itself or other queues may write it meanwhile.
    memcpy(&e->command, igi_device_indirect_at(e->indirect, number), sizeof e->command);
    ig_status status = run_command(e);
    return status == IG_STATUS_OK ? status : explain(e, number, status);
}

ig_status igi_device_execute(ig_commands *commands, const igi_device_execution *execution, uint64_t schedule,
                             igi_device_runner run, ig_error *error) {
    uint32_t first, count;
    executor e = {
        .commands = commands, .execution = execution, .indirect = execution->indirect, .run = run, .error = error};
    ig_status status = read_range(execution, &first, &count, error);
    if (status == IG_STATUS_OK) status = check_header(e.indirect, error);
    while (count && status == IG_STATUS_OK) {
        uint32_t together = schedule ? count_concurrent(e.indirect, first, count) : 1;
        for (uint32_t i = 0; i < together && status == IG_STATUS_OK; i++)
            status = run_numbered(&e, first + in_order(schedule, i, together));
        first += together, count -= together;
    }
    return status;
}
