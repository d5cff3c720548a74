// SPDX-License-Identifier: Apache-2.0
// Vector clocks of queues, events and the host.
#include "device/order.h"

#include <pthread.h>
#include <string.h>

#include "core/memory.h"
#include "device/objects.h"

struct igi_device_order {
    pthread_mutex_t lock;  // guards all, and the clocks of commands
    igi_device_clock host, queues[IGI_ORDER_QUEUES];
    bool taken[IGI_ORDER_QUEUES];
    unsigned count;  // of queues, with those beyond the limit
    uint64_t created;
};

igi_device_order *igi_device_order_create(void) {
    igi_device_order *made = igi_calloc(1, sizeof *made);
    if (made) pthread_mutex_init(&made->lock, NULL);
    return made;
}

void igi_device_order_destroy(igi_device_order *order) {
    if (!order) return;
    pthread_mutex_destroy(&order->lock);
    free(order);
}

static void join(igi_device_clock *into, const igi_device_clock *from) {
    for (size_t i = 0; i < IGI_ORDER_QUEUES; i++)
        if (from->at[i] > into->at[i]) into->at[i] = from->at[i];
}

// ---- Queues ----

// A place keeps its count when its queue ends: numbers of commands stay unique. Call with the lock held.
static void take_place(igi_device_order *order, ig_queue *queue) {
    uint32_t place = 0;
    while (place < IGI_ORDER_QUEUES && order->taken[place]) place++;
    if (place == IGI_ORDER_QUEUES) return;
    uint64_t last = order->queues[place].at[place];
    order->taken[place] = true;
    order->queues[place] = (igi_device_clock){0};
    order->queues[place].at[place] = last;
    queue->place = place + 1;
}

void igi_device_order_add_queue(ig_queue *queue) {
    igi_device_order *order = queue->device->order;
    if (!order) return;
    pthread_mutex_lock(&order->lock);
    queue->number = ++order->created;
    order->count++;
    pthread_mutex_unlock(&order->lock);
}

void igi_device_order_remove_queue(ig_queue *queue) {
    igi_device_order *order = queue->device->order;
    if (!order) return;
    pthread_mutex_lock(&order->lock);
    order->count--;
    if (queue->place) order->taken[queue->place - 1] = false;
    pthread_mutex_unlock(&order->lock);
}

bool igi_device_order_has_several(const ig_device *device) {
    igi_device_order *order = device->order;
    if (!order) return false;
    pthread_mutex_lock(&order->lock);
    bool several = order->count > 1;
    pthread_mutex_unlock(&order->lock);
    return several;
}

static igi_device_clock *clock_of(igi_device_order *order, const ig_queue *queue) {
    if (!queue) return &order->host;
    return queue->place ? &order->queues[queue->place - 1] : NULL;
}

// ---- Commands ----

void igi_device_order_commit(ig_commands *commands) {
    igi_device_order *order = commands->queue->device->order;
    if (!order) return;
    pthread_mutex_lock(&order->lock);
    if (!commands->queue->place) take_place(order, commands->queue);
    commands->clock = order->host;
    pthread_mutex_unlock(&order->lock);
}

void igi_device_order_begin(const ig_commands *commands) {
    igi_device_order *order = commands->queue->device->order;
    igi_device_clock *clock = order ? clock_of(order, commands->queue) : NULL;
    if (!clock) return;
    pthread_mutex_lock(&order->lock);
    join(clock, &commands->clock);
    pthread_mutex_unlock(&order->lock);
}

void igi_device_order_end(ig_commands *commands) {
    igi_device_order *order = commands->queue->device->order;
    const igi_device_clock *clock = order ? clock_of(order, commands->queue) : NULL;
    if (!clock) return;
    pthread_mutex_lock(&order->lock);
    commands->clock = *clock;
    pthread_mutex_unlock(&order->lock);
}

uint64_t igi_device_order_number(const ig_commands *commands, igi_device_clock *before) {
    igi_device_order *order = commands->queue->device->order;
    igi_device_clock *clock = order ? clock_of(order, commands->queue) : NULL;
    if (!clock) return 0;
    pthread_mutex_lock(&order->lock);
    uint64_t number = ++clock->at[commands->queue->place - 1];
    *before = *clock;
    pthread_mutex_unlock(&order->lock);
    return number;
}

void igi_device_order_observe(const ig_commands *commands) {
    igi_device_order *order = commands->queue->device->order;
    if (!order) return;
    pthread_mutex_lock(&order->lock);
    join(&order->host, &commands->clock);
    pthread_mutex_unlock(&order->lock);
}

// ---- Events ----

// Long lists drop their oldest entries: a wait for a dropped value counts as one for the next value.
static void forget_oldest(igi_device_signals *signals) {
    enum { MOST_SIGNALS = 256 };
    if (signals->count <= MOST_SIGNALS) return;
    if (signals->items[0].of == signals->items[1].of) join(&signals->items[1].before, &signals->items[0].before);
    memmove(signals->items, signals->items + 1, --signals->count * sizeof *signals->items);
}

// Call with the event's lock held.
static void add_signal(igi_device_signals *signals, const igi_device_signal *signal) {
    bool grows = !signals->count || signal->value > signals->items[signals->count - 1].value;
    if (!grows) return;
    if (!igi_grow((void **)&signals->items, &signals->capacity, signals->count + 1, sizeof *signals->items)) return;
    signals->items[signals->count++] = *signal;
    forget_oldest(signals);
}

static igi_device_order *order_of(const ig_event *event, const ig_queue *queue) {
    return queue ? queue->device->order : event->device->order;
}

void igi_device_order_signal(ig_event *event, uint64_t value, const ig_queue *queue) {
    igi_device_order *order = order_of(event, queue);
    if (!order) return;
    igi_device_signal signal = {.value = value, .of = order};
    pthread_mutex_lock(&order->lock);
    const igi_device_clock *clock = clock_of(order, queue);
    if (clock) signal.before = *clock;
    pthread_mutex_unlock(&order->lock);
    pthread_mutex_lock(&event->lock);
    add_signal(&event->signals, &signal);
    pthread_mutex_unlock(&event->lock);
}

// The first signal that reached the value let the waiting end.
void igi_device_order_wait(ig_event *event, uint64_t value, const ig_queue *queue) {
    igi_device_order *order = order_of(event, queue);
    igi_device_clock *clock = order ? clock_of(order, queue) : NULL;
    if (!clock) return;
    pthread_mutex_lock(&event->lock);
    const igi_device_signals *signals = &event->signals;
    size_t i = 0;
    while (i < signals->count && signals->items[i].value < value) i++;
    bool found = i < signals->count && signals->items[i].of == order;
    igi_device_clock before = found ? signals->items[i].before : (igi_device_clock){0};
    pthread_mutex_unlock(&event->lock);
    pthread_mutex_lock(&order->lock);
    join(clock, &before);
    pthread_mutex_unlock(&order->lock);
}
