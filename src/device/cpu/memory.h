// SPDX-License-Identifier: Apache-2.0
// The memory of the software device's buffers.
#ifndef INGOT_DEVICE_CPU_MEMORY_H
#define INGOT_DEVICE_CPU_MEMORY_H

#include <pthread.h>
#include <stdint.h>

// Small pooled blocks share mappings, because a process may have only some tens of thousands of them.
typedef struct igi_device_slab igi_device_slab;
typedef struct igi_device_slabs {
    pthread_mutex_t lock;  // guards what follows, and every slab
    igi_device_slab *current;
} igi_device_slabs;

void igi_device_slabs_init(igi_device_slabs *slabs);
// pre: every block has been closed.
void igi_device_slabs_destroy(igi_device_slabs *slabs);

#endif
