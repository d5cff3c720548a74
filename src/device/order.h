// SPDX-License-Identifier: Apache-2.0
// What comes before what, between the queues of a device and the host: by the order of a queue, by events, and by waiting
// for the end of command buffers. Kept while races are checked, as vector clocks: of each queue, the number of the last
// command that is known to have ended. All threads of the host count as one.
#ifndef INGOT_DEVICE_ORDER_H
#define INGOT_DEVICE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <ingot/device.h>

// Queues beyond this number are not tracked.
enum { IGI_ORDER_QUEUES = 16 };

typedef struct igi_device_clock {
    uint64_t at[IGI_ORDER_QUEUES];  // by place of the queue
} igi_device_clock;

// What had happened before an event reached a value.
typedef struct igi_device_signal {
    uint64_t value;
    const struct igi_device_order *of;  // whose queues the clock counts
    igi_device_clock before;
} igi_device_signal;

typedef struct igi_device_signals {
    igi_device_signal *items;  // by value
    size_t count, capacity;
} igi_device_signals;

typedef struct igi_device_order igi_device_order;

// NULL when memory is short.
igi_device_order *igi_device_order_create(void);
void igi_device_order_destroy(igi_device_order *order);

// All that follow do nothing for a device without an order.
void igi_device_order_add_queue(ig_queue *queue);
void igi_device_order_remove_queue(ig_queue *queue);
// Whether commands of several queues may run at the same time.
bool igi_device_order_has_several(const ig_device *device);

void igi_device_order_commit(ig_commands *commands);
// Called by the backend when the commands begin, and when they have ended.
void igi_device_order_begin(const ig_commands *commands);
void igi_device_order_end(ig_commands *commands);
// Numbers the command that begins now, from 1 on within its queue, and sets *before to what came before it. Returns 0 if
// the queue is not tracked.
uint64_t igi_device_order_number(const ig_commands *commands, igi_device_clock *before);
// The host knows that the commands have ended.
void igi_device_order_observe(const ig_commands *commands);
// By a queue, which may be of another device than the event; NULL: by the host. Called before the event has the value,
// and once it has.
void igi_device_order_signal(ig_event *event, uint64_t value, const ig_queue *queue);
void igi_device_order_wait(ig_event *event, uint64_t value, const ig_queue *queue);

#endif
