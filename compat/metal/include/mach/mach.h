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

// A GPU can read a little past the end of a buffer, and programs rely on it: pages of vm_allocate are followed by some that
// can be read and are zero. The page before them says so to vm_deallocate.
#define IGI_VM_TAIL_PAGES 16
#define IGI_VM_MARK 0x6567617020746f67u
typedef struct igi_vm_header {
    unsigned long mark;
    vm_address_t begin;
    vm_size_t size;
} igi_vm_header;

static inline vm_size_t igi_vm_whole_pages(vm_size_t size) {
    return (size + vm_page_size - 1) / vm_page_size * vm_page_size;
}

// Zeroed pages, at an address that the system chooses: `flags` must have VM_FLAGS_ANYWHERE.
static inline kern_return_t vm_allocate(vm_map_t task, vm_address_t *address, vm_size_t size, int flags) {
    const vm_size_t more = (IGI_VM_TAIL_PAGES + 1) * vm_page_size;
    if (task != mach_task_self() || !(flags & VM_FLAGS_ANYWHERE)) return KERN_INVALID_ARGUMENT;
    if (size == 0) {
        *address = 0;
        return KERN_SUCCESS;
    }
    if (size > (vm_size_t)-1 / 2) return KERN_NO_SPACE;
    size = igi_vm_whole_pages(size);
    char *pages = (char *)mmap(NULL, size + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == (char *)MAP_FAILED) return KERN_NO_SPACE;
    char *begin = pages + vm_page_size;
    igi_vm_header *header = (igi_vm_header *)(void *)pages;
    header->mark = IGI_VM_MARK;
    header->begin = (vm_address_t)begin;
    header->size = size;
    mprotect(begin + size, IGI_VM_TAIL_PAGES * vm_page_size, PROT_READ);
    *address = (vm_address_t)begin;
    return KERN_SUCCESS;
}

// Whether the pages are all that one call of vm_allocate gave. What is before pages that are a part of them is the rest.
static inline int igi_vm_is_whole(vm_address_t address, vm_size_t size) {
    void *before = (char *)address - vm_page_size;
    if (address < vm_page_size || msync(before, vm_page_size, MS_ASYNC) != 0) return 0;  // nothing is there
    const igi_vm_header *header = (const igi_vm_header *)before;
    return header->mark == IGI_VM_MARK && header->begin == address && header->size == size;
}

static inline kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size) {
    const vm_size_t more = (IGI_VM_TAIL_PAGES + 1) * vm_page_size;
    if (task != mach_task_self()) return KERN_INVALID_ARGUMENT;
    if (size == 0) return KERN_SUCCESS;
    size = igi_vm_whole_pages(size);
    if (address % vm_page_size == 0 && igi_vm_is_whole(address, size)) {
        address -= vm_page_size;
        size += more;
    }
    return munmap((void *)address, size) == 0 ? KERN_SUCCESS : KERN_INVALID_ADDRESS;
}

#endif
