// SPDX-License-Identifier: Apache-2.0
// Running compiled threadgroups on the calling thread.
#ifndef INGOT_SIMT_RUN_H
#define INGOT_SIMT_RUN_H

#include <stdbool.h>
#include "core/status-internal.h"

#include "simt/jit.h"

// What one worker needs beside the kernel: lanes, frames and threadgroup memory. Starts as zeros, grows as asked.
typedef struct igi_scratch {
    igi_lane *lanes;
    char *frames;
    uint64_t frame_bytes;  // capacity
    char *threadgroup_memory;
    uint64_t threadgroup_bytes;
    char *private_memory;
    uint64_t private_bytes;
} igi_scratch;

// Makes it large enough for groups of `threads` threads with `threadgroup_bytes` of memory.
ig_status igi_scratch_reserve(igi_scratch *scratch, const igi_code *code, uint32_t threads, uint64_t threadgroup_bytes);
void igi_scratch_free(igi_scratch *scratch);

// Whether the code may run groups of this shape: the lanes of a simdgroup must lie in one row.
bool igi_can_run_group(const igi_code *code, const uint32_t size[3]);

// pre: scratch reserved; group->size > 0 in each dimension. Returns early, group unfinished, once *group->abort is set.
void igi_run_group(const igi_code *code, const igi_group *group, igi_scratch *scratch);

#endif
