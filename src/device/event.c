// SPDX-License-Identifier: Apache-2.0
// Events: counters that only grow.
#include <errno.h>

#include "core/clock.h"
#include "device/backend.h"

ig_status ig_event_create(ig_device *device, ig_event **event) {
    if (!device || !event)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "event_create: device and event must not be NULL");
    if (igi_device_is_inherited(device)) return igi_device_fail_forked();
    ig_event *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_fail_no_memory();
    igi_ref_init(&made->references);
    made->device = device;
    ig_status status = device->backend->event_open ? device->backend->event_open(made) : IG_STATUS_OK;
    if (status != IG_STATUS_OK) {
        free(made);
        return igi_fail(status, "event_create: the device could not create an event: %s", ig_status_text(status));
    }
    ig_device_retain(device);
    pthread_mutex_init(&made->lock, NULL);
    igi_monotonic_cond_init(&made->changed);
    *event = made;
    return IG_STATUS_OK;
}

ig_event *ig_event_retain(ig_event *event) {
    if (event) igi_ref_take(&event->references);
    return event;
}

void ig_event_release(ig_event *event) {
    if (!event || igi_device_is_inherited(event->device) || !igi_ref_drop(&event->references)) return;
    if (event->device->backend->event_close) event->device->backend->event_close(event);
    pthread_mutex_destroy(&event->lock);
    pthread_cond_destroy(&event->changed);
    free(event->signals.items);
    ig_device_release(event->device);
    free(event);
}

uint64_t ig_event_value(const ig_event *event) {
    ig_event *mutable = (ig_event *)event;
    if (igi_device_is_inherited(event->device)) return event->value;
    pthread_mutex_lock(&mutable->lock);
    uint64_t value = event->value;
    pthread_mutex_unlock(&mutable->lock);
    igi_device_order_wait(mutable, value, NULL);
    return value;
}

// Removes the waiters whose value is reached from the event's list.
static igi_device_event_waiter *take_ready(ig_event *event) {
    igi_device_event_waiter *ready = NULL, **link = &event->waiters;
    while (*link) {
        igi_device_event_waiter *waiter = *link;
        if (waiter->value > event->value) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        waiter->next = ready;
        ready = waiter;
    }
    return ready;
}

static void signal_device(ig_event *event, uint64_t value) {
    event->device->backend->event_signal(event, value);
    ig_event_release(event);
}

// Call with the lock held.
static igi_device_event_waiter *reach(ig_event *event, uint64_t value) {
    if (value > event->value) event->value = value;
    pthread_cond_broadcast(&event->changed);
    return take_ready(event);
}

static void wake_all(igi_device_event_waiter *ready) {
    while (ready) {
        igi_device_event_waiter *next = ready->next;  // wake may free it
        ready->wake(ready->user);
        ready = next;
    }
}

// A thread that waited for the value may release the event as soon as the lock is free.
void igi_device_event_signal(ig_event *event, uint64_t value, const ig_queue *queue) {
    igi_device_order_signal(event, value, queue);
    pthread_mutex_lock(&event->lock);
    igi_device_event_waiter *ready = reach(event, value);
    uint64_t reached = event->value;
    ig_event *told = event->device->backend->event_signal ? ig_event_retain(event) : NULL;
    pthread_mutex_unlock(&event->lock);
    if (told) signal_device(told, reached);
    wake_all(ready);
}

ig_status ig_event_signal(ig_event *event, uint64_t value) {
    if (!event) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "event_signal: the event is NULL");
    if (igi_device_is_inherited(event->device)) return igi_device_fail_forked();
    igi_device_event_signal(event, value, NULL);
    return IG_STATUS_OK;
}

void igi_device_event_reached(ig_event *event, uint64_t value) {
    pthread_mutex_lock(&event->lock);
    igi_device_event_waiter *ready = reach(event, value);
    pthread_mutex_unlock(&event->lock);
    wake_all(ready);
}

bool igi_device_event_leave_waiter(ig_event *event, igi_device_event_waiter *waiter) {
    pthread_mutex_lock(&event->lock);
    bool reached = event->value >= waiter->value;
    if (!reached) {
        waiter->next = event->waiters;
        event->waiters = waiter;
    }
    pthread_mutex_unlock(&event->lock);
    return reached;
}

bool igi_device_event_take_waiter(ig_event *event, igi_device_event_waiter *waiter) {
    pthread_mutex_lock(&event->lock);
    igi_device_event_waiter **link = &event->waiters;
    while (*link && *link != waiter) link = &(*link)->next;
    bool found = *link != NULL;
    if (found) *link = waiter->next;
    pthread_mutex_unlock(&event->lock);
    return found;
}

ig_status ig_event_wait(ig_event *event, uint64_t value, uint64_t timeout_ns) {
    if (!event) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "event_wait: the event is NULL");
    if (igi_device_is_inherited(event->device)) return igi_device_fail_forked();
    uint64_t deadline = igi_deadline_ns(timeout_ns);
    pthread_mutex_lock(&event->lock);
    int failed = 0;
    while (event->value < value && failed != ETIMEDOUT)
        failed = igi_cond_wait_until(&event->changed, &event->lock, deadline);
    bool reached = event->value >= value;
    pthread_mutex_unlock(&event->lock);
    if (reached) igi_device_order_wait(event, value, NULL);
    if (reached) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_TIMEOUT, "event_wait: the event did not reach %llu in time", (unsigned long long)value);
}
