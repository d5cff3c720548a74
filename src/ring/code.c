// SPDX-License-Identifier: Apache-2.0
// The code of a kernel: compiling it from MSL, binding it to its memory, and entering its loop.
#include <string.h>

#include "device/backend.h"
#include "ring/kernel.h"

enum { DEFAULT_BLOCK = 256, LEAST_SHARED = 16 };

// "a, b": ring kernels of the library, which come in pairs.
static char *list_kernels(const ig_library *library) {
    igi_text names = {0};
    for (size_t i = 0; i < ig_library_kernel_count(library); i++) {
        char *single = igi_format("%s_single", ig_library_kernel(library, i)->name);
        if (single && ig_library_find_kernel(library, single))
            igi_text_addf(&names, "%s%s", names.length ? ", " : "", ig_library_kernel(library, i)->name);
        free(single);
    }
    return igi_text_take(&names);
}

static ig_status no_such_kernel(const ig_library *library, const char *wanted, ig_error *error) {
    char *names = list_kernels(library);
    if (names && *names)
        igi_error_set(error, IG_STATUS_NOT_FOUND, "the source has no ring kernel '%s'; it has: %s", wanted, names);
    else
        igi_error_set(error, IG_STATUS_NOT_FOUND,
                      "the source has no ring kernel: INGOT_RING_KERNEL(%s, handler) makes one of a handler", wanted);
    free(names);
    return IG_STATUS_NOT_FOUND;
}

// ---- Messages of the device, in the words of ring kernels ----

// Replaces every occurrence of `part` in the text by `by`.
static void replace_all(char **text, const char *part, const char *by) {
    igi_text made = {0};
    const char *rest = *text, *found;
    if (!rest || !strstr(rest, part)) return;
    for (; (found = strstr(rest, part)); rest = found + strlen(part))
        igi_text_addf(&made, "%.*s%s", (int)(found - rest), rest, by);
    igi_text_addf(&made, "%s", rest);
    char *whole = igi_text_take(&made);
    if (!whole) return;
    free(*text);
    *text = whole;
}

// The user knows the handler's kernel, not the function and the command buffer made from it.
static void name_handler(const ig_ring_kernel *kernel, const char *function, const char *wanted, ig_error *error) {
    if (!error || !error->message) return;
    char *device_words = igi_format("kernel '%s' in command buffer '%s'", function, kernel->name);
    char *our_words = igi_format("the handler of ring kernel '%s'", kernel->name);
    if (device_words && our_words) replace_all(&error->message, device_words, our_words);
    replace_all(&error->message, function, wanted);
    replace_all(&error->log, function, wanted);
    free(device_words), free(our_words);
}

static ig_status check_size(const ig_ring_kernel *kernel, const ig_ring_launch_desc *desc, ig_error *error) {
    ig_pipeline_properties properties;
    ig_device_properties device;
    ig_pipeline_get_properties(kernel->pipeline, &properties);
    ig_device_get_properties(kernel->runtime->device, &device);
    if (kernel->group.x > properties.max_threads_per_threadgroup)
        return igi_error_set(error, IG_STATUS_THREADGROUP_TOO_LARGE,
                             "ring kernel '%s' has a block of %u threads; the device runs %u together", kernel->name,
                             (uint32_t)kernel->group.x, properties.max_threads_per_threadgroup);
    uint64_t own = properties.static_threadgroup_memory, most = device.max_threadgroup_memory;
    if (own <= most && desc->shared_memory <= most - own) return IG_STATUS_OK;
    return igi_error_set(error, IG_STATUS_THREADGROUP_TOO_LARGE,
                         "ring kernel '%s' asks for %u bytes of shared memory; the device has %llu, of which its loop "
                         "needs %llu",
                         kernel->name, desc->shared_memory, (unsigned long long)most, (unsigned long long)own);
}

static ig_status compile(ig_ring_kernel *kernel, const ig_ring_launch_desc *desc, ig_error *error) {
    // Kernels of one source share compiled code if they use the same name for it.
    const char *wanted = desc->kernel ? desc->kernel : desc->name;
    ig_library_desc source = {.source = desc->source, .path = desc->path, .name = desc->source ? wanted : NULL};
    ig_status status = ig_library_create(kernel->runtime->device, &source, &kernel->library, error);
    if (status != IG_STATUS_OK) return status;
    uint32_t block = desc->block ? desc->block : DEFAULT_BLOCK;
    char *name = igi_format("%s%s", wanted, block == 1 ? "_single" : "");
    if (!name) return igi_error_no_memory(error);
    if (!ig_library_find_kernel(kernel->library, name))
        status = no_such_kernel(kernel->library, wanted, error);
    else  // optimised at once: a loop that is entered once and for all cannot change to better code
        status = ig_pipeline_create(kernel->library, &(ig_pipeline_desc){.kernel = name, .tier = 2}, &kernel->pipeline,
                                    error);
    if (status != IG_STATUS_OK) name_handler(kernel, name, wanted, error);
    free(name);
    if (status != IG_STATUS_OK) return status;
    kernel->wanted = igi_strdup(wanted);
    if (!kernel->wanted) return igi_error_no_memory(error);
    kernel->group = (ig_size){block, 1, 1};
    return check_size(kernel, desc, error);
}

