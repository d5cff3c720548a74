// SPDX-License-Identifier: Apache-2.0
// Worker threads: tasks that run once, and loops that idle workers join.
#ifndef INGOT_CORE_POOL_H
#define INGOT_CORE_POOL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct igi_pool igi_pool;

// A task is linked into the pool and must stay valid until run() is called; it may then be submitted again.
typedef struct igi_task {
    void (*run)(struct igi_task *task);
    struct igi_task *next;
} igi_task;

// After fork() a child has none of the threads: its loops run on the calling thread, and nothing may be submitted.
// Returns NULL if memory or threads are short.
igi_pool *igi_pool_create(uint32_t thread_count);
// Runs all submitted tasks, then ends the threads. May be called on one of them.
void igi_pool_destroy(igi_pool *pool);

void igi_pool_submit(igi_pool *pool, igi_task *task);

// Calls body(context, begin, end) until [0, count) is covered, on the calling thread and, once the work has proved
// long enough to be worth waking them, on idle workers. Returns when all of it is done.
typedef void (*igi_loop_body)(void *context, uint64_t begin, uint64_t end);
void igi_pool_loop(igi_pool *pool, uint64_t count, igi_loop_body body, void *context);
// The same, with an estimate of how long one thread would take: pieces may then be longer.
void igi_pool_loop_lasting(igi_pool *pool, uint64_t count, uint64_t nanoseconds, igi_loop_body body, void *context);

#endif
