// SPDX-License-Identifier: Apache-2.0
// Worker threads: tasks that run once, and loops that idle workers join.
#include "core/pool.h"

#include <pthread.h>
#include <stdalign.h>

#include "core/clock.h"
#include "core/forked.h"
#include "core/host.h"
#include "core/loop-row.h"
#include "core/memory.h"
#include "core/pause.h"

// A loop shorter than the first value ends before a sleeping worker has started; one shorter than the second, before a
// worker that is awake.
static const uint64_t worth_waking_ns = 10000, worth_sharing_ns = 1500;
// It is better to wait for the core whose cache holds the data than to take over the rest of its work.
static const uint64_t patience_ns = 20000;
// Loops often follow each other closely: how long a worker stays awake after one, and the caller after its share of the
// work.
static const uint64_t awake_ns = 50000;

enum { MAX_PARTS = 64, CACHE_LINE = 64 };

// A loop is cut into as many parts as there are threads. Each thread begins with the part of the core it runs on, so
// that the next loop over the same data finds it in the same cache, and then helps with the others.
typedef struct part {
    alignas(CACHE_LINE) atomic_uint_fast64_t next;
    uint64_t end, length;
} part;

typedef struct loop {
    igi_loop_body body;
    void *context;
    uint32_t part_count;
    int core;             // of the thread that made it
    atomic_uint helpers;  // changed under the pool's lock
    struct loop *link;
    part parts[MAX_PARTS];
} loop;

struct igi_pool {
    pthread_mutex_t lock;  // guards what follows
    pthread_cond_t work, idle;
    igi_task *first, **last;
    loop *loops;
    uint32_t threads, alive, sleeping;
    uint32_t process;        // igi_process_number: the threads exist only in that process
    bool ending, abandoned;  // abandoned: the last thread frees the pool
    atomic_uint awake;       // workers that are idle but not asleep yet
    atomic_uint news;        // changes whenever there is new work
    igi_loop_row alone;      // loops for which no worker was woken
};

static _Thread_local igi_pool *pool_of_this_thread;

// ---- Parts of a loop ----

static void cut(loop *l, uint64_t count, uint32_t threads) {
    l->part_count = threads < MAX_PARTS ? threads : MAX_PARTS;
    uint64_t length = count / l->part_count;
    for (uint32_t i = 0; i < l->part_count; i++) {
        atomic_init(&l->parts[i].next, i * length);
        l->parts[i].end = i + 1 < l->part_count ? (i + 1) * length : count;
        l->parts[i].length = l->parts[i].end - i * length;
    }
}

static uint64_t left_in(const part *p) {
    return p->end - atomic_load_explicit(&p->next, memory_order_relaxed);
}

static bool is_open(const loop *l) {
    for (uint32_t i = 0; i < l->part_count; i++)
        if (left_in(&l->parts[i])) return true;
    return false;
}

// The less work is left, the smaller the piece, so that all threads finish at the same time; at most `most`. Returns
// false when nothing is left. Never moves `next` past the end: near 2^64 it would wrap.
static bool take_piece(part *p, uint64_t most, uint64_t *begin, uint64_t *end) {
    *begin = atomic_load_explicit(&p->next, memory_order_relaxed);
    do {
        uint64_t left = p->end - *begin, length = left / 8 < most ? left / 8 : most;
        if (!left) return false;
        *end = *begin + (length ? length : 1);
    } while (!atomic_compare_exchange_weak_explicit(&p->next, begin, *end, memory_order_relaxed, memory_order_relaxed));
    return true;
}

static void let_finish(const part *p) {
    if (!left_in(p) || left_in(p) > p->length / 8) return;
    uint64_t until = igi_now_ns() + patience_ns;
    while (left_in(p) && igi_now_ns() < until)
        for (int i = 0; i < 32; i++) igi_pause();
}

// The part of the core, or of the `number`th thread if cores are not known.
static uint32_t home_part(const loop *l, uint32_t number) {
    int core = igi_host_this_core();
    return (core < 0 ? number : (uint32_t)core) % l->part_count;
}

static void run_pieces(loop *l, uint32_t number) {
    uint64_t begin, end;
    uint32_t home = home_part(l, number);
    for (uint32_t i = 0; i < l->part_count; i++) {
        part *p = &l->parts[(home + i) % l->part_count];
        if (i > 0) let_finish(p);
        while (take_piece(p, UINT64_MAX, &begin, &end)) l->body(l->context, begin, end);
    }
}

// ---- Workers ----

static loop *joinable(const igi_pool *pool) {
    for (loop *l = pool->loops; l; l = l->link)
        if (atomic_load_explicit(&l->helpers, memory_order_relaxed) + 1 < pool->threads && is_open(l)) return l;
    return NULL;
}

// The system may wake a worker on the core of the thread that started the loop: if other threads spin, as those of a
// BLAS do after their work, every core looks busy. The two would then share one core for as long as loops follow.
static void spread_out(const loop *l) {
    if (l->core >= 0 && l->core == igi_host_this_core()) igi_host_leave_core(l->core);
}

