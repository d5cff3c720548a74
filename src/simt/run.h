// SPDX-License-Identifier: Apache-2.0
// Running compiled threadgroups on the calling thread.
#ifndef INGOT_SIMT_RUN_H
#define INGOT_SIMT_RUN_H

#include <stdbool.h>

#include "core/guarded.h"
#include "core/status-internal.h"
#include "simt/jit.h"
#include "simt/late.h"

// What one worker needs besides the kernel. Initially zero; grows on demand. Kernels may access memory next to their
// own, so each kind is a separate mapping, with spare room on both sides (slack) and guards beyond it.
typedef struct igi_simt_scratch {
    igi_simt_lane *lanes;
    igi_guarded frames;                      // of coroutines, or contexts; kernels do not know their addresses
    igi_guarded threadgroup;                 // static threadgroup memory and arguments
    igi_guarded privates;                    // arrays that do not outlive a barrier, then those that may
    igi_guarded stack;                       // of generated code
    igi_guarded bytes;                       // copies of arguments that are not buffers
    struct igi_simt_checked_shadow *shadow;  // of all this, for kernels under checking
    igi_simt_late *late;
} igi_simt_scratch;

// The beginning of the device's threadgroup memory.
char *igi_simt_scratch_threadgroup(const igi_simt_scratch *scratch);
// Memory for this many bytes of arguments, aligned to 64; NULL when memory is short.
char *igi_simt_scratch_bytes(igi_simt_scratch *scratch, uint64_t count);

// Makes it large enough for groups of `threads` threads with `threadgroup_bytes` of memory.
ig_status igi_simt_scratch_reserve(igi_simt_scratch *scratch, const igi_simt_code *code, uint32_t threads,
                                   uint64_t threadgroup_bytes);
void igi_simt_scratch_free(igi_simt_scratch *scratch);

// "threadgroup memory" or the like, if the address is in or near it; NULL if it is not.
const char *igi_simt_scratch_name(const igi_simt_scratch *scratch, uint64_t address);
bool igi_simt_scratch_is_threadgroup(const igi_simt_scratch *scratch, uint64_t address);

// A hash of both; never 0.
uint64_t igi_simt_schedule_mix(uint64_t seed, uint64_t number);

// Whether the code can run groups of this shape: the lanes of a simdgroup must be in one row.
bool igi_simt_can_run_group(const igi_simt_code *code, const uint32_t size[3]);

// After a jump out of generated code, or out of functions that it called: AddressSanitizer forgets their frames.
void igi_simt_scratch_abandon_stack(igi_simt_scratch *scratch);

// pre: scratch reserved; group->size > 0 in each dimension. Returns early, with the group unfinished, once
// *group->abort is set.
void igi_simt_run_group(const igi_simt_code *code, const igi_simt_group *group, igi_simt_scratch *scratch);

#endif
