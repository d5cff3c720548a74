// SPDX-License-Identifier: Apache-2.0
// What kernels cost: a row for each in memory, and events in a trace. Backends and the front end report what has ended.
// A device that is not profiled has no profile.
#ifndef INGOT_DEVICE_PROFILE_H
#define INGOT_DEVICE_PROFILE_H

#include "device/objects.h"

// Sets device->profile if the descriptor or INGOT_TRACE asks for it. errors: IO, OUT_OF_MEMORY.
ig_status igi_device_profile_open(ig_device *device, const ig_device_desc *desc, ig_error *error);
void igi_device_profile_close(ig_device *device);

// pre of all that follow: device->profile is set.
void igi_device_profile_queue(ig_queue *queue);
// A dispatch that is not in a command buffer's list has ended.
void igi_device_profile_dispatch(const ig_commands *commands, const igi_device_dispatch *dispatch);
// A command buffer has ended, with its dispatches.
void igi_device_profile_commands(const ig_commands *commands, ig_status status);
// A dispatch outside of all queues has ended on this thread: the loop of a ring kernel was entered and left. Its timing
// has the start.
void igi_device_profile_stay(const ig_commands *commands, const igi_device_dispatch *dispatch);
// On this thread, something was compiled or loaded. `how` is "clang", "LLVM" or "cache". `width` and time count for the
// kernel of that name; 0 is the width of a library.
void igi_device_profile_compiled(ig_device *device, const char *name, const char *how, uint32_t width,
                                 uint64_t start_ns);

// Bytes of the buffers that are bound, each from where it is first bound to its end.
uint64_t igi_device_dispatch_bytes(const igi_device_dispatch *dispatch);

#endif
