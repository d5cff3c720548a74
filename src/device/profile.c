// SPDX-License-Identifier: Apache-2.0
// Rows of kernels, and events of queues, compilations and ring kernels.
#include "device/profile.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/settings.h"
#include "core/trace.h"
#include "device/texture.h"

typedef struct igi_device_profile {
    igi_trace *trace;      // NULL: only rows
    pthread_mutex_t lock;  // guards what follows
    ig_kernel_profile *rows;
    size_t count, capacity;
} igi_device_profile;

// ---- Life ----

ig_status igi_device_profile_open(ig_device *device, const ig_device_desc *desc, ig_error *error) {
    const char *path = desc->trace ? desc->trace : igi_setting_named(IGI_SETTING_TRACE);
    bool traced = path && *path;
    if (!desc->profile && !desc->profile_lines && !traced) return IG_STATUS_OK;
    igi_device_profile *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    ig_status status = traced ? igi_trace_open(path, &made->trace, error) : IG_STATUS_OK;
    if (status != IG_STATUS_OK) {
        free(made);
        return status;
    }
    pthread_mutex_init(&made->lock, NULL);
    device->profile = made;
    return IG_STATUS_OK;
}

void igi_device_profile_close(ig_device *device) {
    igi_device_profile *profile = device->profile;
    if (!profile) return;
    if (profile->trace) igi_trace_flush(profile->trace, true);
    for (size_t i = 0; i < profile->count; i++) free((char *)profile->rows[i].kernel);
    free(profile->rows);
    pthread_mutex_destroy(&profile->lock);
    free(profile);
    device->profile = NULL;
}

// ---- Rows ----

// Call with the lock held. NULL when memory is short: then the row is incomplete, and the program goes on.
static ig_kernel_profile *row_of(igi_device_profile *profile, const char *kernel, uint32_t width) {
    for (size_t i = 0; i < profile->count; i++)
        if (profile->rows[i].width == width && strcmp(profile->rows[i].kernel, kernel) == 0) return &profile->rows[i];
    char *name = igi_strdup(kernel);
    if (!name || !igi_grow((void **)&profile->rows, &profile->capacity, profile->count + 1, sizeof *profile->rows)) {
        free(name);
        return NULL;
    }
    ig_kernel_profile *row = &profile->rows[profile->count++];
    *row = (ig_kernel_profile){.kernel = name, .width = width};
    return row;
}

static uint64_t threads_of(const igi_device_dispatch *dispatch) {
    return dispatch->grid.x * dispatch->grid.y * dispatch->grid.z;
}

// Where the elements or pixels of an argument are; NULL if it has none that this library knows of.
static const ig_buffer *memory_of(const igi_device_binding *binding) {
    if (binding->kind == IG_ARGUMENT_TEXTURE) return binding->texture ? binding->texture->buffer : NULL;
    return binding->kind == IG_ARGUMENT_BUFFER ? binding->buffer : NULL;
}

static bool is_bound_before(const igi_device_dispatch *dispatch, uint32_t binding) {
    for (uint32_t i = 0; i < binding; i++)
        if (memory_of(&dispatch->bindings[i]) == memory_of(&dispatch->bindings[binding])) return true;
    return false;
}

uint64_t igi_device_dispatch_bytes(const igi_device_dispatch *dispatch) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        const igi_device_binding *binding = &dispatch->bindings[i];
        const ig_buffer *memory = memory_of(binding);
        if (!memory || is_bound_before(dispatch, i)) continue;
        bytes += memory->length - (binding->kind == IG_ARGUMENT_BUFFER ? binding->offset : 0);
    }
    return bytes;
}

static void count_dispatch(igi_device_profile *profile, const igi_device_dispatch *dispatch, uint64_t bytes,
                           uint64_t time_ns) {
    const ig_pipeline *pipeline = dispatch->pipeline;
    pthread_mutex_lock(&profile->lock);
    ig_kernel_profile *row = row_of(profile, pipeline->kernel.name, pipeline->properties.simt_width);
    if (row) {
        if (!row->calls || time_ns < row->best_ns) row->best_ns = time_ns;
        row->calls++;
        row->time_ns += time_ns;
        row->threads += threads_of(dispatch);
        row->bytes += bytes;
    }
    pthread_mutex_unlock(&profile->lock);
}

// ---- Events ----

static void trace_dispatch(igi_trace *trace, const igi_device_dispatch *dispatch, uint32_t track, bool is_stay,
                           ig_timing timing) {
    const igi_trace_detail details[] = {{"ns", timing.end_ns - timing.start_ns, NULL},
                                        {"threads", threads_of(dispatch), NULL},
                                        {"group_x", dispatch->group.x, NULL},
                                        {"group_y", dispatch->group.y, NULL},
                                        {"group_z", dispatch->group.z, NULL},
                                        {"width", dispatch->pipeline->properties.simt_width, NULL},
                                        {"bytes", igi_device_dispatch_bytes(dispatch), NULL}};
    igi_trace_add(trace, &(igi_trace_event){.name = dispatch->pipeline->kernel.name,
                                            .category = is_stay ? "ring" : "dispatch",
                                            .track = track,
                                            .start_ns = timing.start_ns,
                                            .end_ns = timing.end_ns,
                                            .details = details,
                                            .detail_count = sizeof details / sizeof *details - is_stay});
}

