// SPDX-License-Identifier: Apache-2.0
// Switching stacks. The arguments are already where the callee expects them.
#include "simt/stack.h"

#include <stdbool.h>

#if defined(__APPLE__)
#define SYMBOL "_igi_simt_call_on_stack"
#define BEGIN ".globl " SYMBOL "\n.private_extern " SYMBOL "\n.p2align 4\n" SYMBOL ":\n.cfi_startproc\n"
#define END ".cfi_endproc\n"
#else
#define SYMBOL "igi_simt_call_on_stack"
#define BEGIN                                                                                                     \
    ".pushsection .text\n.globl " SYMBOL "\n.hidden " SYMBOL "\n.type " SYMBOL ", %function\n.p2align 4\n" SYMBOL \
    ":\n.cfi_startproc\n"
#define END ".cfi_endproc\n.size " SYMBOL ", . - " SYMBOL "\n.popsection\n"
#endif

#if defined(__x86_64__)
__asm__(BEGIN
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    mov 16(%rbp), %rsp\n"  // the seventh argument
        "    call *%r9\n"
        "    mov %rbp, %rsp\n"
        "    pop %rbp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n" END);
#elif defined(__aarch64__)
__asm__(BEGIN
        "    stp x29, x30, [sp, #-16]!\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset x29, -16\n"
        "    .cfi_offset x30, -8\n"
        "    mov x29, sp\n"
        "    .cfi_def_cfa x29, 16\n"
        "    mov sp, x6\n"
        "    blr x5\n"
        "    mov sp, x29\n"
        "    ldp x29, x30, [sp], #16\n"
        "    .cfi_def_cfa sp, 0\n"
        "    ret\n" END);
#else
void *igi_simt_call_on_stack(const void *a, uint64_t b, uint64_t c, uint64_t d, void *e, igi_simt_any_function function,
                             void *top) {
    (void)top;
    return ((void *(*)(const void *, uint64_t, uint64_t, uint64_t, void *))function)(a, b, c, d, e);
}
#endif

// ---- AddressSanitizer ----

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif

#ifdef ADDRESS_SANITIZER
void __asan_unpoison_memory_region(void const volatile *address, size_t bytes);
void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t bytes);
void __sanitizer_finish_switch_fiber(void *fake_stack, const void **old_bottom, size_t *old_bytes);

static _Thread_local bool entered;

// Until the switch is finished, it knows both stacks: threads of a group go from one to the other and back many times.
void igi_simt_stack_enter(const void *memory, size_t bytes) {
    __sanitizer_start_switch_fiber(NULL, memory, bytes);
    entered = true;
}

void igi_simt_stack_leave(void) {
    const void *host = NULL;
    size_t bytes = 0;
    __sanitizer_finish_switch_fiber(NULL, &host, &bytes);
    __sanitizer_start_switch_fiber(NULL, host, bytes);
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
    entered = false;
}

void igi_simt_stack_abandon(const void *memory, size_t bytes) {
    if (entered) igi_simt_stack_leave();  // the jump may come from before or after the calls
    __asan_unpoison_memory_region(memory, bytes);
    // On the host's stack, those between here and the call of the kernel.
    enum { MOST_BYTES = 1 << 16 };
    __asan_unpoison_memory_region((char *)__builtin_frame_address(0) - MOST_BYTES, MOST_BYTES);
}
#else
void igi_simt_stack_enter(const void *memory, size_t bytes) {
    (void)memory;
    (void)bytes;
}

void igi_simt_stack_leave(void) {}

void igi_simt_stack_abandon(const void *memory, size_t bytes) {
    (void)memory;
    (void)bytes;
}
#endif
