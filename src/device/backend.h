// SPDX-License-Identifier: Apache-2.0
// What a device backend provides. This is the only porting header.
//
// The front end (src/device/*.c) has checked every argument before it calls: lengths are positive and in range, indices
// exist, states allow the call. Each `open` sets the object's `state`; if it fails it has cleaned up, and `close` is
// not called. Calls may come from any thread, but calls for one object come one at a time, unless noted otherwise.
#ifndef INGOT_DEVICE_BACKEND_H
#define INGOT_DEVICE_BACKEND_H

#include "core/pool.h"
#include "device/objects.h"

typedef struct igi_device_backend {
    const char *name;

    // The devices of this machine. device_properties: index < device_count().
    size_t (*device_count)(void);
    void (*device_properties)(size_t index, ig_device_properties *properties);
    ig_status (*device_open)(ig_device *device, size_t index, const ig_device_desc *desc, ig_error *error);
    // All objects of the device are closed already.
    void (*device_close)(ig_device *device);

    // Sets memory and address. desc->bytes, if given, are copied in; otherwise memory is zero, or undefined if pooled.
    // buffer->capacity is the length to open and to close.
    ig_status (*buffer_open)(ig_buffer *buffer, const ig_buffer_desc *desc);
    void (*buffer_close)(ig_buffer *buffer);
    // Optional; NULL: host writes to managed memory are visible without it.
    void (*buffer_did_modify)(ig_buffer *buffer, uint64_t offset, uint64_t length);

    // Optional: pixels that are the device's own, with texture->state. texture->desc is complete; of a view, `from` is
    // the texture that it shows and `view` how. False if the device makes no such texture. Regions are complete and in
    // range. NULL: pixels are in texture->buffer, as texture->shown says, and kernels and host share them.
    bool (*texture_open)(ig_texture *texture, const ig_texture *from, const ig_texture_view_desc *view);
    void (*texture_close)(ig_texture *texture);
    void (*texture_write)(ig_texture *texture, const ig_region *region, const void *bytes, uint64_t row_bytes,
                          uint64_t plane_bytes);
    void (*texture_read)(const ig_texture *texture, const ig_region *region, void *bytes, uint64_t row_bytes,
                         uint64_t plane_bytes);
    uint64_t (*texture_resource_id)(const ig_texture *texture);
    // Optional, without texture_open: kernels can find texture->shown from now on, or no longer. False if memory is short.
    // Also called for textures that have not been added.
    bool (*texture_added)(ig_texture *texture);
    void (*texture_removed)(ig_texture *texture);
    // Optional, with texture_open: sampler->state is enough if they are NULL.
    bool (*sampler_open)(ig_texture_sampler *sampler, const ig_texture_sampler_desc *desc);
    void (*sampler_close)(ig_texture_sampler *sampler);
    uint64_t (*sampler_resource_id)(const ig_texture_sampler *sampler);

    // Compiles; fills reflection and log.
    ig_status (*library_open)(ig_library *library, const ig_library_desc *desc, ig_error *error);
    void (*library_close)(ig_library *library);
    // Optional: called before a kernel's first pipeline; fills its arguments, if library_open has not. Several threads may
    // call it at once. NULL: there is nothing to do.
    ig_status (*kernel_prepare)(ig_library *library, igi_msl_kernel *kernel, ig_error *error);
    // Optional: fills the arguments of a kernel when they are first needed; several threads may call it at once.
    // NULL: library_open has done that.
    void (*kernel_reflect)(ig_library *library, igi_msl_kernel *kernel);

    // Optional: dispatches are written to disk between these. NULL: not supported.
    ig_status (*capture_start)(ig_device *device, const ig_capture_desc *desc, ig_error *error);
    size_t (*capture_stop)(ig_device *device);

    // Constants have been checked against the reflection. Fills properties.
    ig_status (*pipeline_open)(ig_pipeline *pipeline, const ig_pipeline_desc *desc, const igi_msl_kernel *kernel,
                               ig_error *error);
    void (*pipeline_close)(ig_pipeline *pipeline);
    // Optional: the tier of its best code. NULL: there are no tiers.
    uint32_t (*pipeline_tier)(const ig_pipeline *pipeline);
    // Optional: runs the task soon, on a thread that may wait; false if it cannot. NULL: it cannot.
    bool (*run_later)(ig_device *device, igi_task *task);
    // Whether pipeline_open links functions of pipeline->functions, whose numbers in tables are their places plus 1.
    bool links_functions;
    bool has_tensors;  // of Metal 4, as arguments
    // Whether addresses in buffers and resource ids of pipelines are ours, so that IGI_COMMAND_EXECUTE can be run: with
    // igi_device_execute (device/execute.h).
    bool executes_indirect;
    bool has_indirect_threads;  // dispatches whose grid and threadgroup are both read from a buffer
    // Kernels are compiled here, and the function constants of device/stage-input.h fill their [[stage_in]]. Otherwise
    // pipeline_open reads stage_input of its descriptor.
    bool lowers_stage_inputs;
    // Optional; NULL: unsupported.
    ig_status (*pipeline_emit)(ig_pipeline *pipeline, const char *stage, char **text);
    // Optional; NULL: unsupported.
    ig_status (*pipeline_remarks)(ig_pipeline *pipeline, ig_remark **remarks, size_t *count);

    ig_status (*queue_open)(ig_queue *queue);
    void (*queue_close)(ig_queue *queue);

    // Runs the commands after all earlier ones of the queue, at once or later, and ends with igi_device_commands_finish.
    ig_status (*commit)(ig_commands *commands);
    // Optional: a thread is about to wait for the commands and may do their work. NULL: it only waits.
    void (*assist)(ig_commands *commands);
    // Optional: updates the state of committed commands before it is read. NULL: it is always up to date.
    void (*refresh)(ig_commands *commands);

    // Optional: an event of the device that accompanies the host's and receives its signals. The backend calls
    // igi_device_event_reached for signals of the device. NULL: the host's is enough.
    ig_status (*event_open)(ig_event *event);
    void (*event_close)(ig_event *event);
    void (*event_signal)(ig_event *event, uint64_t value);

    // Optional: runs the dispatches of commands that are still being encoded on this thread, outside of all queues, and
    // returns when they are done; any number of times. NULL: kernels cannot run indefinitely.
    ig_status (*run_here)(ig_commands *commands, ig_error *error);

    // Optional: whether the device has its own matrix products, which commands may then use. NULL: no.
    bool (*has_products)(ig_device *device);

    // Optional: threads of the host that run kernels and may help with other work. NULL: there are none.
    igi_pool *(*workers)(ig_device *device);
} igi_device_backend;

extern const igi_device_backend igi_device_backend_cpu;
extern const igi_device_backend igi_device_backend_metal;  // on Apple's systems, and in its plugin elsewhere

#endif
