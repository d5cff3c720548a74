// SPDX-License-Identifier: Apache-2.0
// Metal's devices: what they are.
#include <stdio.h>
#include <string.h>

#include "device/metal/metal.h"

// ---- Which there are ----

static NSArray<id<MTLDevice>> *all_devices;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// Listing devices is slow, and they stay the same: the list is kept until the process ends. The default comes first.
static void find_devices(void) {
    @autoreleasepool {
        id<MTLDevice> first = MTLCreateSystemDefaultDevice();
        NSArray<id<MTLDevice>> *others = MTLCopyAllDevices();
        NSMutableArray<id<MTLDevice>> *devices = [[NSMutableArray alloc] init];
        if (first) [devices addObject:first];
        for (id<MTLDevice> device in others)
            if (![devices containsObject:device]) [devices addObject:device];
        [others release];
        [first release];
        all_devices = devices;
    }
}

static NSArray<id<MTLDevice>> *devices(void) {
    pthread_once(&once, find_devices);
    return all_devices;
}

static size_t count(void) {
    return [devices() count];
}

// ---- Properties ----

static const struct {
    MTLGPUFamily family;
    const char *name;
} families[] = {
    {MTLGPUFamilyApple1, "apple1"},   {MTLGPUFamilyApple2, "apple2"},   {MTLGPUFamilyApple3, "apple3"},
    {MTLGPUFamilyApple4, "apple4"},   {MTLGPUFamilyApple5, "apple5"},   {MTLGPUFamilyApple6, "apple6"},
    {MTLGPUFamilyApple7, "apple7"},   {MTLGPUFamilyApple8, "apple8"},   {MTLGPUFamilyApple9, "apple9"},
    {MTLGPUFamilyMac2, "mac2"},       {MTLGPUFamilyCommon1, "common1"}, {MTLGPUFamilyCommon2, "common2"},
    {MTLGPUFamilyCommon3, "common3"}, {MTLGPUFamilyMetal3, "metal3"},
};

// All families, and as the target the last of Apple's own, which identifies the processor.
static void list_families(id<MTLDevice> device, ig_device_properties *p) {
    size_t used = 0;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (![device supportsFamily:families[i].family]) continue;
        const char *name = families[i].name;
        if (used + strlen(name) + 2 > sizeof p->features) break;
        used += (size_t)snprintf(p->features + used, sizeof p->features - used, "%s%s", used ? " " : "", name);
        if (!p->target[0] || strncmp(name, "apple", 5) == 0) snprintf(p->target, sizeof p->target, "%s", name);
    }
}

static uint32_t newest_language(void) {
    if (@available(macOS 15.0, iOS 18.0, *)) return 320;
    if (@available(macOS 14.0, iOS 17.0, *)) return 310;
    return 300;
}

static void properties(size_t index, ig_device_properties *p) {
    @autoreleasepool {
        id<MTLDevice> device = [devices() objectAtIndex:index];
        *p = (ig_device_properties){
            .backend = "metal",
            .memory_bytes = [device recommendedMaxWorkingSetSize],
            .max_buffer_bytes = [device maxBufferLength],
            .max_threads_per_threadgroup = (uint32_t)[device maxThreadsPerThreadgroup].width,
            .execution_width = 32,  // of every GPU so far; each pipeline reports its own
            .max_threadgroup_memory = (uint32_t)[device maxThreadgroupMemoryLength],
            .max_buffer_arguments = IGI_SLOTS,
            .language_version = newest_language(),
            .unified_memory = [device hasUnifiedMemory],
        };
        snprintf(p->name, sizeof p->name, "%s", [[device name] UTF8String]);
        snprintf(p->compiler, sizeof p->compiler, "Metal framework");
        list_families(device, p);
    }
}

// ---- Opening ----

static void close_parts(metal_device *metal) {
    igi_pool_destroy(metal->late);
    igi_watchdog_destroy(metal->watchdog);
    [metal->listener release];
    [metal->multiplication release];
    [metal->copy_bytes release];
    [metal->fill_bytes release];
    [metal->uploads release];
    igi_metal_archive_close(metal);
    igi_disk_cache_destroy(metal->cache);
    free(metal->cache_dir);
    [metal->device release];
    pthread_mutex_destroy(&metal->lock);
    free(metal);
}

static ig_status open_device(ig_device *device, size_t index, const ig_device_desc *desc, ig_error *error) {
    metal_device *metal = igi_calloc(1, sizeof *metal);
    if (!metal) return igi_error_no_memory(error);
    pthread_mutex_init(&metal->lock, NULL);
    @autoreleasepool {
        metal->device = [[devices() objectAtIndex:index] retain];
        metal->cache_dir = igi_cache_dir(desc->cache_dir);
        metal->cache = igi_disk_cache_create(metal->cache_dir, desc->cache_bytes);
        metal->watchdog = igi_watchdog_create();
        metal->late = igi_pool_create(1);
        if (!metal->watchdog || !metal->late) {
            close_parts(metal);
            return igi_error_no_memory(error);
        }
        igi_metal_archive_open(metal);
        igi_metal_capture_start(metal);
    }
    device->state = metal;
    device->cache_dir = metal->cache_dir;
    device->cache = metal->cache;
    return IG_STATUS_OK;
}

static void close_device(ig_device *device) {
    @autoreleasepool {
        igi_metal_capture_stop(igi_metal(device));
        close_parts(igi_metal(device));
    }
}

const igi_device_backend igi_device_backend_metal = {
    .name = "metal",
    .device_count = count,
    .device_properties = properties,
    .device_open = open_device,
    .device_close = close_device,
    .buffer_open = igi_metal_buffer_open,
    .buffer_close = igi_metal_buffer_close,
    .buffer_did_modify = igi_metal_buffer_did_modify,
    .texture_open = igi_metal_texture_open,
    .texture_close = igi_metal_texture_close,
    .texture_write = igi_metal_texture_write,
    .texture_read = igi_metal_texture_read,
    .texture_resource_id = igi_metal_texture_resource_id,
    .sampler_open = igi_metal_sampler_open,
    .sampler_close = igi_metal_sampler_close,
    .sampler_resource_id = igi_metal_sampler_resource_id,
    .library_open = igi_metal_library_open,
    .library_close = igi_metal_library_close,
    .kernel_reflect = igi_metal_kernel_reflect,
    .pipeline_open = igi_metal_pipeline_open,
    .pipeline_close = igi_metal_pipeline_close,
    .queue_open = igi_metal_queue_open,
    .queue_close = igi_metal_queue_close,
    .commit = igi_metal_commit,
    .assist = igi_metal_assist,
    .refresh = igi_metal_refresh,
    .has_products = igi_metal_has_products,
    .event_open = igi_metal_event_open,
    .event_close = igi_metal_event_close,
    .event_signal = igi_metal_event_signal,
};
