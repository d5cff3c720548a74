// SPDX-License-Identifier: Apache-2.0
// The scheduler inside a threadgroup: suspended threads, lane operations, barriers.
#include "simt/run.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "core/memory.h"
#include "simt/checked/state.h"
#include "simt/lanes.h"
#include "simt/stack.h"

// initial-exec: read by generated code on its own small stack.
static _Thread_local void *private_memory __attribute__((tls_model("initial-exec")));

void *igi_simt_private_memory(void) {
    return private_memory;
}

// ---- Memory ----

// A kernel of MLX writes 256 bytes past its threadgroup memory, others read a row too many: that is harmless on a GPU.
// Start addresses differ in their lowest 12 bits, to avoid false dependences between accesses.
enum {
    THREADGROUP_BYTES = 32768,
    THREADGROUP_SLACK = (64 << 10) + 1024,
    PRIVATE_SLACK = (256 << 10) + 2048,
    BYTES_SLACK = (64 << 10) + 3072,
};

// The old contents need not be preserved.
static bool reserve(igi_guarded *guarded, uint64_t bytes, igi_guard_size guard) {
    if (!bytes || bytes <= guarded->bytes) return true;
    igi_guarded larger;
    if (!igi_guarded_open(&larger, bytes, guard)) return false;
    igi_guarded_close(guarded);
    *guarded = larger;
    return true;
}

static bool reserve_stack(igi_simt_scratch *scratch) {
    if (scratch->stack.memory) return true;
    if (!igi_guarded_open(&scratch->stack, IGI_STACK_BYTES, IGI_GUARD_LARGE)) return false;
#ifdef MADV_NOHUGEPAGE
    madvise(scratch->stack.memory, scratch->stack.bytes, MADV_NOHUGEPAGE);  // few of its pages are ever touched
#endif
    return true;
}

static bool with_slack(uint64_t bytes, uint64_t slack, uint64_t *sum) {
    *sum = 0;
    return !bytes || igi_add(bytes, 2 * slack, sum);
}

static bool reserve_threadgroup(igi_simt_scratch *scratch, uint64_t bytes) {
    uint64_t wanted;
    if (bytes && bytes < THREADGROUP_BYTES) bytes = THREADGROUP_BYTES;
    return with_slack(bytes, THREADGROUP_SLACK, &wanted) && reserve(&scratch->threadgroup, wanted, IGI_GUARD_LARGE);
}

static uint64_t first_arrays(const igi_simt_code *code) {
    return igi_round_up(code->info.private_bytes, 64);
}

static bool reserve_private(igi_simt_scratch *scratch, const igi_simt_code *code, uint32_t threads) {
    uint64_t bytes;
    return igi_mul(code->info.array_bytes, threads, &bytes) && igi_add(bytes, first_arrays(code), &bytes) &&
           with_slack(bytes, PRIVATE_SLACK, &bytes) && reserve(&scratch->privates, bytes, IGI_GUARD_HUGE);
}

static bool reserve_frames(igi_simt_scratch *scratch, const igi_simt_code *code, uint32_t threads) {
    uint64_t bytes;
    if (!code->frame_bytes) return true;
    if (!scratch->lanes) scratch->lanes = igi_calloc(IGI_MAX_GROUP_THREADS, sizeof *scratch->lanes);
    return scratch->lanes && igi_mul(code->frame_bytes, threads, &bytes) &&
           reserve(&scratch->frames, bytes, IGI_GUARD_LARGE);
}

ig_status igi_simt_scratch_reserve(igi_simt_scratch *scratch, const igi_simt_code *code, uint32_t threads,
                                   uint64_t threadgroup_bytes) {
    if (!scratch->late) scratch->late = igi_simt_late_create();
    bool ok = scratch->late && reserve_stack(scratch) && reserve_threadgroup(scratch, threadgroup_bytes) &&
              reserve_private(scratch, code, threads) && reserve_frames(scratch, code, threads);
    return ok ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY;
}

char *igi_simt_scratch_threadgroup(const igi_simt_scratch *scratch) {
    return scratch->threadgroup.memory ? scratch->threadgroup.memory + THREADGROUP_SLACK : NULL;
}

