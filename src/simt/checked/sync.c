// SPDX-License-Identifier: Apache-2.0
// Barriers and lane operations: which threads take part, and what is ordered.
#include <string.h>

#include "simt/checked/state.h"

// mem_flags of MSL.
enum { MEM_DEVICE = 1, MEM_THREADGROUP = 2 };

void igi_simt_checked_begin_group(igi_simt_checked *checked, uint32_t number, uint32_t threads) {
    checked->group = checked->first_group + number;
    checked->threads = threads;
    checked->time = 1;
    checked->fence = 0;
    checked->barrier = (igi_simt_checked_clock){0};
    memset(checked->simd_barrier, 0, sizeof checked->simd_barrier);
    checked->acquired_count = 0;
}

void igi_simt_checked_wait_at(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint32_t flags) {
    checked->waits[thread % IGI_MAX_GROUP_THREADS] = (igi_simt_checked_wait){site, flags};
}

static igi_simt_checked_side side_of(const igi_simt_checked *c, uint32_t thread) {
    return (igi_simt_checked_side){
        .site = c->waits[thread].site, .thread = thread, .group = c->group - c->first_group, .known = true};
}

// ---- Barriers ----

static void pass(igi_simt_checked_clock *clock, uint32_t time, uint32_t flags) {
    clock->any = time;
    if (flags & MEM_THREADGROUP) clock->threadgroup = time;
    if (flags & MEM_DEVICE) clock->device = time;
}

// The first thread that waits at a barrier, and the first that waits at another one.
static uint32_t first_waiting(const igi_simt_lane *lanes, uint32_t threads) {
    uint32_t i = 0;
    while (i < threads && lanes[i].wait != IGI_WAIT_BARRIER) i++;
    return i;
}

static void report_absent(igi_simt_checked *c, const igi_simt_lane *lanes, uint32_t threads, uint32_t first) {
    igi_simt_checked_finding finding = {.kind = IGI_FINDING_BARRIER_NOT_REACHED, .sides = {side_of(c, first)}};
    for (uint32_t i = 0; i < threads; i++) {
        bool here = lanes[i].wait == IGI_WAIT_BARRIER;
        finding.present += here;
        finding.absent += !here;
        if (!here && finding.sides[1].thread == 0 && !finding.sides[1].known)
            finding.sides[1] = (igi_simt_checked_side){.thread = i, .group = c->group - c->first_group};
    }
    finding.returned = true;
    if (finding.absent) igi_simt_checked_report(c, &finding);
}

static void report_others(igi_simt_checked *c, const igi_simt_lane *lanes, uint32_t threads, uint32_t first) {
    for (uint32_t i = first + 1; i < threads; i++) {
        if (lanes[i].wait != IGI_WAIT_BARRIER || lanes[i].site == lanes[first].site) continue;
        igi_simt_checked_finding finding = {.kind = IGI_FINDING_DIFFERENT_BARRIERS,
                                            .sides = {side_of(c, first), side_of(c, i)}};
        igi_simt_checked_report(c, &finding);
        return;
    }
}

void igi_simt_checked_barrier(igi_simt_checked *checked, const igi_simt_lane *lanes, uint32_t threads) {
    uint32_t first = first_waiting(lanes, threads), flags = UINT32_MAX;
    if (first == threads) return;
    if (checked->checks & IG_CHECK_SYNC) {
        report_absent(checked, lanes, threads, first);
        report_others(checked, lanes, threads, first);
    }
    for (uint32_t i = first; i < threads; i++)
        if (lanes[i].wait == IGI_WAIT_BARRIER) flags &= checked->waits[i].flags;
    pass(&checked->barrier, ++checked->time, flags);
}

// ---- Lanes ----

// How an operation gets a lane's result from another lane.
typedef enum source {
    SOURCE_NONE,
    SOURCE_INDEX,
    SOURCE_XOR,
    SOURCE_UP,
    SOURCE_DOWN,
    SOURCE_ROTATE_UP,
    SOURCE_ROTATE_DOWN
} source;

#define SHUFFLES(suffix)                                                                        \
    [IGI_LANE_shuffle_##suffix] = SOURCE_INDEX, [IGI_LANE_shuffle_xor_##suffix] = SOURCE_XOR,   \
    [IGI_LANE_shuffle_up_##suffix] = SOURCE_UP, [IGI_LANE_shuffle_down_##suffix] = SOURCE_DOWN, \
    [IGI_LANE_rotate_up_##suffix] = SOURCE_ROTATE_UP, [IGI_LANE_rotate_down_##suffix] = SOURCE_ROTATE_DOWN
static const unsigned char sources[IGI_LANE_OP_COUNT] = {SHUFFLES(u32), SHUFFLES(u64)};

static uint32_t source_lane(source from, uint32_t self, uint32_t argument, uint32_t width) {
    switch (from) {
        case SOURCE_INDEX: return argument % width;
        case SOURCE_XOR: return (self ^ argument) % width;
        case SOURCE_UP: return self >= argument ? self - argument : self;
        case SOURCE_DOWN: return argument < width - self ? self + argument : self;
        case SOURCE_ROTATE_UP: return (self - argument) % width;
        case SOURCE_ROTATE_DOWN: return (self + argument) % width;
        case SOURCE_NONE: break;
    }
    return self;
}

// Only lanes that exist: the kernel must ignore values of lanes beyond the threadgroup.
static void check_sources(igi_simt_checked *c, const igi_simt_lane *lanes, uint32_t first, uint32_t count,
                          uint32_t active) {
    for (uint32_t i = 0; i < count; i++) {
        if (!(active >> i & 1)) continue;
        uint32_t width = lanes[i].width == IGI_QUAD_WIDTH ? IGI_QUAD_WIDTH : IGI_SIMD_WIDTH, begin = i / width * width;
        uint32_t from =
            begin + source_lane((source)sources[lanes[i].op], i - begin, (uint32_t)lanes[i].operands[1], width);
        if (from >= count || (active >> from & 1)) continue;
        igi_simt_checked_finding finding = {.kind = IGI_FINDING_INACTIVE_LANE, .sides = {side_of(c, first + i)}};
        finding.absent = from;
        igi_simt_checked_report(c, &finding);
        return;
    }
}

static void check_all_there(igi_simt_checked *c, uint32_t first, uint32_t count, uint32_t active) {
    uint32_t present = (uint32_t)__builtin_popcount(active);
    if (present >= count) return;
    igi_simt_checked_finding finding = {.kind = IGI_FINDING_LANES_MISSING,
                                        .sides = {side_of(c, first + (uint32_t)__builtin_ctz(active))},
                                        .present = present,
                                        .absent = count - present};
    igi_simt_checked_report(c, &finding);
}

void igi_simt_checked_lanes(igi_simt_checked *checked, const igi_simt_lane *lanes, uint32_t first, uint32_t count,
                            uint32_t active) {
    const igi_simt_lane *any = &lanes[__builtin_ctz(active)];
    bool barrier = any->op == IGI_LANE_simd_barrier, sync = checked->checks & IG_CHECK_SYNC;
    if (any->op == IGI_LANE_converge) return;
    if (sync && (barrier || any->op == IGI_LANE_mma_f32)) check_all_there(checked, first, count, active);
    if (sync && sources[any->op]) check_sources(checked, lanes, first, count, active);
    if (barrier)
        pass(&checked->simd_barrier[first / IGI_SIMD_WIDTH], ++checked->time,
             checked->waits[first + (uint32_t)__builtin_ctz(active)].flags);
}
