// SPDX-License-Identifier: Apache-2.0
// Worker threads: tasks that run once, and loops that idle workers join.
#include "core/pool.h"

#include <pthread.h>
#include <sched.h>

#include "core/clock.h"
#include "core/memory.h"

// Below this a loop is over before a sleeping worker would have begun.
static const uint64_t worth_sharing_ns = 10000;

typedef struct loop {
    uint64_t count, chunk;
    igi_loop_body body;
    void *context;
    atomic_uint_fast64_t next;
    uint32_t helpers;  // guarded by the pool's lock
    struct loop *link;
} loop;

struct igi_pool {
    pthread_mutex_t lock;  // guards what follows
    pthread_cond_t work, idle;
    igi_task *first, **last;
    loop *loops;
    uint32_t threads, alive, sleeping;
    bool ending, abandoned;  // abandoned: the last thread frees the pool
};

static _Thread_local igi_pool *pool_of_this_thread;

// False when none is left. Never takes `next` past the end: near 2^64 it would start over.
static bool take_chunk(loop *l, uint64_t *begin, uint64_t *end) {
    *begin = atomic_load_explicit(&l->next, memory_order_relaxed);
    do {
        uint64_t left = l->count - *begin;
        if (!left) return false;
        *end = *begin + (left < l->chunk ? left : l->chunk);
    } while (!atomic_compare_exchange_weak_explicit(&l->next, begin, *end, memory_order_relaxed, memory_order_relaxed));
    return true;
}

static void run_chunks(loop *l) {
    uint64_t begin, end;
    while (take_chunk(l, &begin, &end)) l->body(l->context, begin, end);
}

static loop *joinable(const igi_pool *pool) {
    for (loop *l = pool->loops; l; l = l->link)
        if (l->helpers + 1 < pool->threads && atomic_load_explicit(&l->next, memory_order_relaxed) < l->count) return l;
    return NULL;
}

static void help(igi_pool *pool, loop *l) {
    l->helpers++;
    pthread_mutex_unlock(&pool->lock);
    run_chunks(l);
    pthread_mutex_lock(&pool->lock);
    if (--l->helpers == 0) pthread_cond_broadcast(&pool->idle);
}

static void run_task(igi_pool *pool) {
    igi_task *task = pool->first;
    pool->first = task->next;
    if (!pool->first) pool->last = &pool->first;
    pthread_mutex_unlock(&pool->lock);
    task->run(task);
    pthread_mutex_lock(&pool->lock);
}

static void free_pool(igi_pool *pool) {
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->idle);
    free(pool);
}

static void *work(void *argument) {
    igi_pool *pool = pool_of_this_thread = argument;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        loop *l = joinable(pool);
        if (l) {
            help(pool, l);
        } else if (pool->first) {
            run_task(pool);
        } else if (pool->ending) {
            break;
        } else {
            pool->sleeping++;
            pthread_cond_wait(&pool->work, &pool->lock);
            pool->sleeping--;
        }
    }
    bool last = --pool->alive == 0, free_it = last && pool->abandoned;
    if (last) pthread_cond_broadcast(&pool->idle);
    pthread_mutex_unlock(&pool->lock);
    if (free_it) free_pool(pool);
    return NULL;
}

static bool start_thread(igi_pool *pool) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, pool) != 0) return false;
    pthread_detach(thread);
    return true;
}

igi_pool *igi_pool_create(uint32_t thread_count) {
    igi_pool *pool = igi_calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->idle, NULL);
    pool->last = &pool->first;
    pool->threads = thread_count;
    for (uint32_t i = 0; i < thread_count; i++) {
        pthread_mutex_lock(&pool->lock);
        pool->alive++;
        pthread_mutex_unlock(&pool->lock);
        if (start_thread(pool)) continue;
        pthread_mutex_lock(&pool->lock);
        pool->alive--;
        pthread_mutex_unlock(&pool->lock);
        igi_pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void igi_pool_destroy(igi_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pool->abandoned = pool_of_this_thread == pool;
    bool abandoned = pool->abandoned;
    pthread_cond_broadcast(&pool->work);
    while (!abandoned && pool->alive) pthread_cond_wait(&pool->idle, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    if (!abandoned) free_pool(pool);
}

void igi_pool_submit(igi_pool *pool, igi_task *task) {
    pthread_mutex_lock(&pool->lock);
    task->next = NULL;
    *pool->last = task;
    pool->last = &task->next;
    if (pool->sleeping) pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

// ---- Loops ----

// Runs chunks alone until the loop ends or has lasted long enough to be shared; true when something is left.
static bool run_alone(loop *l) {
    uint64_t start = igi_now_ns();
    while (atomic_load_explicit(&l->next, memory_order_relaxed) < l->count) {
        uint64_t begin = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
        l->body(l->context, begin, begin + 1);
        if (igi_now_ns() - start > worth_sharing_ns) return begin + 1 < l->count;
    }
    return false;
}

static void unlink_loop(igi_pool *pool, const loop *l) {
    loop **link = &pool->loops;
    while (*link != l) link = &(*link)->link;
    *link = l->link;
}

static void run_shared(igi_pool *pool, loop *l) {
    pthread_mutex_lock(&pool->lock);
    l->link = pool->loops;
    pool->loops = l;
    if (pool->sleeping) pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    run_chunks(l);
    pthread_mutex_lock(&pool->lock);
    unlink_loop(pool, l);
    while (l->helpers) pthread_cond_wait(&pool->idle, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void igi_pool_loop(igi_pool *pool, uint64_t count, igi_loop_body body, void *context) {
    uint64_t chunk = count / ((uint64_t)pool->threads * 32);
    loop l = {.count = count, .chunk = chunk ? chunk : 1, .body = body, .context = context};
    if (run_alone(&l)) {
        if (pool->threads > 1)
            run_shared(pool, &l);
        else
            run_chunks(&l);
    }
}
