// SPDX-License-Identifier: Apache-2.0
// The scheduler inside a threadgroup: suspended threads, lane operations, barriers.
#include "simt/run.h"

#include <string.h>

#include "core/memory.h"
#include "simt/lanes.h"

static _Thread_local void *private_memory;

void *igi_private_memory(void) {
    return private_memory;
}

// Contents need not survive.
static bool reserve(char **memory, uint64_t *capacity, uint64_t bytes) {
    if (bytes <= *capacity) return true;
    char *larger = igi_aligned_alloc(64, bytes);
    if (!larger) return false;
    free(*memory);
    *memory = larger;
    *capacity = bytes;
    return true;
}

ig_status igi_scratch_reserve(igi_scratch *scratch, const igi_code *code, uint32_t threads,
                              uint64_t threadgroup_bytes) {
    if (!reserve(&scratch->threadgroup_memory, &scratch->threadgroup_bytes, threadgroup_bytes) ||
        !reserve(&scratch->private_memory, &scratch->private_bytes, code->info.private_bytes))
        return IG_STATUS_OUT_OF_MEMORY;
    if (!code->frame_bytes) return IG_STATUS_OK;
    if (!scratch->lanes) scratch->lanes = igi_calloc(IGI_MAX_GROUP_THREADS, sizeof *scratch->lanes);
    uint64_t bytes;
    bool ok = scratch->lanes && igi_mul(code->frame_bytes, threads, &bytes) &&
              reserve(&scratch->frames, &scratch->frame_bytes, bytes);
    return ok ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY;
}

void igi_scratch_free(igi_scratch *scratch) {
    free(scratch->lanes), free(scratch->frames), free(scratch->threadgroup_memory), free(scratch->private_memory);
    *scratch = (igi_scratch){0};
}

// Starts every thread and says how many there are.
IGI_CALLS_GENERATED_CODE static uint32_t start_threads(const igi_code *code, const igi_group *group,
                                                       igi_scratch *scratch) {
    uint32_t index = 0;
    for (uint32_t z = 0; z < group->size[2]; z++)
        for (uint32_t y = 0; y < group->size[1]; y++)
            for (uint32_t x = 0; x < group->size[0]; x++, index++) {
                igi_lane *lane = &scratch->lanes[index];
                lane->frame = scratch->frames + index * code->frame_bytes;
                lane->wait = IGI_WAIT_NONE;
                code->start(group, x, y, z, lane);
            }
    return index;
}

// Set by another thread at any time.
static bool aborted(const igi_group *group) {
    return __atomic_load_n(group->abort, __ATOMIC_RELAXED) != 0;
}

// Of the lanes waiting for a lane operation, those at the earliest site.
static uint32_t earliest(const igi_lane *lanes, uint32_t count) {
    uint32_t site = UINT32_MAX, active = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (lanes[i].wait != IGI_WAIT_LANES || lanes[i].site > site) continue;
        if (lanes[i].site < site) active = 0;
        site = lanes[i].site;
        active |= 1u << i;
    }
    return active;
}

// Brings every lane of a simdgroup to a barrier or to its end.
IGI_CALLS_GENERATED_CODE static void run_simdgroup(const igi_code *code, const igi_group *group, igi_lane *lanes,
                                                   uint32_t count) {
    uint32_t active;
    while ((active = earliest(lanes, count)) && !aborted(group)) {
        igi_lanes_answer(lanes, count, active);
        for (uint32_t i = 0; i < count; i++)
            if (active >> i & 1) code->resume(lanes[i].frame);
    }
}

// Releases the threads at the barrier; false when all have returned.
IGI_CALLS_GENERATED_CODE static bool pass_barrier(const igi_code *code, igi_lane *lanes, uint32_t count) {
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (lanes[i].wait != IGI_WAIT_BARRIER) continue;
        any = true;
        code->resume(lanes[i].frame);
    }
    return any;
}

static void run_coroutines(const igi_code *code, const igi_group *group, igi_scratch *scratch) {
    uint32_t threads = start_threads(code, group, scratch);
    do {
        for (uint32_t at = 0; at < threads; at += IGI_SIMD_WIDTH) {
            uint32_t left = threads - at;
            run_simdgroup(code, group, scratch->lanes + at, left < IGI_SIMD_WIDTH ? left : IGI_SIMD_WIDTH);
        }
    } while (!aborted(group) && pass_barrier(code, scratch->lanes, threads));
}

bool igi_can_run_group(const igi_code *code, const uint32_t size[3]) {
    return !code->info.simdgroups || size[0] % IGI_SIMD_WIDTH == 0 || (size[1] == 1 && size[2] == 1);
}

IGI_CALLS_GENERATED_CODE void igi_run_group(const igi_code *code, const igi_group *group, igi_scratch *scratch) {
    private_memory = scratch->private_memory;
    if (code->info.form == IGI_FORM_LOOP)
        code->run(group, scratch->frames);
    else
        run_coroutines(code, group, scratch);
}
