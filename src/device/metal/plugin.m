// SPDX-License-Identifier: Apache-2.0
// The Metal backend as a plugin: the library's own calls, forwarded to the library that loaded it.
#include "device/plugin.h"

#include <string.h>

static const igi_device_host *host;

static void pass_on(ig_log_level level, const char *message, void *user) {
    (void)user;
    host->log(level, message);
}

__attribute__((visibility("default"))) const igi_device_backend *IGI_PLUGIN_ENTRY(const igi_device_host *loader);

const igi_device_backend *IGI_PLUGIN_ENTRY(const igi_device_host *loader) {
    if (strcmp(loader->version, INGOT_VERSION) != 0) return NULL;
    host = loader;
    ig_set_log(pass_on, NULL);  // of the plugin's own copy
    return &igi_device_backend_metal;
}

void igi_device_commands_finish(ig_commands *commands, ig_status status, ig_error *error) {
    host->commands_finish(commands, status, error);
}

ig_commands *ig_commands_retain(ig_commands *commands) {
    return host->commands_retain(commands);
}

void ig_commands_release(ig_commands *commands) {
    host->commands_release(commands);
}

void igi_device_event_reached(ig_event *event, uint64_t value) {
    host->event_reached(event, value);
}