void igi_device_profile_queue(ig_queue *queue) {
    igi_trace *trace = queue->device->profile->trace;
    static atomic_uint numbers;
    char name[32];
    if (!trace) return;
    snprintf(name, sizeof name, "queue %u", atomic_fetch_add(&numbers, 1) + 1);
    queue->track = igi_trace_new_track(trace, name);
}

static void trace_commands(igi_trace *trace, const ig_commands *commands, ig_status status) {
    ig_timing timing;
    ig_commands_get_timing(commands, &timing);
    if (!timing.start_ns || timing.end_ns < timing.start_ns) return;
    const igi_trace_detail details[] = {{"dispatches", commands->dispatch_count, NULL},
                                        {"status", 0, ig_status_name(status)}};
    igi_trace_add(trace, &(igi_trace_event){.name = commands->label ? commands->label : "command buffer",
                                            .category = "commands",
                                            .track = commands->queue->track,
                                            .start_ns = timing.start_ns,
                                            .end_ns = timing.end_ns,
                                            .details = details,
                                            .detail_count = 2});
}

void igi_device_profile_dispatch(const ig_commands *commands, const igi_device_dispatch *dispatch) {
    igi_device_profile *profile = commands->queue->device->profile;
    ig_timing timing = dispatch->timing;
    if (!timing.end_ns) return;  // did not run, or this device tells the time of whole command buffers only
    count_dispatch(profile, dispatch, igi_device_dispatch_bytes(dispatch), timing.end_ns - timing.start_ns);
    if (profile->trace) trace_dispatch(profile->trace, dispatch, commands->queue->track, false, timing);
}

void igi_device_profile_commands(const ig_commands *commands, ig_status status) {
    igi_device_profile *profile = commands->queue->device->profile;
    if (profile->trace) trace_commands(profile->trace, commands, status);
    for (size_t i = 0; i < commands->command_count; i++)
        if (commands->commands[i].kind == IGI_COMMAND_DISPATCH)
            igi_device_profile_dispatch(commands, &commands->commands[i].dispatch);
    if (profile->trace) igi_trace_flush(profile->trace, false);
}

void igi_device_profile_stay(const ig_commands *commands, const igi_device_dispatch *dispatch) {
    igi_device_profile *profile = commands->queue->device->profile;
    ig_timing timing = {dispatch->timing.start_ns, igi_now_ns()};
    count_dispatch(profile, dispatch, 0, timing.end_ns - timing.start_ns);  // nobody knows what of its memory it uses
    if (!profile->trace) return;
    trace_dispatch(profile->trace, dispatch, igi_trace_thread_track(profile->trace), true, timing);
    igi_trace_flush(profile->trace, false);
}

void igi_device_profile_compiled(ig_device *device, const char *name, const char *how, uint32_t width,
                                 uint64_t start_ns) {
    igi_device_profile *profile = device->profile;
    uint64_t end_ns = igi_now_ns();
    if (width) {
        pthread_mutex_lock(&profile->lock);
        ig_kernel_profile *row = row_of(profile, name, width);
        if (row) row->compile_ns += end_ns - start_ns;
        pthread_mutex_unlock(&profile->lock);
    }
    if (!profile->trace) return;
    const igi_trace_detail details[] = {{"ns", end_ns - start_ns, NULL}, {"how", 0, how}, {"width", width, NULL}};
    igi_trace_add(profile->trace, &(igi_trace_event){.name = name,
                                                     .category = "compile",
                                                     .track = igi_trace_thread_track(profile->trace),
                                                     .start_ns = start_ns,
                                                     .end_ns = end_ns,
                                                     .details = details,
                                                     .detail_count = width ? 3 : 2});
    igi_trace_flush(profile->trace, false);
}

// ---- Public ----

static int by_time(const void *a, const void *b) {
    const ig_kernel_profile *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? 1 : -1;
    return strcmp(x->kernel, y->kernel);
}

// The rows, followed by their names. Call with the lock held.
static ig_kernel_profile *copy_rows(const igi_device_profile *profile) {
    size_t bytes = 0;
    for (size_t i = 0; i < profile->count; i++) bytes += strlen(profile->rows[i].kernel) + 1;
    ig_kernel_profile *copy = igi_alloc(profile->count * sizeof *copy + bytes);
    if (!copy) return NULL;
    if (profile->count) memcpy(copy, profile->rows, profile->count * sizeof *copy);
    char *name = (char *)(copy + profile->count);
    for (size_t i = 0; i < profile->count; i++) {
        size_t length = strlen(copy[i].kernel) + 1;
        copy[i].kernel = memcpy(name, copy[i].kernel, length);
        name += length;
    }
    if (profile->count) qsort(copy, profile->count, sizeof *copy, by_time);
    return copy;
}

ig_status ig_device_get_profile(ig_device *device, ig_kernel_profile **rows, size_t *count) {
    if (!device || !rows || !count)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "get_profile: device, rows and count must not be NULL");
    if (igi_device_is_inherited(device)) return igi_device_fail_forked();
    igi_device_profile *profile = device->profile;
    if (!profile)
        return igi_fail_with(IG_STATUS_WRONG_STATE,
                             "get_profile: the device measures nothing; set `profile` in its ig_device_desc");
    pthread_mutex_lock(&profile->lock);
    ig_kernel_profile *copy = copy_rows(profile);
    size_t found = profile->count;
    pthread_mutex_unlock(&profile->lock);
    if (!copy) return igi_fail_no_memory();
    *rows = copy;
    *count = found;
    return IG_STATUS_OK;
}
