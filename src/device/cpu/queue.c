// SPDX-License-Identifier: Apache-2.0
// Queues of the software device: command buffers in order, run by one thread at a time, which is a worker or a thread
// that waits.
#include <string.h>

#include "core/clock.h"
#include "device/cpu/capture.h"
#include "device/cpu/check.h"
#include "device/cpu/cpu.h"
#include "device/cpu/log.h"
#include "device/execute.h"
#include "device/findings.h"
#include "device/profile.h"
#include "device/texture.h"

typedef struct cpu_queue {
    ig_queue *owner;
    igi_task task;
    igi_device_event_waiter waiter;  // for the event the first command buffer waits for
    pthread_mutex_t lock;            // guards what follows
    ig_commands *first, **last;
    size_t position;   // next command of the first command buffer
    bool scheduled;    // the task is in the pool
    bool running;      // some thread runs the queue
    bool calling;      // and runs the callbacks of a finished command buffer
    bool blocked;      // the waiter is registered with an event
    pthread_t runner;  // the thread, while running
    uint64_t turn;     // incremented when a thread takes the queue
    igi_alarm alarm;
    bool armed;
    cpu_log log;
} cpu_queue;

// ---- Scheduling ----

// Hands the queue to the pool when there is work and no thread runs it. Call with the lock held.
static void schedule(cpu_queue *queue) {
    if (!queue->first || queue->blocked || queue->running || queue->scheduled) return;
    queue->scheduled = true;
    ig_queue_retain(queue->owner);  // until the task has run
    igi_pool_submit(igi_cpu(queue->owner->device)->pool, &queue->task);
}

// Makes this thread the one that runs the queue. Call with the lock held.
static uint64_t take(cpu_queue *queue) {
    queue->running = true;
    queue->calling = false;
    queue->runner = pthread_self();
    return ++queue->turn;
}

static void wake(void *user) {
    cpu_queue *queue = user;
    ig_queue *owner = queue->owner;
    pthread_mutex_lock(&queue->lock);
    queue->blocked = false;
    schedule(queue);
    pthread_mutex_unlock(&queue->lock);
    ig_queue_release(owner);  // held while the waiter was with the event
}

// The deadline has passed: a command buffer that waits for an event stops waiting.
static void stop_waiting(cpu_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    bool waiting = queue->blocked &&
                   igi_device_event_take_waiter(queue->first->commands[queue->position].event.event, &queue->waiter);
    pthread_mutex_unlock(&queue->lock);
    if (waiting) wake(queue);
}

static void on_alarm(igi_alarm *alarm) {
    stop_waiting((cpu_queue *)((char *)alarm - offsetof(cpu_queue, alarm)));
}

// ---- Running ----

static ig_status start(cpu_queue *queue, ig_commands *commands) {
    uint64_t now = igi_now_ns();
    atomic_store(&commands->state, IG_COMMANDS_RUNNING);
    atomic_store(&commands->start_ns, now);
    igi_device_order_begin(commands);
    if (!commands->deadline_ns) return IG_STATUS_OK;
    uint64_t deadline;
    if (!igi_add(now, commands->deadline_ns, &deadline)) return IG_STATUS_OK;
    queue->alarm = (igi_alarm){.deadline_ns = deadline, .flag = &commands->abort, .ring = on_alarm};
    ig_status status = igi_watchdog_arm(igi_cpu(queue->owner->device)->watchdog, &queue->alarm);
    queue->armed = status == IG_STATUS_OK;
    return status;
}

static ig_status run_dispatch(ig_commands *commands, igi_device_dispatch *dispatch, ig_error *error) {
    bool captures = igi_cpu(commands->queue->device)->keeps_origins;
    cpu_capture *capture = captures ? igi_cpu_capture_begin(commands, dispatch) : NULL;
    dispatch->timing.start_ns = igi_now_ns();
    ig_status status = igi_cpu_dispatch(commands, dispatch, error);
    dispatch->timing.end_ns = igi_now_ns();
    igi_cpu_log_end(commands, dispatch->pipeline->kernel.name);
    igi_cpu_capture_end(capture, status, error);
    return status;
}

