// SPDX-License-Identifier: Apache-2.0
// Memory of threads that run kernels, created on first use and freed when they end.
#include "device/cpu/thread.h"

#include <pthread.h>

#include "core/memory.h"

static pthread_key_t key;

static void free_thread(void *memory) {
    cpu_thread *thread = memory;
    igi_device_fault_stack_close(&thread->handlers);
    igi_simt_scratch_free(&thread->scratch);
    free(thread);
}

static void make_key(void) {
    pthread_key_create(&key, free_thread);
}

cpu_thread *igi_cpu_this_thread(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    cpu_thread *thread = pthread_getspecific(key);
    if (thread) return thread;
    thread = igi_calloc(1, sizeof *thread);
    if (!thread) return NULL;
    if (igi_device_fault_stack_open(&thread->handlers) && pthread_setspecific(key, thread) == 0) return thread;
    free_thread(thread);
    return NULL;
}
