// SPDX-License-Identifier: Apache-2.0
// The lifecycle of a command buffer: created, committed, waited for, finished.
#include <errno.h>
#include <stdio.h>

#include "core/clock.h"
#include "device/backend.h"
#include "device/findings.h"
#include "device/profile.h"

static bool is_inherited(const ig_commands *commands) {
    return igi_device_is_inherited(commands->queue->device);
}

ig_status ig_commands_create(ig_queue *queue, const ig_commands_desc *desc, ig_commands **commands) {
    static const ig_commands_desc defaults;
    if (!queue || !commands)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "commands_create: queue and commands must not be NULL");
    if (igi_device_is_inherited(queue->device)) return igi_device_fail_forked();
    if (!desc) desc = &defaults;
    ig_commands *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_fail_no_memory();
    made->label = desc->label ? igi_strdup(desc->label) : NULL;
    if (desc->label && !made->label) {
        free(made);
        return igi_fail_no_memory();
    }
    igi_ref_init(&made->references);
    made->queue = ig_queue_retain(queue);
    made->deadline_ns = desc->deadline_ns ? desc->deadline_ns : queue->device->deadline_ns;
    made->kernel_log = desc->kernel_log.callback ? desc->kernel_log : queue->device->kernel_log;
    pthread_mutex_init(&made->lock, NULL);
    igi_monotonic_cond_init(&made->changed);
    *commands = made;
    return IG_STATUS_OK;
}

ig_commands *ig_commands_retain(ig_commands *commands) {
    if (commands) igi_ref_take(&commands->references);
    return commands;
}

static void release_retained(const igi_device_retained *retained) {
    switch (retained->kind) {
        case IGI_RETAINED_BUFFER: ig_buffer_release(retained->object); break;
        case IGI_RETAINED_PIPELINE: ig_pipeline_release(retained->object); break;
        case IGI_RETAINED_EVENT: ig_event_release(retained->object); break;
        case IGI_RETAINED_TEXTURE: ig_texture_release(retained->object); break;
        case IGI_RETAINED_SAMPLER: ig_texture_sampler_release(retained->object); break;
        case IGI_RETAINED_FUNCTION_TABLE: ig_function_table_release(retained->object); break;
        case IGI_RETAINED_INDIRECT: ig_indirect_commands_release(retained->object); break;
    }
}

void ig_commands_release(ig_commands *commands) {
    if (!commands || is_inherited(commands) || !igi_ref_drop(&commands->references)) return;
    for (size_t i = 0; i < commands->retained_count; i++) release_retained(&commands->retained[i]);
    free(commands->commands), free(commands->retained), free(commands->callbacks), free(commands->label);
    igi_device_findings_free(&commands->findings);
    igi_arena_free(&commands->arena);
    ig_error_clear(&commands->error);
    pthread_mutex_destroy(&commands->lock);
    pthread_cond_destroy(&commands->changed);
    ig_queue *queue = commands->queue;
    free(commands);
    ig_queue_release(queue);
}

ig_status ig_commands_on_completed(ig_commands *commands, ig_commands_callback callback, void *user) {
    if (!commands || !callback)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "on_completed: commands and callback must not be NULL");
    if (is_inherited(commands)) return igi_device_fail_forked();
    if (atomic_load(&commands->state) != IG_COMMANDS_ENCODING)
        return igi_fail_with(IG_STATUS_WRONG_STATE,
                             "on_completed: the command buffer was committed already; add callbacks before");
    if (!igi_grow((void **)&commands->callbacks, &commands->callback_capacity, commands->callback_count + 1,
                  sizeof *commands->callbacks))
        return igi_fail_no_memory();
    commands->callbacks[commands->callback_count++] = (igi_device_callback){callback, user};
    return IG_STATUS_OK;
}

// Call with the lock held.
static ig_status may_commit(const ig_commands *commands) {
    if (atomic_load(&commands->state) != IG_COMMANDS_ENCODING)
        return igi_fail_with(IG_STATUS_WRONG_STATE,
                             "commit: the command buffer was committed already; it runs only once: create another");
    return commands->error.status == IG_STATUS_OK ? IG_STATUS_OK : igi_fail_as(&commands->error);
}

ig_status ig_commands_commit(ig_commands *commands) {
    if (!commands) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "commit: commands is NULL");
    if (is_inherited(commands)) return igi_device_fail_forked();
    pthread_mutex_lock(&commands->lock);
    ig_status status = may_commit(commands);
    if (status == IG_STATUS_OK) atomic_store(&commands->state, IG_COMMANDS_COMMITTED);
    pthread_mutex_unlock(&commands->lock);
    if (status != IG_STATUS_OK) return status;
    ig_commands_retain(commands);  // until igi_device_commands_finish
    igi_device_order_commit(commands);
    atomic_fetch_add(&commands->queue->device->dispatches, commands->dispatch_count);
    status = commands->queue->device->backend->commit(commands);
    if (status != IG_STATUS_OK) {
        ig_error error = {0};
        igi_error_set(&error, status, "the device refused the command buffer: %s", ig_status_text(status));
        igi_fail_as(&error);
        igi_device_commands_finish(commands, status, &error);
    }
    return status;
}

// The command buffer whose callbacks this thread is running: waiting for it there must not wait for itself.
static _Thread_local const ig_commands *in_callbacks_of;

static void run_callbacks(ig_commands *commands, ig_status status) {
    const ig_commands *outer = in_callbacks_of;
    in_callbacks_of = commands;
    if (commands->callback_count) igi_device_order_observe(commands);
    for (size_t i = 0; i < commands->callback_count; i++)
        commands->callbacks[i].function(commands, status, commands->callbacks[i].user);
    in_callbacks_of = outer;
}

