// SPDX-License-Identifier: Apache-2.0
// What calls that encode share.
#ifndef INGOT_DEVICE_ENCODE_H
#define INGOT_DEVICE_ENCODE_H

#include "device/objects.h"

// OK while commands can be added.
ig_status igi_device_encode_check(ig_commands *commands);
// Notes the first error of the command buffer, and leaves the sentence for ig_last_error. Returns `status`.
__attribute__((format(printf, 3, 4))) ig_status igi_device_encode_fail(ig_commands *commands, ig_status status,
                                                                       const char *format, ...);
// A new command at the end, zeroed; NULL without memory.
igi_device_command *igi_device_encode_add(ig_commands *commands, igi_device_command_kind kind);
// Retains an object until the command buffer is released. False without memory.
bool igi_device_encode_keep(ig_commands *commands, igi_device_retained retained);

#endif