static void help(igi_pool *pool, loop *l) {
    uint32_t number = atomic_fetch_add_explicit(&l->helpers, 1, memory_order_relaxed) + 1;
    pthread_mutex_unlock(&pool->lock);
    spread_out(l);
    run_pieces(l, number);
    pthread_mutex_lock(&pool->lock);
    // The loop may be destroyed as soon as this is 0.
    if (atomic_fetch_sub_explicit(&l->helpers, 1, memory_order_release) == 1) pthread_cond_broadcast(&pool->idle);
}

// Waits without the lock while *word is `value`, but not for long. Returns false if it is unchanged.
static bool stay_awake(igi_pool *pool, const atomic_uint *word, unsigned value) {
    pthread_mutex_unlock(&pool->lock);
    uint64_t until = igi_now_ns() + awake_ns;
    bool changed = false;
    do {
        for (int i = 0; i < 32 && !changed; i++, igi_pause())
            changed = atomic_load_explicit(word, memory_order_acquire) != value;
    } while (!changed && igi_now_ns() < until);
    pthread_mutex_lock(&pool->lock);
    return changed;
}

static bool wait_awake(igi_pool *pool) {
    unsigned seen = atomic_load_explicit(&pool->news, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool->awake, 1, memory_order_relaxed);
    bool changed = stay_awake(pool, &pool->news, seen);
    atomic_fetch_sub_explicit(&pool->awake, 1, memory_order_relaxed);
    return changed;
}

// The thread that starts loops takes the place of one worker.
static bool is_one_too_many(const igi_pool *pool) {
    return pool->alive - pool->sleeping >= pool->threads;
}

static void announce(igi_pool *pool) {
    atomic_fetch_add_explicit(&pool->news, 1, memory_order_release);
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
    bool tired = true;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        loop *l = joinable(pool);
        if (l) {
            help(pool, l);
            tired = false;
        } else if (pool->first) {
            run_task(pool);
        } else if (pool->ending) {
            break;
        } else if (!tired) {
            tired = !wait_awake(pool);
        } else {
            pool->sleeping++;
            pthread_cond_wait(&pool->work, &pool->lock);
            pool->sleeping--;
            tired = pool->first || is_one_too_many(pool);
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
    pool->process = igi_process_number();
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
    if (!pool || igi_was_inherited(pool->process)) return;
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    announce(pool);
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
    announce(pool);
    if (pool->sleeping) pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

// ---- Loops ----

static uint64_t enough_to_share(const igi_pool *pool) {
    uint32_t awake = atomic_load_explicit(&pool->awake, memory_order_relaxed);
    return awake + 1 < pool->threads ? worth_waking_ns : worth_sharing_ns;
}

static bool is_worth_sharing(igi_pool *pool, uint64_t nanoseconds) {
    if (nanoseconds > enough_to_share(pool)) return true;
    return nanoseconds > worth_sharing_ns && igi_loop_row_add(&pool->alone, igi_now_ns(), nanoseconds);
}

// Runs small pieces alone until the loop ends or has lasted long enough to be shared. Returns true if something is
// left.
static bool run_alone(const igi_pool *pool, loop *l) {
    uint64_t start = igi_now_ns(), begin, end;
    uint32_t home = home_part(l, 0);
    for (uint32_t i = 0; i < l->part_count; i++)
        while (take_piece(&l->parts[(home + i) % l->part_count], 1, &begin, &end)) {
            l->body(l->context, begin, end);
            if (igi_now_ns() - start > enough_to_share(pool)) return is_open(l);
        }
    return false;
}

static void unlink_loop(igi_pool *pool, const loop *l) {
    loop **link = &pool->loops;
    while (*link != l) link = &(*link)->link;
    *link = l->link;
}

static void wait_for_helpers(igi_pool *pool, const loop *l) {
    unsigned helpers = atomic_load_explicit(&l->helpers, memory_order_acquire);
    while (helpers && stay_awake(pool, &l->helpers, helpers))
        helpers = atomic_load_explicit(&l->helpers, memory_order_acquire);
    while (atomic_load_explicit(&l->helpers, memory_order_acquire)) pthread_cond_wait(&pool->idle, &pool->lock);
}

static void run_shared(igi_pool *pool, loop *l) {
    pthread_mutex_lock(&pool->lock);
    l->link = pool->loops;
    pool->loops = l;
    announce(pool);
    bool enough = atomic_load_explicit(&pool->awake, memory_order_relaxed) + 1 >= pool->threads;
    if (pool->sleeping && !enough) pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    run_pieces(l, 0);
    pthread_mutex_lock(&pool->lock);
    unlink_loop(pool, l);
    wait_for_helpers(pool, l);
    pthread_mutex_unlock(&pool->lock);
}

void igi_pool_loop_lasting(igi_pool *pool, uint64_t count, uint64_t nanoseconds, igi_loop_body body, void *context) {
    if (igi_was_inherited(pool->process)) {
        if (count) body(context, 0, count);
        return;
    }
    loop l;
    l.body = body;
    l.context = context;
    l.core = igi_host_this_core();
    atomic_init(&l.helpers, 0);
    cut(&l, count, pool->threads);
    if (!is_worth_sharing(pool, nanoseconds) && !run_alone(pool, &l)) return;
    if (pool->threads > 1)
        run_shared(pool, &l);
    else
        run_pieces(&l, 0);
}

void igi_pool_loop(igi_pool *pool, uint64_t count, igi_loop_body body, void *context) {
    igi_pool_loop_lasting(pool, count, 0, body, context);
}
