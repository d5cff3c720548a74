// SPDX-License-Identifier: Apache-2.0
// Queues, and the lifecycle of a command buffer on them.
#include "core/clock.h"
#include "device/metal/metal.h"

// One command buffer in Metal. Held by Metal's completion handler, and by the alarm while there is one.
typedef struct metal_run {
    igi_refcount references;
    ig_commands *commands;  // retained: a late command buffer still runs after it has failed
    igi_alarm alarm;
    bool armed;
    atomic_bool finished;
    igi_task late;
} metal_run;

ig_status igi_metal_queue_open(ig_queue *queue) {
    @autoreleasepool {
        queue->state = [igi_metal(queue->device)->device newCommandQueue];
    }
    return queue->state ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY;
}

void igi_metal_queue_close(ig_queue *queue) {
    @autoreleasepool {
        [(id)queue->state release];
    }
}

static void drop(metal_run *run) {
    if (!igi_ref_drop(&run->references)) return;
    ig_commands_release(run->commands);
    free(run);
}

// ---- Deadlines ----

// The kernel, if there is only one candidate.
static const char *kernel_of(const ig_commands *commands) {
    for (size_t i = 0; commands->dispatch_count == 1 && i < commands->command_count; i++)
        if (commands->commands[i].kind == IGI_COMMAND_DISPATCH)
            return commands->commands[i].dispatch.pipeline->kernel.name;
    return NULL;
}

// Work on a GPU cannot be cancelled: the command buffer fails on time, and what it uses stays alive until the GPU is done.
static void finish_late(igi_task *task) {
    metal_run *run = (metal_run *)((char *)task - offsetof(metal_run, late));
    if (!atomic_exchange(&run->finished, true)) {
        ig_error error = {0};
        const char *kernel = kernel_of(run->commands);
        igi_error_set(&error, IG_STATUS_TIMEOUT, "%s%s%s passed its deadline of %.3f s", kernel ? "kernel '" : "",
                      kernel ? kernel : "a command buffer", kernel ? "'" : "",
                      (double)run->commands->deadline_ns * 1e-9);
        igi_device_commands_finish(run->commands, IG_STATUS_TIMEOUT, &error);
    }
    drop(run);
}

// The watchdog must not run callbacks itself.
static void on_alarm(igi_alarm *alarm) {
    metal_run *run = (metal_run *)((char *)alarm - offsetof(metal_run, alarm));
    igi_pool_submit(igi_metal(run->commands->queue->device)->late, &run->late);
}

static ig_status arm(metal_run *run) {
    ig_commands *commands = run->commands;
    uint64_t deadline;
    if (!commands->deadline_ns || !igi_add(igi_now_ns(), commands->deadline_ns, &deadline)) return IG_STATUS_OK;
    run->late = (igi_task){.run = finish_late};
    run->alarm = (igi_alarm){.deadline_ns = deadline, .flag = &commands->abort, .ring = on_alarm};
    igi_ref_take(&run->references);
    run->armed = true;
    ig_status status = igi_watchdog_arm(igi_metal(commands->queue->device)->watchdog, &run->alarm);
    if (status == IG_STATUS_OK) return status;
    run->armed = false;
    drop(run);
    return status;
}

static void disarm(metal_run *run) {
    if (!run->armed) return;
    igi_watchdog_disarm(igi_metal(run->commands->queue->device)->watchdog, &run->alarm);
    if (!atomic_load(&run->commands->abort)) drop(run);  // it has not fired, and never will
}

// ---- Completion ----

static ig_status status_of(NSError *problem) {
    if (![[problem domain] isEqualToString:MTLCommandBufferErrorDomain]) return IG_STATUS_SYSTEM;
    switch ((MTLCommandBufferError)[problem code]) {
        case MTLCommandBufferErrorTimeout: return IG_STATUS_TIMEOUT;
        case MTLCommandBufferErrorPageFault:
        case MTLCommandBufferErrorInvalidResource: return IG_STATUS_KERNEL_FAULT;
        case MTLCommandBufferErrorOutOfMemory: return IG_STATUS_OUT_OF_MEMORY;
        default: return IG_STATUS_SYSTEM;
    }
}

