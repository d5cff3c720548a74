// SPDX-License-Identifier: Apache-2.0
// What the objects of dispatch have in common. Internal.
#ifndef INGOT_COMPAT_DISPATCH_OBJECT_H
#define INGOT_COMPAT_DISPATCH_OBJECT_H

#include <dispatch/dispatch.h>
#include <pthread.h>
#include <stdatomic.h>

#pragma GCC visibility push(hidden)

typedef struct igi_dispatch_object {
    atomic_long references;  // IGI_IMMORTAL: never freed
    void (*destroy)(void *object);
    void *context;
    dispatch_function_t finalizer;
} igi_dispatch_object;

#define IGI_IMMORTAL (-1L)

// A zeroed object of `size` bytes with one reference. Ends the process if there is no memory, as dispatch does: its
// calls cannot report errors.
void *igi_dispatch_create(size_t size, void (*destroy)(void *object));

// A block, with one reference, as the context of igi_run_block, which runs and releases it.
void igi_run_block(void *block);

// Runs `work` on a thread of the pool, which grows while all its threads are busy.
void igi_pool_run(void *context, dispatch_function_t work);

// The monotonic clock, and condition variables that use it.
uint64_t igi_dispatch_now(void);
void igi_dispatch_condition_init(pthread_cond_t *condition);
// Like pthread_cond_timedwait. Returns false on timeout.
bool igi_dispatch_wait(pthread_cond_t *condition, pthread_mutex_t *lock, dispatch_time_t until);

#pragma GCC visibility pop

#endif