char *igi_simt_scratch_bytes(igi_simt_scratch *scratch, uint64_t count) {
    uint64_t wanted;
    if (!with_slack(count, BYTES_SLACK, &wanted) || !reserve(&scratch->bytes, wanted, IGI_GUARD_LARGE)) return NULL;
    return scratch->bytes.memory + BYTES_SLACK;
}

static char *private_of(const igi_simt_scratch *scratch) {
    return scratch->privates.memory ? scratch->privates.memory + PRIVATE_SLACK : NULL;
}

void igi_simt_scratch_free(igi_simt_scratch *scratch) {
    igi_guarded *all[] = {&scratch->frames, &scratch->threadgroup, &scratch->privates, &scratch->stack,
                          &scratch->bytes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) igi_guarded_close(all[i]);
    free(scratch->lanes);
    igi_simt_checked_shadow_free(scratch->shadow);
    igi_simt_late_free(scratch->late);
    *scratch = (igi_simt_scratch){0};
}

const char *igi_simt_scratch_name(const igi_simt_scratch *scratch, uint64_t address) {
    const struct {
        const igi_guarded *memory;
        const char *name;
    } all[] = {{&scratch->threadgroup, "threadgroup memory"},
               {&scratch->privates, "private memory"},
               {&scratch->bytes, "bytes of an argument"},
               {&scratch->stack, "stack"},
               {&scratch->frames, "saved state"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (igi_guarded_surrounds(all[i].memory, address)) return all[i].name;
    return NULL;
}

bool igi_simt_scratch_is_threadgroup(const igi_simt_scratch *scratch, uint64_t address) {
    return igi_guarded_surrounds(&scratch->threadgroup, address);
}

// ---- Calling generated code ----

static void *top_of_stack(const igi_simt_scratch *scratch) {
    return scratch->stack.memory + scratch->stack.bytes - 64;
}

void igi_simt_scratch_abandon_stack(igi_simt_scratch *scratch) {
    igi_simt_stack_abandon(scratch->stack.memory, scratch->stack.bytes);
}

static void run_loop(const igi_simt_code *code, const igi_simt_group *group, const igi_simt_scratch *scratch) {
    char *arrays = private_of(scratch) ? private_of(scratch) + first_arrays(code) : NULL;
    igi_simt_call_on_stack(group, (uintptr_t)scratch->frames.memory, (uintptr_t)arrays, 0, NULL,
                           (igi_simt_any_function)code->run, top_of_stack(scratch));
}

static void start(const igi_simt_code *code, const igi_simt_group *group, const uint32_t at[3], igi_simt_lane *lane,
                  void *top) {
    igi_simt_call_on_stack(group, at[0], at[1], at[2], lane, (igi_simt_any_function)code->start, top);
}

static void resume(const igi_simt_code *code, const igi_simt_lane *lane, void *top) {
    igi_simt_call_on_stack(lane->frame, 0, 0, 0, NULL, (igi_simt_any_function)code->resume, top);
}

// ---- Threads that wait ----

// splitmix64
uint64_t igi_simt_schedule_mix(uint64_t seed, uint64_t number) {
    uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return z ? z : 1;
}

// Which of `count` comes next as number `at`: in order, or in a random order from the group's schedule and `turn`.
typedef struct order {
    uint16_t items[IGI_MAX_GROUP_THREADS];
} order;

static void make_order(const igi_simt_group *group, uint64_t turn, uint32_t count, order *o) {
    for (uint32_t i = 0; i < count; i++) o->items[i] = (uint16_t)i;
    for (uint32_t i = count; group->schedule && i > 1; i--) {
        uint32_t k = (uint32_t)(igi_simt_schedule_mix(group->schedule, turn << 16 | i) % i);
        uint16_t last = o->items[i - 1];
        o->items[i - 1] = o->items[k];
        o->items[k] = last;
    }
}

// Starts every thread and returns their number.
static uint32_t start_threads(const igi_simt_code *code, const igi_simt_group *group, igi_simt_scratch *scratch,
                              order *o) {
    uint32_t threads = group->size[0] * group->size[1] * group->size[2];
    char *arrays = private_of(scratch) ? private_of(scratch) + first_arrays(code) : NULL;
    make_order(group, 0, threads, o);
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t index = o->items[i], x = group->size[0], y = group->size[1];
        const uint32_t at[3] = {index % x, index / x % y, index / x / y};
        igi_simt_lane *lane = &scratch->lanes[index];
        lane->frame = scratch->frames.memory + index * code->frame_bytes;
        lane->arrays = arrays ? arrays + (uint64_t)index * code->info.array_bytes : NULL;
        lane->wait = IGI_WAIT_NONE;
        start(code, group, at, lane, top_of_stack(scratch));
    }
    return threads;
}

// Another thread may set it at any time.
static bool aborted(const igi_simt_group *group) {
    return __atomic_load_n(group->abort, __ATOMIC_RELAXED) != 0;
}

// Of the lanes waiting for a lane operation, those at the earliest site.
static uint32_t earliest(const igi_simt_lane *lanes, uint32_t count) {
    uint32_t site = UINT32_MAX, active = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (lanes[i].wait != IGI_WAIT_LANES || lanes[i].site > site) continue;
        if (lanes[i].site < site) active = 0;
        site = lanes[i].site;
        active |= 1u << i;
    }
    return active;
}

