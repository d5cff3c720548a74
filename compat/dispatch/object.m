// SPDX-License-Identifier: Apache-2.0
// Reference counting, and semaphores and once, which need little more.
#include "object.h"

#include <stdlib.h>

void *igi_dispatch_create(size_t size, void (*destroy)(void *object)) {
    igi_dispatch_object *object = calloc(1, size);
    if (!object) abort();
    atomic_init(&object->references, 1);
    object->destroy = destroy;
    return object;
}

void dispatch_retain(dispatch_object_t object) {
    igi_dispatch_object *head = object;
    if (head && atomic_load(&head->references) != IGI_IMMORTAL) atomic_fetch_add(&head->references, 1);
}

void dispatch_release(dispatch_object_t object) {
    igi_dispatch_object *head = object;
    if (!head || atomic_load(&head->references) == IGI_IMMORTAL) return;
    if (atomic_fetch_sub(&head->references, 1) != 1) return;
    if (head->finalizer && head->context) head->finalizer(head->context);
    if (head->destroy) head->destroy(head);
    free(head);
}

void *dispatch_get_context(dispatch_object_t object) {
    return ((igi_dispatch_object *)object)->context;
}

void dispatch_set_context(dispatch_object_t object, void *context) {
    ((igi_dispatch_object *)object)->context = context;
}

void dispatch_set_finalizer_f(dispatch_object_t object, dispatch_function_t finalizer) {
    ((igi_dispatch_object *)object)->finalizer = finalizer;
}

void igi_run_block(void *block) {
    ((dispatch_block_t)block)();
    Block_release(block);
}

// ---- Semaphores ----

struct dispatch_semaphore_s {
    igi_dispatch_object head;
    pthread_mutex_t lock;
    pthread_cond_t risen;
    intptr_t value;
    intptr_t waiting;
};

static void destroy_semaphore(void *object) {
    dispatch_semaphore_t semaphore = object;
    pthread_mutex_destroy(&semaphore->lock);
    pthread_cond_destroy(&semaphore->risen);
}

dispatch_semaphore_t dispatch_semaphore_create(intptr_t value) {
    if (value < 0) return NULL;
    dispatch_semaphore_t semaphore = igi_dispatch_create(sizeof *semaphore, destroy_semaphore);
    pthread_mutex_init(&semaphore->lock, NULL);
    igi_dispatch_condition_init(&semaphore->risen);
    semaphore->value = value;
    return semaphore;
}

intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout) {
    bool in_time = true;
    pthread_mutex_lock(&semaphore->lock);
    semaphore->waiting++;
    while (semaphore->value == 0 && in_time) in_time = igi_dispatch_wait(&semaphore->risen, &semaphore->lock, timeout);
    semaphore->waiting--;
    bool taken = semaphore->value > 0;
    if (taken) semaphore->value--;
    pthread_mutex_unlock(&semaphore->lock);
    return taken ? 0 : 1;
}

intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore) {
    pthread_mutex_lock(&semaphore->lock);
    bool woke = semaphore->waiting > 0;
    semaphore->value++;
    pthread_cond_signal(&semaphore->risen);
    pthread_mutex_unlock(&semaphore->lock);
    return woke;
}

// ---- Once ----

enum { NOT_YET = 0, UNDER_WAY = 1, DONE = -1 };
static pthread_mutex_t once_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t once_done = PTHREAD_COND_INITIALIZER;

void dispatch_once_f(dispatch_once_t *predicate, void *context, dispatch_function_t function) {
    if (__atomic_load_n(predicate, __ATOMIC_ACQUIRE) == DONE) return;
    pthread_mutex_lock(&once_lock);
    while (*predicate == UNDER_WAY) pthread_cond_wait(&once_done, &once_lock);
    bool mine = *predicate == NOT_YET;
    if (mine) __atomic_store_n(predicate, UNDER_WAY, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&once_lock);
    if (!mine) return;
    function(context);
    pthread_mutex_lock(&once_lock);
    __atomic_store_n(predicate, DONE, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&once_done);
    pthread_mutex_unlock(&once_lock);
}

static void call_block(void *block) {
    ((dispatch_block_t)block)();
}

void dispatch_once(dispatch_once_t *predicate, dispatch_block_t block) {
    dispatch_once_f(predicate, block, call_block);
}
