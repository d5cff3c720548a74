// SPDX-License-Identifier: Apache-2.0
// The interface between compiled kernels and the runtime. Generated code uses the offsets: see src/simt/bind.c.
#ifndef INGOT_SIMT_LAUNCH_H
#define INGOT_SIMT_LAUNCH_H

#include <stdint.h>

#include "msl/hooks.h"

enum { IGI_MAX_SLOTS = 31, IGI_MAX_TEXTURES = 128, IGI_MAX_SAMPLERS = 16 };
enum { IGI_STACK_BYTES = 8 << 20 };  // of a thread of the host that runs kernels
enum { IGI_SIMD_WIDTH = 32, IGI_QUAD_WIDTH = 4, IGI_MAX_GROUP_THREADS = 1024 };

// One threadgroup, as a kernel sees it.
typedef struct igi_simt_group {
    char *threadgroup_memory;               // the kernel's own threadgroup variables
    const volatile uint32_t *abort;         // not zero: return as soon as possible
    uint32_t position[3];                   // threadgroup_position_in_grid
    uint32_t size[3];                       // threads_per_threadgroup, smaller at the edges
    uint32_t dispatch_size[3];              // dispatch_threads_per_threadgroup
    uint32_t groups[3];                     // threadgroups_per_grid
    uint32_t grid[3];                       // threads_per_grid
    uint32_t origin[3];                     // thread_position_in_grid of the group's first thread
    struct igi_simt_checked *check;         // for instrumented code
    uint64_t schedule;                      // not 0: the seed for the order of its threads
    uint32_t stage_origin[3];               // grid_origin: of the region of [[stage_in]]
    uint32_t stage_size[3];                 // grid_size
    uint32_t stage_strides[IGI_MAX_SLOTS];  // of the buffers of attributes, where the pipeline leaves them open
    uint32_t *log;                          // for messages: msl/log-layout.h; may be NULL
    // Buffers are in slots 0 to 30, threadgroup arguments in 31 to 61. They are part of the struct, because a group can
    // be read at any time, so that loops over threads need not read it again.
    void *arguments[2 * IGI_MAX_SLOTS];
    const struct igi_texture *textures[IGI_MAX_TEXTURES];
    uint64_t samplers[IGI_MAX_SAMPLERS];
} igi_simt_group;

// Why a suspended thread waits.
typedef enum igi_simt_wait { IGI_WAIT_NONE, IGI_WAIT_BARRIER, IGI_WAIT_LANES, IGI_WAIT_DONE } igi_simt_wait;

// What a lane waits for: the lane operations of msl/hooks.h.
typedef enum igi_simt_lane_op {
#define IGI_LANE_ENUM(name, type) IGI_LANE_##name,
    IGI_LANE_OP_LIST(IGI_LANE_ENUM)
#undef IGI_LANE_ENUM
        IGI_LANE_converge,  // not in the language: lanes wait for each other at the end of a loop's body
    IGI_LANE_OP_COUNT
} igi_simt_lane_op;

// One thread that can be suspended. Generated code fills in what it waits for and takes `result` when resumed.
typedef struct igi_simt_lane {
    void *frame;     // coroutine frame; NULL: the start function returns its size
    void *arrays;    // the thread's private arrays: array_bytes
    uint32_t wait;   // igi_simt_wait
    uint32_t site;   // in program order; the lowest of several sites goes first
    uint32_t op;     // igi_simt_lane_op
    uint32_t width;  // 32 or 4
    uint64_t operands[3];
    uint64_t result;
} igi_simt_lane;

typedef enum igi_simt_form {
    IGI_FORM_LOOP,       // run executes the whole threadgroup
    IGI_FORM_COROUTINE,  // start and resume, one thread each
} igi_simt_form;

// Exported by every compiled kernel as the symbol "ig.info".
typedef struct igi_simt_code_info {
    uint32_t version;  // IGI_CODE_VERSION
    uint32_t form;     // igi_simt_form
    uint32_t threadgroup_bytes;
    uint32_t width;          // threads per machine register
    uint32_t private_bytes;  // of private arrays that do not outlive a barrier, per running thread of the host
    uint32_t simdgroups;     // not 0: a group of lanes is a simdgroup
    uint32_t context_bytes;  // what each group of lanes saves while it waits at a barrier
    uint32_t array_bytes;    // of private arrays that may outlive one, for each group of lanes or suspended thread
    uint32_t instructions;   // of one thread, before it was widened; IGI_LARGE_KERNEL
    uint32_t any_groups;     // not 0: computes the same in threadgroups of any shape, and no loop accesses memory
    uint32_t columns;        // not 0: any_groups, and the threads of a column compute much that is the same for all
    uint32_t batch;          // threadgroups, neighbours in x, that one call runs; the group is the first of them
    uint32_t granules[2];    // of a quick look: logarithm of the bytes of a granule, of device and threadgroup memory
    uint32_t unsaved;        // of a quick look: bits of slots that are written without being saved before
    uint32_t logs;           // not 0: may write messages
    uint32_t slots;          // bits of the buffers that it uses
    uint32_t multiplies;     // not 0: multiplies simdgroup matrices
} igi_simt_code_info;

// Kernels with more instructions are compiled with less optimisation, and only once.
enum { IGI_CODE_VERSION = 25, IGI_LARGE_KERNEL = 1000 };

// Generated code calls this as "ig.private": memory for private arrays, set by igi_simt_run_group.
void *igi_simt_private_memory(void);

// For functions that call generated code: UBSan looks for a type before the called function, where there is none.
#if defined(__clang__)
#define IGI_CALLS_GENERATED_CODE __attribute__((no_sanitize("function")))
#else
#define IGI_CALLS_GENERATED_CODE
#endif

// contexts: context_bytes for each group of lanes; arrays: array_bytes
typedef void (*igi_simt_run_function)(const igi_simt_group *group, void *contexts, void *arrays);
// Runs to the first suspension. With lane->frame NULL it returns the size of a frame instead.
typedef void *(*igi_simt_start_function)(const igi_simt_group *group, uint32_t x, uint32_t y, uint32_t z,
                                         igi_simt_lane *lane);
typedef void (*igi_simt_resume_function)(void *frame);

#endif
