// SPDX-License-Identifier: Apache-2.0
// Locks for short sections, over POSIX.
#ifndef INGOT_OS_LOCK_H
#define INGOT_OS_LOCK_H

#include <pthread.h>
#include <stdbool.h>

typedef struct os_unfair_lock_s {
    pthread_mutex_t ingot_mutex;
} os_unfair_lock, *os_unfair_lock_t;

#define OS_UNFAIR_LOCK_INIT ((os_unfair_lock){PTHREAD_MUTEX_INITIALIZER})

static inline void os_unfair_lock_lock(os_unfair_lock_t lock) {
    pthread_mutex_lock(&lock->ingot_mutex);
}

static inline bool os_unfair_lock_trylock(os_unfair_lock_t lock) {
    return pthread_mutex_trylock(&lock->ingot_mutex) == 0;
}

static inline void os_unfair_lock_unlock(os_unfair_lock_t lock) {
    pthread_mutex_unlock(&lock->ingot_mutex);
}

#endif
