// SPDX-License-Identifier: Apache-2.0
// Indirect command buffers where they run.
#ifndef INGOT_DEVICE_EXECUTE_H
#define INGOT_DEVICE_EXECUTE_H

#include "device/objects.h"
#include "msl/stdlib/__ingot_command_layout"

// Runs a dispatch that is complete and checked, for these commands.
typedef ig_status (*igi_device_runner)(ig_commands *commands, igi_device_dispatch *dispatch, ig_error *error);

// Reads commands one after the other, checks each and hands it to `run`, up to the first error, which names the command.
// Commands with no barrier between them may run in any order: they do if `schedule` is not 0, in one that is made from it.
// For backends with addresses of ours.
ig_status igi_device_execute(ig_commands *commands, const igi_device_execution *execution, uint64_t schedule,
                             igi_device_runner run, ig_error *error);

static inline igi_indirect_header *igi_device_indirect_header(const ig_indirect_commands *indirect) {
    return indirect->buffer->memory;
}
static inline igi_indirect_command *igi_device_indirect_at(const ig_indirect_commands *indirect, uint32_t command) {
    return (igi_indirect_command *)(igi_device_indirect_header(indirect) + 1) + command;
}

#endif
