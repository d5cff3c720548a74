// SPDX-License-Identifier: Apache-2.0
// A backend in a library of its own: what it is given of ours, and how it is found. Off Apple's systems the Metal
// backend is one, since it brings an Objective-C runtime that nobody else needs.
#ifndef INGOT_DEVICE_PLUGIN_H
#define INGOT_DEVICE_PLUGIN_H

#include "device/backend.h"

// Calls that must reach the very library the plugin was loaded by. Everything else it uses has no memory of its own.
typedef struct igi_host {
    const char *version;  // of the library; a plugin of another one is refused
    void (*commands_finish)(ig_commands *commands, ig_status status, ig_error *error);
    ig_commands *(*commands_retain)(ig_commands *commands);
    void (*commands_release)(ig_commands *commands);
    void (*event_reached)(ig_event *event, uint64_t value);
    void (*log)(ig_log_level level, const char *message);
} igi_host;

// What a plugin exports under the name below. NULL when the host is of another version.
typedef const igi_backend *(*igi_plugin_entry)(const igi_host *host);
#define IGI_PLUGIN_ENTRY igi_plugin_backend

// The Metal backend of this machine; NULL, with a reason, when there is none.
const igi_backend *igi_find_metal(ig_error *error);

#endif
