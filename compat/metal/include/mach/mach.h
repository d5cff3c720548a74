// SPDX-License-Identifier: Apache-2.0
// Names of Mach that headers for Metal mention, and memory as programs for a Mac ask Mach for it: by pages.
#ifndef INGOT_MACH_H
#define INGOT_MACH_H

#include <mach/vm_page_size.h>
#include <sys/mman.h>

typedef int kern_return_t;
typedef unsigned int task_id_token_t;
typedef unsigned int mach_port_t;
typedef mach_port_t vm_map_t;
#define KERN_SUCCESS 0
#define KERN_INVALID_ADDRESS 1
#define KERN_NO_SPACE 3
#define KERN_INVALID_ARGUMENT 4
#define VM_FLAGS_ANYWHERE 1

// There is only this process.
#define mach_task_self() ((mach_port_t)1)

// Zeroed pages, at an address that the system chooses: `flags` must have VM_FLAGS_ANYWHERE.
static inline kern_return_t vm_allocate(vm_map_t task, vm_address_t *address, vm_size_t size, int flags) {
    if (task != mach_task_self() || !(flags & VM_FLAGS_ANYWHERE)) return KERN_INVALID_ARGUMENT;
    if (size == 0) {
        *address = 0;
        return KERN_SUCCESS;
    }
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return KERN_NO_SPACE;
    *address = (vm_address_t)pages;
    return KERN_SUCCESS;
}

static inline kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size) {
    if (task != mach_task_self()) return KERN_INVALID_ARGUMENT;
    if (size == 0) return KERN_SUCCESS;
    return munmap((void *)address, size) == 0 ? KERN_SUCCESS : KERN_INVALID_ADDRESS;
}

#endif
