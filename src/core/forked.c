// SPDX-License-Identifier: Apache-2.0
// Counts the forks between the first process and this one.
#include "core/forked.h"

#include <pthread.h>

atomic_uint igi_fork_count;

static void count(void) {
    atomic_fetch_add_explicit(&igi_fork_count, 1, memory_order_relaxed);
}

static void watch(void) {
    pthread_atfork(NULL, NULL, count);
}

uint32_t igi_process_number(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
    return atomic_load_explicit(&igi_fork_count, memory_order_relaxed);
}