// Of an indirect command buffer: nobody counts it later.
static ig_status run_and_count(ig_commands *commands, igi_device_dispatch *dispatch, ig_error *error) {
    ig_status status = run_dispatch(commands, dispatch, error);
    if (commands->queue->device->profile) igi_device_profile_dispatch(commands, dispatch);
    return status;
}

static ig_status run_command(ig_commands *commands, igi_device_command *command, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    switch (command->kind) {
        case IGI_COMMAND_DISPATCH: status = run_dispatch(commands, &command->dispatch, error); break;
        case IGI_COMMAND_COPY:
            memmove((char *)command->blit.target->memory + command->blit.target_offset,
                    (const char *)command->blit.source->memory + command->blit.source_offset, command->blit.length);
            igi_cpu_check_written(command->blit.target, command->blit.target_offset, command->blit.length);
            break;
        case IGI_COMMAND_FILL:
            memset((char *)command->blit.target->memory + command->blit.target_offset, command->blit.value,
                   command->blit.length);
            igi_cpu_check_written(command->blit.target, command->blit.target_offset, command->blit.length);
            break;
        case IGI_COMMAND_SIGNAL_EVENT:
            igi_device_event_signal(command->event.event, command->event.value, commands->queue);
            break;
        case IGI_COMMAND_WAIT_EVENT:
            if (atomic_load(&commands->abort))
                status = igi_error_set(error, IG_STATUS_TIMEOUT,
                                       "a command buffer waited for an event past its deadline of %.3f s",
                                       (double)commands->deadline_ns * 1e-9);
            else
                igi_device_order_wait(command->event.event, command->event.value, commands->queue);
            break;
        case IGI_COMMAND_EXECUTE:
            status = igi_device_execute(commands, command->execution, igi_cpu(commands->queue->device)->schedule,
                                        run_and_count, error);
            break;
        case IGI_COMMAND_PIXELS: igi_device_copy_pixels(command->pixels); break;
        case IGI_COMMAND_MIPMAPS: igi_device_fill_levels(command->mipmaps); break;
        case IGI_COMMAND_PRODUCT:  // of devices that have them; here kernels do
        case IGI_COMMAND_BARRIER: break;
    }
    return status;
}

static void set_blocked(cpu_queue *queue, bool blocked) {
    pthread_mutex_lock(&queue->lock);
    queue->blocked = blocked;
    pthread_mutex_unlock(&queue->lock);
}

// Returns true if there is nothing left to wait for; otherwise the event or the alarm will wake the queue.
static bool pass_event(cpu_queue *queue, ig_commands *commands, const igi_device_command *command) {
    if (atomic_load(&commands->abort)) return true;
    queue->waiter = (igi_device_event_waiter){.value = command->event.value, .wake = wake, .user = queue};
    ig_queue_retain(queue->owner);
    set_blocked(queue, true);  // first: the wake may come at once
    if (igi_device_event_leave_waiter(command->event.event, &queue->waiter)) {
        set_blocked(queue, false);
        ig_queue_release(queue->owner);
        return true;
    }
    if (atomic_load(&commands->abort)) stop_waiting(queue);  // the alarm may have rung before the waiter was there
    return false;
}

static void finish(cpu_queue *queue, ig_commands *commands, ig_status status, ig_error *error) {
    if (queue->armed) igi_watchdog_disarm(igi_cpu(queue->owner->device)->watchdog, &queue->alarm);
    queue->armed = false;
    atomic_store(&commands->end_ns, igi_now_ns());
    igi_device_order_end(commands);
    pthread_mutex_lock(&queue->lock);
    queue->first = commands->next;
    if (!queue->first) queue->last = &queue->first;
    queue->position = 0;
    queue->calling = true;
    pthread_mutex_unlock(&queue->lock);
    igi_device_commands_finish(commands, status, error);
}

