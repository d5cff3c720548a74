// SPDX-License-Identifier: Apache-2.0
// Groups, and loops whose iterations run in parallel.
#include <stdlib.h>
#include <unistd.h>

#include "object.h"

typedef struct notification {
    struct notification *next;
    dispatch_queue_t queue;
    dispatch_block_t block;
} notification;

struct dispatch_group_s {
    igi_dispatch_object head;
    pthread_mutex_t lock;
    pthread_cond_t emptied;
    size_t members;
    notification *notifications;
};

static void destroy_group(void *object) {
    dispatch_group_t group = object;
    pthread_mutex_destroy(&group->lock);
    pthread_cond_destroy(&group->emptied);
}

dispatch_group_t dispatch_group_create(void) {
    dispatch_group_t group = igi_dispatch_create(sizeof *group, destroy_group);
    pthread_mutex_init(&group->lock, NULL);
    igi_dispatch_condition_init(&group->emptied);
    return group;
}

void dispatch_group_enter(dispatch_group_t group) {
    dispatch_retain(group);  // until it leaves
    pthread_mutex_lock(&group->lock);
    group->members++;
    pthread_mutex_unlock(&group->lock);
}

static void send(notification *list) {
    while (list) {
        notification *next = list->next;
        dispatch_async(list->queue, list->block);
        Block_release(list->block);
        dispatch_release(list->queue);
        free(list);
        list = next;
    }
}

void dispatch_group_leave(dispatch_group_t group) {
    notification *ready = NULL;
    pthread_mutex_lock(&group->lock);
    if (--group->members == 0) {
        ready = group->notifications;
        group->notifications = NULL;
        pthread_cond_broadcast(&group->emptied);
    }
    pthread_mutex_unlock(&group->lock);
    send(ready);
    dispatch_release(group);
}

void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block) {
    dispatch_group_enter(group);
    dispatch_async(queue, ^{
      block();
      dispatch_group_leave(group);
    });
}

void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block) {
    notification *added = malloc(sizeof *added);
    if (!added) abort();
    dispatch_retain(queue);
    *added = (notification){.queue = queue, .block = Block_copy(block)};
    pthread_mutex_lock(&group->lock);
    bool now = group->members == 0;
    notification **link = &group->notifications;
    while (!now && *link) link = &(*link)->next;
    if (!now) *link = added;
    pthread_mutex_unlock(&group->lock);
    if (now) send(added);
}

intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout) {
    bool in_time = true;
    pthread_mutex_lock(&group->lock);
    while (group->members > 0 && in_time) in_time = igi_dispatch_wait(&group->emptied, &group->lock, timeout);
    bool empty = group->members == 0;
    pthread_mutex_unlock(&group->lock);
    return empty ? 0 : 1;
}

// ---- Apply ----

static size_t helpers_for(size_t iterations) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = cores > 1 ? (size_t)cores - 1 : 0;
    return iterations - 1 < most ? iterations - 1 : most;
}

void dispatch_apply(size_t iterations, dispatch_queue_t queue, void (^block)(size_t iteration)) {
    if (iterations == 0) return;
    if (!queue) queue = dispatch_get_global_queue(0, 0);
    __block atomic_size_t next = 0;
    dispatch_block_t take_turns = ^{
      for (size_t i = atomic_fetch_add(&next, 1); i < iterations; i = atomic_fetch_add(&next, 1)) block(i);
    };
    dispatch_group_t group = dispatch_group_create();
    for (size_t i = helpers_for(iterations); i > 0; i--) dispatch_group_async(group, queue, take_turns);
    take_turns();
    dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
    dispatch_release(group);
}

void dispatch_apply_f(size_t iterations, dispatch_queue_t queue, void *context, void (*work)(void *, size_t)) {
    dispatch_apply(iterations, queue, ^(size_t iteration) {
      work(context, iteration);
    });
}