static ig_status encode(ig_ring_kernel *kernel, ig_commands **commands) {
    ig_commands *made;
    // Only code with a deadline can be stopped, and it must be possible to stop a kernel; the supervisor watches the
    // time.
    uint64_t deadline =
        kernel->deadline_ns || !kernel->runtime->device_runs_for_ever ? kernel->deadline_ns : UINT64_MAX;
    ig_commands_desc desc = {.deadline_ns = deadline, .label = kernel->name};
    ig_status status = ig_commands_create(kernel->queue, &desc, &made);
    if (status != IG_STATUS_OK) return status;
    ig_buffer *const bound[] = {kernel->arena_buffer,    kernel->runtime->inbox_buffer,
                                kernel->overflow_buffer, kernel->buffers[0],
                                kernel->buffers[1],      kernel->buffers[2],
                                kernel->buffers[3]};
    status = ig_commands_set_pipeline(made, kernel->pipeline);
    // Buffers that were not given are not used, but every argument must be bound.
    for (uint32_t i = 0; i < sizeof bound / sizeof *bound && status == IG_STATUS_OK; i++)
        status = ig_commands_set_buffer(made, bound[i] ? bound[i] : kernel->arena_buffer, 0, i);
    uint64_t shared = kernel->shared_memory ? kernel->shared_memory : LEAST_SHARED;
    if (status == IG_STATUS_OK) status = ig_commands_set_threadgroup_memory(made, shared, 0);
    if (status == IG_STATUS_OK) status = ig_commands_dispatch_threadgroups(made, (ig_size){1, 1, 1}, kernel->group);
    if (status == IG_STATUS_OK)
        *commands = made;
    else
        ig_commands_release(made);
    return status;
}

ig_status igi_ring_make_code(ig_ring_kernel *kernel, const ig_ring_launch_desc *desc, ig_error *error) {
    kernel->handler = desc->handler;
    kernel->user = desc->user;
    if (desc->handler) return IG_STATUS_OK;
    kernel->shared_memory = desc->shared_memory;
    for (int i = 0; i < IGI_RING_BUFFERS; i++) kernel->buffers[i] = ig_buffer_retain(desc->buffers[i]);
    ig_status status = compile(kernel, desc, error);
    if (status == IG_STATUS_OK) status = ig_queue_create(kernel->runtime->device, &kernel->queue);
    if (status == IG_STATUS_OK && kernel->runtime->device->backend->run_here)
        status = encode(kernel, &kernel->commands);
    // The loop of an inactive kernel returns at once; this compiles its code before the first message.
    if (status == IG_STATUS_OK && kernel->commands) status = igi_ring_run(kernel, error);
    if (status != IG_STATUS_OK && error && !error->message) igi_error_set(error, status, "%s", ig_status_text(status));
    return status;
}

static ig_status commit_and_wait(ig_ring_kernel *kernel, ig_error *error) {
    ig_commands *commands;
    ig_status status = encode(kernel, &commands);
    if (status != IG_STATUS_OK) return igi_error_set(error, status, "%s", ig_status_text(status));
    status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    ig_commands_get_error(commands, error);
    ig_commands_release(commands);
    return status;
}

ig_status igi_ring_run(ig_ring_kernel *kernel, ig_error *error) {
    if (kernel->handler) {
        igi_ring_run_handler(kernel);
        return IG_STATUS_OK;
    }
    ig_status status = kernel->commands ? kernel->runtime->device->backend->run_here(kernel->commands, error)
                                        : commit_and_wait(kernel, error);
    if (status != IG_STATUS_OK) name_handler(kernel, kernel->pipeline->kernel.name, kernel->wanted, error);
    return status;
}

// Handlers in C cannot be stopped, and commands on a GPU have their own deadline.
void igi_ring_abort(ig_ring_kernel *kernel) {
    if (kernel->commands) atomic_store_explicit(&kernel->commands->abort, 1, memory_order_relaxed);
}
