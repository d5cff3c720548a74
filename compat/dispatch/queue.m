// SPDX-License-Identifier: Apache-2.0
// Queues. A serial queue is a concurrent one in which every item is a barrier.
#include <stdlib.h>
#include <string.h>

#include "object.h"

typedef struct queue_item {
    struct queue_item *next;
    dispatch_queue_t queue;
    void *context;
    dispatch_function_t work;
    bool barrier;
    bool waits;    // its thread waits for its turn and runs the item itself
    bool started;  // for such a thread to see
} queue_item;

struct dispatch_queue_attr_s {
    bool concurrent;
};

struct dispatch_queue_s {
    igi_dispatch_object head;
    char *label;
    bool concurrent;
    bool is_main;  // items wait for dispatch_main
    pthread_mutex_t lock;
    pthread_cond_t turn;
    queue_item *first, **last;
    size_t running;
    bool in_barrier;
};

struct dispatch_queue_attr_s _dispatch_queue_attr_concurrent = {true};
static _Thread_local dispatch_queue_t current;

// ---- Life ----

static void open_queue(dispatch_queue_t queue, const char *label, bool concurrent) {
    queue->label = strdup(label ? label : "");
    queue->concurrent = concurrent;
    queue->last = &queue->first;
    pthread_mutex_init(&queue->lock, NULL);
    igi_dispatch_condition_init(&queue->turn);
}

static void destroy_queue(void *object) {
    dispatch_queue_t queue = object;
    free(queue->label);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->turn);
}

dispatch_queue_t dispatch_queue_create(const char *label, dispatch_queue_attr_t attr) {
    dispatch_queue_t queue = igi_dispatch_create(sizeof *queue, destroy_queue);
    open_queue(queue, label, attr && attr->concurrent);
    return queue;
}

dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(dispatch_queue_attr_t attr,
                                                              dispatch_qos_class_t qos_class, int relative_priority) {
    (void)qos_class, (void)relative_priority;
    return attr;
}

struct dispatch_queue_s _dispatch_main_q;
static struct dispatch_queue_s global_queue;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_immortals(void) {
    open_queue(&global_queue, "com.apple.root.default-qos", true);
    open_queue(&_dispatch_main_q, "com.apple.main-thread", false);
    atomic_init(&global_queue.head.references, IGI_IMMORTAL);
    atomic_init(&_dispatch_main_q.head.references, IGI_IMMORTAL);
    _dispatch_main_q.is_main = true;
}

// For programs that know the main queue as a variable.
__attribute__((constructor)) static void open_early(void) {
    pthread_once(&opened, open_immortals);
}

dispatch_queue_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags) {
    (void)identifier, (void)flags;
    pthread_once(&opened, open_immortals);
    return &global_queue;
}

dispatch_queue_t dispatch_get_main_queue(void) {
    pthread_once(&opened, open_immortals);
    return &_dispatch_main_q;
}

const char *dispatch_queue_get_label(dispatch_queue_t queue) {
    if (!queue) queue = current;
    return queue ? queue->label : dispatch_get_main_queue()->label;
}

// ---- Order ----

static void run_item(void *context);

static bool may_start(const struct dispatch_queue_s *queue, const queue_item *item) {
    return !queue->in_barrier && (!item->barrier || queue->running == 0);
}

static void count_start(dispatch_queue_t queue, const queue_item *item) {
    queue->running++;
    queue->in_barrier = item->barrier;
}

// Starts the items that may run. Call with the lock held.
static void start_items(dispatch_queue_t queue) {
    while (queue->first && may_start(queue, queue->first)) {
        queue_item *item = queue->first;
        if (queue->is_main && !item->waits) break;  // dispatch_main takes it
        queue->first = item->next;
        if (!queue->first) queue->last = &queue->first;
        count_start(queue, item);
        if (item->waits) {
            item->started = true;
            pthread_cond_broadcast(&queue->turn);
        } else {
            igi_pool_run(item, run_item);
        }
    }
    if (queue->is_main) pthread_cond_broadcast(&queue->turn);
}

static void append(dispatch_queue_t queue, queue_item *item) {
    *queue->last = item;
    queue->last = &item->next;
    start_items(queue);
}

static void finish_item(dispatch_queue_t queue) {
    pthread_mutex_lock(&queue->lock);
    queue->running--;
    queue->in_barrier = false;
    start_items(queue);
    pthread_mutex_unlock(&queue->lock);
}

static void run_now(queue_item *item) {
    dispatch_queue_t outer = current;
    current = item->queue;
    item->work(item->context);
    current = outer;
    finish_item(item->queue);
}

static void run_item(void *context) {
    queue_item *item = context;
    dispatch_queue_t queue = item->queue;
    run_now(item);
    free(item);
    dispatch_release(queue);
}

static void add(dispatch_queue_t queue, void *context, dispatch_function_t work, bool barrier) {
    queue_item *item = calloc(1, sizeof *item);
    if (!item) abort();
    *item = (queue_item){.queue = queue, .context = context, .work = work, .barrier = barrier || !queue->concurrent};
    dispatch_retain(queue);
    pthread_mutex_lock(&queue->lock);
    append(queue, item);
    pthread_mutex_unlock(&queue->lock);
}

static void run_in_turn(dispatch_queue_t queue, void *context, dispatch_function_t work, bool barrier) {
    queue_item item = {
        .queue = queue, .context = context, .work = work, .barrier = barrier || !queue->concurrent, .waits = true};
    pthread_mutex_lock(&queue->lock);
    append(queue, &item);
    while (!item.started) pthread_cond_wait(&queue->turn, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
    run_now(&item);
}

void dispatch_main(void) {
    dispatch_queue_t queue = dispatch_get_main_queue();
    for (;;) {
        pthread_mutex_lock(&queue->lock);
        while (!queue->first || queue->first->waits || !may_start(queue, queue->first))
            pthread_cond_wait(&queue->turn, &queue->lock);
        queue_item *item = queue->first;
        queue->first = item->next;
        if (!queue->first) queue->last = &queue->first;
        count_start(queue, item);
        pthread_mutex_unlock(&queue->lock);
        @autoreleasepool {
            run_item(item);
        }
    }
}

// ---- Calls ----

static void call_block(void *block) {
    ((dispatch_block_t)block)();
}

void dispatch_async_f(dispatch_queue_t queue, void *context, dispatch_function_t work) {
    add(queue, context, work, false);
}

void dispatch_async(dispatch_queue_t queue, dispatch_block_t block) {
    add(queue, Block_copy(block), igi_run_block, false);
}

void dispatch_barrier_async(dispatch_queue_t queue, dispatch_block_t block) {
    add(queue, Block_copy(block), igi_run_block, true);
}

void dispatch_sync_f(dispatch_queue_t queue, void *context, dispatch_function_t work) {
    run_in_turn(queue, context, work, false);
}

void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block) {
    run_in_turn(queue, block, call_block, false);
}

void dispatch_barrier_sync(dispatch_queue_t queue, dispatch_block_t block) {
    run_in_turn(queue, block, call_block, true);
}

void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, dispatch_block_t block) {
    dispatch_retain(queue);
    dispatch_async(dispatch_get_global_queue(0, 0), ^{
      dispatch_semaphore_t never = dispatch_semaphore_create(0);
      dispatch_semaphore_wait(never, when);
      dispatch_release(never);
      dispatch_async(queue, block);
      dispatch_release(queue);
    });
}
