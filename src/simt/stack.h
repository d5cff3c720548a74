// SPDX-License-Identifier: Apache-2.0
// Generated code runs on a separate stack, away from the host's frames.
#ifndef INGOT_SIMT_STACK_H
#define INGOT_SIMT_STACK_H

#include <stddef.h>
#include <stdint.h>

typedef void (*igi_simt_any_function)(void);

// Calls function(a, b, c, d, e) with the stack pointer at `top`, which must be aligned to 64, and returns its result.
// Functions with fewer parameters ignore the rest. On other processors it is a plain call.
void *igi_simt_call_on_stack(const void *a, uint64_t b, uint64_t c, uint64_t d, void *e, igi_simt_any_function function,
                             void *top);

// AddressSanitizer is told that calls on this stack begin, and that they have ended; without it, these do nothing.
void igi_simt_stack_enter(const void *memory, size_t bytes);
void igi_simt_stack_leave(void);
// The same after a jump out of them: it forgets the frames that the jump left.
void igi_simt_stack_abandon(const void *memory, size_t bytes);

#endif
