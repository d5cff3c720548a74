// SPDX-License-Identifier: Apache-2.0
// Indirect command buffers: dispatches that are recorded once, by the host or by kernels, and executed any number of times.
//
// A kernel records with metal::compute_command. It finds the buffer in an argument buffer, whose member of type
// command_buffer holds ig_indirect_commands_device_address; a member of type compute_pipeline_state holds
// ig_pipeline_resource_id.
#ifndef INGOT_INDIRECT_H
#define INGOT_INDIRECT_H

#include <ingot/device.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// Commands that do nothing until they are recorded. Ownership, errors and threads: as device.h says.
typedef struct ig_indirect_commands ig_indirect_commands;

// What commands there are.
typedef struct ig_indirect_commands_desc {
    uint32_t count;                      // at least 1
    bool inherit_pipeline;               // they run the pipeline that is set where they are executed, and record none
    bool inherit_buffers;                // the same for buffers, function tables and threadgroup memory
    uint32_t max_buffers;                // indices of buffers are below; 0: 31
    uint32_t max_threadgroup_arguments;  // indices of threadgroup memory are below; 0: 31
    // Buffers that a kernel reads and no command has set read as zeros, as on a GPU, and threadgroup memory without a length
    // has 16 bytes. Without this, executing such a command is an error.
    bool unset_buffers_are_zero;
    const char *label;  // a name for messages; may be NULL
} ig_indirect_commands_desc;

// Creates an indirect command buffer. errors: INVALID_ARGUMENT, UNSUPPORTED on a GPU, OUT_OF_MEMORY.
ig_status ig_indirect_commands_create(ig_device *device, const ig_indirect_commands_desc *desc,
                                      ig_indirect_commands **indirect);
ig_indirect_commands *ig_indirect_commands_retain(ig_indirect_commands *indirect);
void ig_indirect_commands_release(ig_indirect_commands *indirect);
// The number of commands.
uint32_t ig_indirect_commands_count(const ig_indirect_commands *indirect);
// Bytes of memory that it takes.
uint64_t ig_indirect_commands_bytes(const ig_indirect_commands *indirect);
// The address that kernels see, for members of type command_buffer.
uint64_t ig_indirect_commands_device_address(const ig_indirect_commands *indirect);
// The number that kernels see, for members of type compute_pipeline_state. It is valid as long as the pipeline, and no
// other pipeline of the device ever has it. errors: OUT_OF_MEMORY.
ig_status ig_pipeline_resource_id(ig_pipeline *pipeline, uint64_t *id);

// ---- Recording on the host ----

// Not while commands that execute or record the same ones run. Pipelines and buffers that the host records are retained
// until the host records others, or resets the command; those that kernels record are not.
// errors of all: OUT_OF_RANGE (command or index), INVALID_ARGUMENT (of another device), WRONG_STATE (is inherited).

// Sets the kernel of a command.
ig_status ig_indirect_commands_set_pipeline(ig_indirect_commands *indirect, uint32_t command, ig_pipeline *pipeline);
// Binds a buffer, from `offset` on, to the argument [[buffer(index)]]. A NULL buffer removes the binding.
ig_status ig_indirect_commands_set_buffer(ig_indirect_commands *indirect, uint32_t command, ig_buffer *buffer,
                                          uint64_t offset, uint32_t index);
// As ig_commands_set_attribute_stride.
ig_status ig_indirect_commands_set_attribute_stride(ig_indirect_commands *indirect, uint32_t command, uint32_t stride,
                                                    uint32_t index);
// Gives the argument [[threadgroup(index)]] `length` bytes of threadgroup memory.
ig_status ig_indirect_commands_set_threadgroup_memory(ig_indirect_commands *indirect, uint32_t command, uint32_t length,
                                                      uint32_t index);
// As ig_commands_set_stage_region.
ig_status ig_indirect_commands_set_stage_region(ig_indirect_commands *indirect, uint32_t command, ig_size origin,
                                                ig_size size);
// What the command does: one of these. A grid without threads does nothing.
ig_status ig_indirect_commands_dispatch_threads(ig_indirect_commands *indirect, uint32_t command, ig_size grid,
                                                ig_size group);
// The same with the grid counted in whole threadgroups.
ig_status ig_indirect_commands_dispatch_threadgroups(ig_indirect_commands *indirect, uint32_t command, ig_size groups,
                                                     ig_size group);
// Whether commands before this one must have ended. The software device runs them in order anyway, unless it has a schedule.
ig_status ig_indirect_commands_set_barrier(ig_indirect_commands *indirect, uint32_t command, bool barrier);
// Makes commands do nothing again.
ig_status ig_indirect_commands_reset(ig_indirect_commands *indirect, uint32_t first, uint32_t count);

// ---- Executing ----

// Commands are checked when their turn comes, as if they were encoded then. What a kernel has recorded may be anything: a
// command without a pipeline, with a pipeline that was released, or with a pointer that is in no buffer fails, with the
// errors of ig_commands_set_buffer and the dispatches, and so do all after it. Kernels with arguments that are textures or
// samplers cannot be executed; textures in argument buffers can be used.

// Executes `count` commands from `first` on. What was set before stays set. errors: OUT_OF_RANGE.
ig_status ig_commands_execute(ig_commands *commands, ig_indirect_commands *indirect, uint32_t first, uint32_t count);
// The same for the two uint32_t, first and count, that are in the buffer then.
ig_status ig_commands_execute_indirect(ig_commands *commands, ig_indirect_commands *indirect, ig_buffer *buffer,
                                       uint64_t offset);
// Resets commands in order with other commands.
ig_status ig_commands_reset_indirect(ig_commands *commands, ig_indirect_commands *indirect, uint32_t first,
                                     uint32_t count);
// Copies recorded commands in order with other commands. What the host recorded in `source` must outlive its copies.
ig_status ig_commands_copy_indirect(ig_commands *commands, ig_indirect_commands *source, uint32_t first, uint32_t count,
                                    ig_indirect_commands *target, uint32_t target_first);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
