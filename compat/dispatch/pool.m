// SPDX-License-Identifier: Apache-2.0
// Threads that run the work of queues. Work may block, so the pool grows up to a limit while no thread is idle.
#import <Foundation/Foundation.h>

#include <stdlib.h>

#include "object.h"

enum { MOST_THREADS = 64 };

typedef struct work_item {
    struct work_item *next;
    void *context;
    dispatch_function_t work;
} work_item;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static work_item *first, **last = &first;
static size_t waiting_items, idle_threads, threads;

static work_item *next_item(void) {
    pthread_mutex_lock(&lock);
    idle_threads++;
    while (!first) pthread_cond_wait(&arrived, &lock);
    idle_threads--;
    work_item *item = first;
    first = item->next;
    if (!first) last = &first;
    waiting_items--;
    pthread_mutex_unlock(&lock);
    return item;
}

static void *run_items(void *unused) {
    (void)unused;
    for (;;) {
        work_item item = {0};
        work_item *taken = next_item();
        item = *taken;
        free(taken);
        @autoreleasepool {
            item.work(item.context);
        }
    }
    return NULL;
}

// Call with the lock held. Failing to start a thread does not matter while there is another.
static void add_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_items, NULL) != 0) {
        if (threads == 0) abort();
        return;
    }
    pthread_detach(thread);
    threads++;
}

void igi_pool_run(void *context, dispatch_function_t work) {
    work_item *item = malloc(sizeof *item);
    if (!item) abort();
    *item = (work_item){.context = context, .work = work};
    pthread_mutex_lock(&lock);
    *last = item;
    last = &item->next;
    waiting_items++;
    if (waiting_items > idle_threads && threads < MOST_THREADS) add_thread();
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
}
