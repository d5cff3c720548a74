// SPDX-License-Identifier: Apache-2.0
// Finding the Metal backend: built in on Apple's systems, loaded elsewhere.
#include "device/plugin.h"
#include "core/library-name.h"
#include "core/settings.h"
#include "installed.h"

#ifdef __APPLE__

const igi_device_backend *igi_device_find_metal(ig_error *error) {
    (void)error;
    return &igi_device_backend_metal;
}

#else

#include <dlfcn.h>
#include <pthread.h>

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)

static void log_message(ig_log_level level, const char *message) {
    igi_log(level, "%s", message);
}

static const igi_device_host host = {
    .version = INGOT_VERSION,
    .commands_finish = igi_device_commands_finish,
    .commands_retain = ig_commands_retain,
    .commands_release = ig_commands_release,
    .event_reached = igi_device_event_reached,
    .log = log_message,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const igi_device_backend *found;
static char *reason;  // why there is none; kept until the process ends

// The file that INGOT_METAL names; else from the library path of the system or of this program, or from where Ingot is
// installed.
static void *open_library(void) {
    static const char file[] = IGI_LIBRARY_NAME("ingot-metal", "0");
    static const char installed[] = INGOT_LIBRARY_DIR "/" IGI_LIBRARY_NAME("ingot-metal", "0");
    const char *named = igi_setting_named(IGI_SETTING_METAL);
    if (named) return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    return library ? library : dlopen(installed, RTLD_NOW | RTLD_LOCAL);
}

static void load(void) {
    void *library = open_library();
    igi_device_plugin_entry entry = NULL;
    if (library) *(void **)&entry = dlsym(library, NAME_OF(IGI_PLUGIN_ENTRY));
    found = entry ? entry(&host) : NULL;
    if (found) return;
    const char *why = library ? "it is not of this version of Ingot" : dlerror();
    reason = igi_strdup(why ? why : "unknown");
    if (library) dlclose(library);
}

const igi_device_backend *igi_device_find_metal(ig_error *error) {
    pthread_once(&once, load);
    if (!found)
        igi_error_set(error, IG_STATUS_DEVICE_UNAVAILABLE,
                      "the Metal backend cannot be loaded: %s; it comes with Ingot where GNUstep is installed",
                      reason ? reason : "not enough memory");
    return found;
}

#endif
