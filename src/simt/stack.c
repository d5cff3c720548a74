// SPDX-License-Identifier: Apache-2.0
// Switching stacks. The arguments are already where the callee expects them.
#include "simt/stack.h"

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