static void note_times(ig_commands *commands, id<MTLCommandBuffer> buffer) {
    uint64_t start = (uint64_t)([buffer GPUStartTime] * 1e9), end = (uint64_t)([buffer GPUEndTime] * 1e9);
    atomic_store(&commands->start_ns, start);
    atomic_store(&commands->end_ns, end);
    // Metal reports the time of whole command buffers only.
    for (size_t i = 0; commands->dispatch_count == 1 && i < commands->command_count; i++)
        if (commands->commands[i].kind == IGI_COMMAND_DISPATCH)
            commands->commands[i].dispatch.timing = (ig_timing){start, end};
}

static void finish(metal_run *run, id<MTLCommandBuffer> buffer) {
    ig_commands *commands = run->commands;
    ig_status status = IG_STATUS_OK;
    ig_error error = {0};
    note_times(commands, buffer);
    if ([buffer status] != MTLCommandBufferStatusCompleted) {
        const char *text = [[[buffer error] localizedDescription] UTF8String];
        status = igi_error_set(&error, status_of([buffer error]), "%s%s%s", commands->label ? commands->label : "",
                               commands->label ? ": " : "", text ? text : "the command buffer failed");
    }
    igi_device_commands_finish(commands, status, &error);
}

static void forget_buffer(ig_commands *commands) {
    pthread_mutex_lock(&commands->lock);
    [(id)commands->backend_state release];
    commands->backend_state = nil;
    pthread_mutex_unlock(&commands->lock);
}

static void on_completed(metal_run *run, id<MTLCommandBuffer> buffer) {
    @autoreleasepool {
        disarm(run);
        forget_buffer(run->commands);
        if (!atomic_exchange(&run->finished, true)) finish(run, buffer);
        drop(run);
    }
}

// ---- The calls ----

static metal_run *make_run(ig_commands *commands) {
    metal_run *run = igi_calloc(1, sizeof *run);
    if (!run) return NULL;
    igi_ref_init(&run->references);
    run->commands = ig_commands_retain(commands);
    return run;
}

static ig_status commit(ig_commands *commands) {
    id<MTLCommandBuffer> buffer = [(id<MTLCommandQueue>)commands->queue->state commandBuffer];
    if (!buffer) return IG_STATUS_OUT_OF_MEMORY;
    if (commands->label) [buffer setLabel:igi_metal_string(commands->label)];
    ig_status status = igi_metal_encode(commands, buffer);
    metal_run *run = status == IG_STATUS_OK ? make_run(commands) : NULL;
    if (!run) return status == IG_STATUS_OK ? IG_STATUS_OUT_OF_MEMORY : status;
    status = arm(run);
    if (status != IG_STATUS_OK) {
        drop(run);
        return status;
    }
    commands->backend_state = [buffer retain];
    [buffer addCompletedHandler:^(id<MTLCommandBuffer> completed) {
      on_completed(run, completed);
    }];
    [buffer commit];
    return IG_STATUS_OK;
}

ig_status igi_metal_commit(ig_commands *commands) {
    @autoreleasepool {
        return commit(commands);
    }
}

// owns: nil if it has ended.
static id<MTLCommandBuffer> copy_buffer(ig_commands *commands) {
    pthread_mutex_lock(&commands->lock);
    id<MTLCommandBuffer> buffer = [(id)commands->backend_state retain];
    pthread_mutex_unlock(&commands->lock);
    return buffer;
}

// Polling is cheaper than a handler for every command buffer.
void igi_metal_refresh(ig_commands *commands) {
    id<MTLCommandBuffer> buffer = copy_buffer(commands);
    int committed = IG_COMMANDS_COMMITTED;
    @autoreleasepool {
        if (buffer && [buffer status] >= MTLCommandBufferStatusScheduled)
            atomic_compare_exchange_strong(&commands->state, &committed, IG_COMMANDS_RUNNING);
        [buffer release];
    }
}

void igi_metal_assist(ig_commands *commands) {
    id<MTLCommandBuffer> buffer = copy_buffer(commands);
    @autoreleasepool {
        [buffer waitUntilCompleted];
        [buffer release];
    }
}
