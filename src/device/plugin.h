// SPDX-License-Identifier: Apache-2.0
// A backend in a separate library: the calls it is given, and how it is found. On systems other than Apple's, the Metal
// backend is one, because it needs an Objective-C runtime.
#ifndef INGOT_DEVICE_PLUGIN_H
#define INGOT_DEVICE_PLUGIN_H

#include "device/backend.h"

// Calls that must reach the library that loaded the plugin. Everything else that it uses has no state.
typedef struct igi_device_host {
    const char *version;  // of the library; a plugin of another version is refused
    void (*commands_finish)(ig_commands *commands, ig_status status, ig_error *error);
    ig_commands *(*commands_retain)(ig_commands *commands);
    void (*commands_release)(ig_commands *commands);
    void (*event_reached)(ig_event *event, uint64_t value);
    void (*log)(ig_log_level level, const char *message);
} igi_device_host;

// What a plugin exports under the name below. Returns NULL if the host has another version.
typedef const igi_device_backend *(*igi_device_plugin_entry)(const igi_device_host *host);
#define IGI_PLUGIN_ENTRY igi_device_plugin_backend

// The Metal backend of this machine; NULL, with a reason, when there is none.
const igi_device_backend *igi_device_find_metal(ig_error *error);

#endif
