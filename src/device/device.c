// SPDX-License-Identifier: Apache-2.0
// Devices: enumeration and choice.
#include <string.h>

#include "core/settings.h"
#include "device/line-profile.h"
#include "device/plugin.h"
#include "device/profile.h"

enum { MAX_BACKENDS = 2 };

// Best first. On systems other than Apple's, the Metal device is the software device again, and is used only when
// named.
static size_t list_backends(const char *name, const igi_device_backend *backends[MAX_BACKENDS], ig_error *error) {
    size_t count = 0;
#ifdef __APPLE__
    (void)name;
    backends[count++] = igi_device_find_metal(error);
    backends[count++] = &igi_device_backend_cpu;
#else
    backends[count++] = &igi_device_backend_cpu;
    const igi_device_backend *metal = name && strcmp(name, "metal") == 0 ? igi_device_find_metal(error) : NULL;
    if (metal) backends[count++] = metal;
#endif
    return count;
}

ig_status ig_device_enumerate(ig_device_properties *devices, size_t capacity, size_t *count) {
    if (!count || (capacity && !devices))
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "device_enumerate: count and devices must not be NULL");
    const igi_device_backend *backends[MAX_BACKENDS];
    size_t total = 0, backend_count = list_backends(igi_setting_text(IGI_SETTING_DEVICE), backends, NULL);
    for (size_t b = 0; b < backend_count; b++) {
        size_t here = backends[b]->device_count();
        for (size_t i = 0; i < here; i++, total++)
            if (total < capacity) backends[b]->device_properties(i, &devices[total]);
    }
    *count = total;
    return IG_STATUS_OK;
}

// "cpu", "metal" or the index of a device.
static const igi_device_backend *choose(const char *name, size_t *index, ig_error *error) {
    bool number = name && *name && strspn(name, "0123456789") == strlen(name);
    size_t wanted = number ? strtoul(name, NULL, 10) : 0;
    const igi_device_backend *backends[MAX_BACKENDS];
    size_t count = list_backends(name, backends, error);
    for (size_t b = 0; b < count; b++) {
        size_t here = backends[b]->device_count();
        bool named = !name || !*name || number || strcmp(name, backends[b]->name) == 0;
        if (named && wanted < here) {
            *index = wanted;
            return backends[b];
        }
        if (number) wanted -= here;
    }
    return NULL;
}

ig_status ig_device_create(const ig_device_desc *desc, ig_device **device, ig_error *error) {
    static const ig_device_desc defaults;
    if (!desc) desc = &defaults;
    if (!device) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "device must not be NULL");
    ig_status status = igi_settings_check(error);
    if (status != IG_STATUS_OK) return status;
    const char *name = desc->name ? desc->name : igi_setting_text(IGI_SETTING_DEVICE);
    size_t index = 0;
    ig_error unloadable = {0};
    const igi_device_backend *backend = choose(name, &index, &unloadable);
    if (!backend) {
        igi_error_set(error, IG_STATUS_DEVICE_UNAVAILABLE,
                      "no device '%s' on this machine; `ingot info` lists the devices%s%s", name,
                      unloadable.message ? ": " : "", unloadable.message ? unloadable.message : "");
        ig_error_clear(&unloadable);
        return IG_STATUS_DEVICE_UNAVAILABLE;
    }
    ig_device *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    igi_ref_init(&made->references);
    made->backend = backend;
    made->deadline_ns = desc->deadline_ns;
    made->kernel_log = desc->kernel_log;
    made->process = igi_process_number();
    backend->device_properties(index, &made->properties);
    igi_device_buffer_pool_init(&made->buffers, made->properties.memory_bytes);
    igi_device_addresses_init(&made->addresses);
    status = igi_device_profile_open(made, desc, error);
    if (status == IG_STATUS_OK) status = backend->device_open(made, index, desc, error);
    if (status == IG_STATUS_OK) {
        *device = made;
    } else {
        igi_device_buffer_pool_destroy(&made->buffers);
        igi_device_addresses_destroy(&made->addresses);
        igi_device_profile_close(made);
        igi_device_order_destroy(made->order);
        igi_device_line_profile_destroy(made->line_profile);
        free(made);
    }
    return status;
}

static const char was_forked[] =
    "the device was created before fork(), and its threads are not in this process; create a device after fork()";

ig_status igi_device_error_forked(ig_error *error) {
    return igi_error_set(error, IG_STATUS_FORKED, "%s", was_forked);
}

ig_status igi_device_fail_forked(void) {
    return igi_fail_with(IG_STATUS_FORKED, was_forked);
}

ig_device *ig_device_retain(ig_device *device) {
    if (device) igi_ref_take(&device->references);
    return device;
}

void ig_device_release(ig_device *device) {
    if (!device || igi_device_is_inherited(device) || !igi_ref_drop(&device->references)) return;
    igi_device_buffer_pool_destroy(&device->buffers);
    device->backend->device_close(device);
    igi_device_addresses_destroy(&device->addresses);
    igi_device_profile_close(device);
    igi_device_order_destroy(device->order);
    igi_device_line_profile_destroy(device->line_profile);
    free(device);
}

void ig_device_get_properties(const ig_device *device, ig_device_properties *properties) {
    *properties = device->properties;
}

void ig_device_get_stats(const ig_device *device, ig_device_stats *stats) {
    *stats = (ig_device_stats){
        .buffer_bytes = atomic_load(&device->buffer_bytes),
        .buffer_count = atomic_load(&device->buffer_count),
        .peak_buffer_bytes = atomic_load(&device->peak_buffer_bytes),
        .compilations = atomic_load(&device->compilations),
        .memory_hits = atomic_load(&device->memory_hits),
        .disk_hits = atomic_load(&device->disk_hits),
        .dispatches = atomic_load(&device->dispatches),
    };
}

ig_status ig_device_start_capture(ig_device *device, const ig_capture_desc *desc, ig_error *error) {
    if (!device || !desc || !desc->directory || !*desc->directory)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "a capture needs a device and a directory");
    if (desc->queue && desc->queue->device != device)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "the queue to capture is of another device");
    if (!device->backend->capture_start)
        return igi_error_set(error, IG_STATUS_UNSUPPORTED, "only the software device captures dispatches");
    return device->backend->capture_start(device, desc, error);
}

size_t ig_device_stop_capture(ig_device *device) {
    return device && device->backend->capture_stop ? device->backend->capture_stop(device) : 0;
}

bool igi_device_has_products(ig_device *device) {
    return device->backend->has_products && device->backend->has_products(device);
}
