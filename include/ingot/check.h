// SPDX-License-Identifier: Apache-2.0
// Checked execution: what a device looks for while kernels run, and what it found. See docs/checking.md.
#ifndef INGOT_CHECK_H
#define INGOT_CHECK_H

#include <ingot/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// For ig_device_desc.check; or'ed together.
enum {
    IG_CHECK_MEMORY = 1,       // accesses outside of an object, null and misaligned pointers, writes to const memory
    IG_CHECK_RACES = 2,        // accesses of threads that nothing orders
    IG_CHECK_INIT = 4,         // values that nothing has written
    IG_CHECK_SYNC = 8,         // barriers and simdgroup operations that not all threads reach
    IG_CHECK_ARITHMETIC = 16,  // overflow, shifts too far, conversions out of range, NaNs; not part of "all"
    IG_CHECK_ALL = 15,         // all of the above but arithmetic
};

// "all", or names separated by commas: memory, races, init, sync, arithmetic. errors: INVALID_ARGUMENT.
ig_status ig_check_parse(const char *names, uint32_t *checks, ig_error *error);

// One of the places in a kernel that are involved in a finding.
typedef struct ig_finding_side {
    const char *action;  // "writes 4 bytes", "waits"
    const char *file;    // as given; "" when not known
    uint32_t line, column;
    const char *source;  // the text of the line; "" when not known
    bool has_thread;     // what follows is known
    uint32_t thread[3];  // thread_position_in_threadgroup
    uint32_t group[3];   // threadgroup_position_in_grid
    uint32_t simdgroup, lane;
    const char *kernel;  // of a race between queues: the kernel, and
    const char *queue;   // "queue 1", or its label; otherwise NULL
} ig_finding_side;

// Something wrong with a kernel, once for each pair of places.
typedef struct ig_finding {
    const char *kind;  // "out-of-bounds", "race"...: docs/checking.md has the list
    bool warning;      // harmless on most devices
    const char *kernel;
    const char *message;  // a sentence
    const char *advice;   // what to do about it
    const char *object;   // "buffer 1 'weights'", "threadgroup variable 'tile'"; "" when there is none
    int64_t offset;       // of the access in the object, in bytes
    uint64_t bytes;       // that were accessed
    uint64_t object_bytes;
    ig_finding_side sides[2];
    size_t side_count;  // 1 or 2
    uint64_t count;     // how often it happened
} ig_finding;

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