void igi_device_commands_finish(ig_commands *commands, ig_status status, ig_error *error) {
    if (commands->queue->device->profile) igi_device_profile_commands(commands, status);
    pthread_mutex_lock(&commands->lock);
    if (status != IG_STATUS_OK) {
        ig_error_clear(&commands->error);
        commands->error = *error;
        *error = (ig_error){0};
        commands->error.status = status;
    }
    atomic_store(&commands->state, status == IG_STATUS_OK ? IG_COMMANDS_COMPLETED : IG_COMMANDS_FAILED);
    pthread_mutex_unlock(&commands->lock);
    run_callbacks(commands, status);
    pthread_mutex_lock(&commands->lock);
    commands->finished = true;
    pthread_cond_broadcast(&commands->changed);
    pthread_mutex_unlock(&commands->lock);
    ig_commands_release(commands);
}

static bool wait_until(ig_commands *commands, uint64_t deadline) {
    int failed = 0;
    pthread_mutex_lock(&commands->lock);
    while (!commands->finished && failed != ETIMEDOUT)
        failed = igi_cond_wait_until(&commands->changed, &commands->lock, deadline);
    bool finished = commands->finished;
    pthread_mutex_unlock(&commands->lock);
    return finished;
}

static ig_status final_status(ig_commands *commands) {
    pthread_mutex_lock(&commands->lock);
    ig_status status = commands->error.status;
    if (status != IG_STATUS_OK) igi_fail_as(&commands->error);
    pthread_mutex_unlock(&commands->lock);
    igi_device_order_observe(commands);
    return status;
}

ig_status ig_commands_wait(ig_commands *commands, uint64_t timeout_ns) {
    if (!commands) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "wait: commands is NULL");
    if (is_inherited(commands)) return igi_device_fail_forked();
    if (atomic_load(&commands->state) == IG_COMMANDS_ENCODING)
        return igi_fail_with(IG_STATUS_WRONG_STATE, "wait: the command buffer was not committed; call commit first");
    if (in_callbacks_of == commands) return final_status(commands);
    const igi_device_backend *backend = commands->queue->device->backend;
    uint64_t deadline = igi_deadline_ns(timeout_ns);
    // A thread that helps cannot observe a timeout: it returns when the work is done. Callbacks may have to help.
    if (backend->assist && (deadline == UINT64_MAX || in_callbacks_of)) backend->assist(commands);
    if (wait_until(commands, deadline)) return final_status(commands);
    return igi_fail_with(IG_STATUS_TIMEOUT,
                         "wait: the command buffer has not finished within the timeout and is still running");
}

ig_commands_state ig_commands_get_state(const ig_commands *commands) {
    ig_commands *mutable = (ig_commands *)commands;
    const igi_device_backend *backend = commands->queue->device->backend;
    if (backend->refresh && !is_inherited(commands) && atomic_load(&mutable->state) == IG_COMMANDS_COMMITTED)
        backend->refresh(mutable);
    ig_commands_state state = (ig_commands_state)atomic_load(&mutable->state);
    if (state >= IG_COMMANDS_COMPLETED && !is_inherited(commands)) igi_device_order_observe(commands);
    return state;
}

ig_status ig_commands_get_error(const ig_commands *commands, ig_error *error) {
    if (!commands) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "get_error: commands is NULL");
    if (is_inherited(commands)) return igi_device_error_forked(error);
    ig_commands *mutable = (ig_commands *)commands;
    pthread_mutex_lock(&mutable->lock);
    ig_status status = commands->error.status;
    if (status == IG_STATUS_OK)
        ig_error_clear(error);
    else
        igi_error_copy(error, &commands->error);
    pthread_mutex_unlock(&mutable->lock);
    return status;
}

void ig_commands_get_timing(const ig_commands *commands, ig_timing *timing) {
    ig_commands *mutable = (ig_commands *)commands;
    *timing = (ig_timing){atomic_load(&mutable->start_ns), atomic_load(&mutable->end_ns)};
}

size_t ig_commands_dispatch_count(const ig_commands *commands) {
    return commands->dispatch_count;
}

ig_status ig_commands_get_dispatch_timing(const ig_commands *commands, size_t index, ig_timing *timing) {
    if (!commands || !timing)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "get_dispatch_timing: commands and timing must not be NULL");
    ig_commands_state state = ig_commands_get_state(commands);
    if (state != IG_COMMANDS_COMPLETED && state != IG_COMMANDS_FAILED)
        return igi_fail_with(IG_STATUS_WRONG_STATE, "get_dispatch_timing: the command buffer is not finished yet");
    for (size_t i = 0; i < commands->command_count; i++) {
        if (commands->commands[i].kind != IGI_COMMAND_DISPATCH || index-- > 0) continue;
        *timing = commands->commands[i].dispatch.timing;
        if (timing->end_ns || state == IG_COMMANDS_FAILED) return IG_STATUS_OK;
        return igi_fail_with(IG_STATUS_UNSUPPORTED,
                             "get_dispatch_timing: this device reports only the time of whole command buffers");
    }
    return igi_fail(IG_STATUS_OUT_OF_RANGE, "get_dispatch_timing: the command buffer has only %zu dispatches",
                    commands->dispatch_count);
}

void igi_device_commands_describe(const ig_commands *commands, const ig_pipeline *pipeline, char *text,
                                  size_t capacity) {
    if (commands->label)
        snprintf(text, capacity, "kernel '%s' in command buffer '%s'", pipeline->kernel.name, commands->label);
    else
        snprintf(text, capacity, "kernel '%s'", pipeline->kernel.name);
}
