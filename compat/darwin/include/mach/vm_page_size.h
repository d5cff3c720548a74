// SPDX-License-Identifier: Apache-2.0
// The size of a page, as programs for a Mac ask for it.
#ifndef INGOT_MACH_VM_PAGE_SIZE_H
#define INGOT_MACH_VM_PAGE_SIZE_H

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

typedef uintptr_t vm_size_t;
typedef uintptr_t vm_address_t;
typedef uint64_t mach_vm_size_t;
typedef uint64_t mach_vm_address_t;

#define vm_page_size ((vm_size_t)sysconf(_SC_PAGESIZE))
#define vm_kernel_page_size vm_page_size
#define vm_page_mask (vm_page_size - 1)
#define mach_vm_trunc_page(x) ((mach_vm_address_t)(x) & ~(mach_vm_address_t)vm_page_mask)
#define mach_vm_round_page(x) mach_vm_trunc_page((mach_vm_address_t)(x) + vm_page_mask)
#define trunc_page(x) ((vm_address_t)(x) & ~(vm_address_t)vm_page_mask)
#define round_page(x) trunc_page((vm_address_t)(x) + vm_page_mask)

#endif