// Runs every lane of a simdgroup to a barrier or to its end.
static void run_simdgroup(const igi_simt_code *code, const igi_simt_group *group, igi_simt_lane *all, uint32_t first,
                          uint32_t count, void *top) {
    igi_simt_lane *lanes = all + first;
    uint32_t active;
    while ((active = earliest(lanes, count)) && !aborted(group)) {
        if (group->check) igi_simt_checked_lanes(group->check, lanes, first, count, active);
        igi_simt_lanes_answer(lanes, count, active);
        for (uint32_t i = 0; i < count; i++)
            if (active >> i & 1) resume(code, &lanes[i], top);
    }
}

// Releases the threads at the barrier; returns false if all have returned.
static bool pass_barrier(const igi_simt_code *code, igi_simt_lane *lanes, uint32_t count, const order *o, void *top) {
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const igi_simt_lane *lane = &lanes[o->items[i]];
        if (lane->wait != IGI_WAIT_BARRIER) continue;
        any = true;
        resume(code, lane, top);
    }
    return any;
}

static void run_simdgroups(const igi_simt_code *code, const igi_simt_group *group, igi_simt_scratch *scratch,
                           uint32_t threads, uint64_t turn) {
    uint32_t count = (threads + IGI_SIMD_WIDTH - 1) / IGI_SIMD_WIDTH;
    order o;
    make_order(group, turn, count, &o);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = o.items[i] * IGI_SIMD_WIDTH, left = threads - at;
        run_simdgroup(code, group, scratch->lanes, at, left < IGI_SIMD_WIDTH ? left : IGI_SIMD_WIDTH,
                      top_of_stack(scratch));
    }
}

static void run_coroutines(const igi_simt_code *code, const igi_simt_group *group, igi_simt_scratch *scratch) {
    order o;
    uint64_t turn = 1;
    uint32_t threads = start_threads(code, group, scratch, &o);
    do {
        run_simdgroups(code, group, scratch, threads, turn++);
        if (group->check) igi_simt_checked_barrier(group->check, scratch->lanes, threads);
        if (group->schedule) make_order(group, turn++, threads, &o);
    } while (!aborted(group) && pass_barrier(code, scratch->lanes, threads, &o, top_of_stack(scratch)));
}

bool igi_simt_can_run_group(const igi_simt_code *code, const uint32_t size[3]) {
    return !code->info.simdgroups || size[0] % IGI_SIMD_WIDTH == 0 || (size[1] == 1 && size[2] == 1);
}

void igi_simt_run_group(const igi_simt_code *code, const igi_simt_group *group, igi_simt_scratch *scratch) {
    assert(group->size[0] && group->size[1] && group->size[2]);
    private_memory = private_of(scratch);
    igi_simt_stack_enter(scratch->stack.memory, scratch->stack.bytes);
    if (code->info.form == IGI_FORM_LOOP)
        run_loop(code, group, scratch);
    else
        run_coroutines(code, group, scratch);
    igi_simt_stack_leave();
}