// Continues the first command buffer. False when it waits for an event.
static bool run_first(cpu_queue *queue, ig_commands *commands) {
    ig_error error = {0};
    ig_status status = IG_STATUS_OK;
    if (queue->position == 0 && atomic_load(&commands->state) == IG_COMMANDS_COMMITTED) status = start(queue, commands);
    if (status != IG_STATUS_OK) igi_error_set(&error, status, "cannot start the watchdog for the deadline");
    while (status == IG_STATUS_OK && queue->position < commands->command_count) {
        igi_device_command *command = &commands->commands[queue->position];
        if (command->kind == IGI_COMMAND_WAIT_EVENT && !pass_event(queue, commands, command)) return false;
        status = run_command(commands, command, &error);
        queue->position++;
    }
    if (status == IG_STATUS_OK) status = igi_device_findings_status(&commands->findings, &error);
    finish(queue, commands, status, &error);
    return true;
}

// Returns when the queue is empty or blocked, `until` is finished, or a callback had to take over the queue.
static void run(cpu_queue *queue, uint64_t turn, const ig_commands *until) {
    bool reached = false;
    for (;;) {
        pthread_mutex_lock(&queue->lock);
        bool lost = queue->turn != turn;
        ig_commands *commands = queue->blocked || reached ? NULL : queue->first;
        if (!lost) queue->calling = false;
        if (!lost && !commands) break;
        pthread_mutex_unlock(&queue->lock);
        if (lost) return;
        reached = run_first(queue, commands) && commands == until;
    }
    queue->running = false;
    schedule(queue);
    pthread_mutex_unlock(&queue->lock);
}

static void run_task(igi_task *task) {
    cpu_queue *queue = (cpu_queue *)((char *)task - offsetof(cpu_queue, task));
    ig_queue *owner = queue->owner;
    pthread_mutex_lock(&queue->lock);
    queue->scheduled = false;
    bool mine = !queue->running;
    uint64_t turn = mine ? take(queue) : 0;
    pthread_mutex_unlock(&queue->lock);
    if (mine) run(queue, turn, NULL);
    ig_queue_release(owner);
}

// ---- The backend's calls ----

ig_status igi_cpu_queue_open(ig_queue *owner) {
    cpu_queue *queue = igi_calloc(1, sizeof *queue);
    if (!queue) return IG_STATUS_OUT_OF_MEMORY;
    queue->owner = owner;
    queue->task.run = run_task;
    queue->last = &queue->first;
    pthread_mutex_init(&queue->lock, NULL);
    owner->state = queue;
    return IG_STATUS_OK;
}

cpu_log *igi_cpu_queue_log(ig_queue *owner) {
    return &((cpu_queue *)owner->state)->log;
}

void igi_cpu_queue_close(ig_queue *owner) {
    cpu_queue *queue = owner->state;
    ig_buffer_release(queue->log.buffer);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

ig_status igi_cpu_commit(ig_commands *commands) {
    cpu_queue *queue = commands->queue->state;
    pthread_mutex_lock(&queue->lock);
    commands->next = NULL;
    *queue->last = commands;
    queue->last = &commands->next;
    schedule(queue);
    pthread_mutex_unlock(&queue->lock);
    return IG_STATUS_OK;
}

static bool is_pending(const cpu_queue *queue, const ig_commands *commands) {
    const ig_commands *at = queue->first;
    while (at && at != commands) at = at->next;
    return at != NULL;
}

void igi_cpu_assist(ig_commands *commands) {
    cpu_queue *queue = commands->queue->state;
    pthread_mutex_lock(&queue->lock);
    // A callback that waits for a later command buffer of its own queue would block it.
    if (queue->running && queue->calling && pthread_equal(queue->runner, pthread_self())) {
        queue->running = false;
        queue->turn++;
    }
    bool mine = !queue->running && !queue->blocked && is_pending(queue, commands);
    uint64_t turn = mine ? take(queue) : 0;
    schedule(queue);
    pthread_mutex_unlock(&queue->lock);
    if (mine) run(queue, turn, commands);
}

ig_status igi_cpu_run_here(ig_commands *commands, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    atomic_store_explicit(&commands->abort, 0, memory_order_relaxed);
    bool profiled = commands->queue->device->profile != NULL;
    for (size_t i = 0; i < commands->command_count && status == IG_STATUS_OK; i++) {
        igi_device_dispatch *dispatch = &commands->commands[i].dispatch;
        if (profiled) dispatch->timing.start_ns = igi_now_ns();
        status = igi_cpu_dispatch(commands, dispatch, error);
        if (profiled) igi_device_profile_stay(commands, dispatch);
    }
    return status;
}
