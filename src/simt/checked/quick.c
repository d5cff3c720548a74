// SPDX-License-Identifier: Apache-2.0
// What the vectors of a quick look call when they cannot decide by themselves.
#include "simt/checked/quick.h"

#include <string.h>

#include "core/memory.h"
#include "simt/checked/state.h"

// mem_flags of MSL.
enum { MEM_DEVICE = 1, MEM_THREADGROUP = 2 };

void igi_simt_quick_suspect(igi_simt_checked *checked) {
    checked->quick->give_up(checked->quick->user);
}

const igi_simt_checked_object *igi_simt_quick_find(igi_simt_checked *checked, uint64_t address) {
    igi_simt_quick *q = checked->quick;
    for (uint32_t i = 0; i < q->found_count; i++)
        if (address - q->found[i].begin < q->found[i].length) return &q->found[i];
    if (q->found_count == IGI_QUICK_FOUND) igi_simt_quick_suspect(checked);
    igi_simt_checked_object *next = &q->found[q->found_count];
    if (!q->describe(q->user, address, next)) return &checked->nowhere;
    q->found_count++;
    return next;
}

// ---- Cells ----

typedef struct visit {
    const igi_simt_quick *q;
    uint32_t access, act, conflicting;
    uint32_t epoch;
    bool threadgroup;
} visit;

// Returns false if there may be a race, or nobody has written what is read. Generated code does the same for a row of lanes.
static bool visit_cell(const visit *v, uint32_t token, uint32_t *owner, uint32_t *info) {
    uint32_t was = *info, before = *owner;
    bool together = before - v->q->token < v->q->threads;
    bool fresh = v->threadgroup ? together : before >= v->q->floor;
    bool recent = together && was >> IGI_QUICK_EPOCH_SHIFT == v->epoch >> IGI_QUICK_EPOCH_SHIFT;
    bool others = before != token || (was & IGI_QUICK_THREADS);
    bool groups = fresh && (!together || (was & IGI_QUICK_GROUPS));
    uint32_t ever = fresh ? was & IGI_QUICK_EVER : 0;
    if (recent && others && (was & v->conflicting)) return false;
    if (groups && (ever >> IGI_QUICK_EVER_SHIFT & v->conflicting)) return false;
    bool written = ever & (IGI_QUICK_WRITE | IGI_QUICK_ATOMIC_WRITE) << IGI_QUICK_EVER_SHIFT;
    if ((v->access & IGI_QUICK_INIT) && !written) return false;
    uint32_t next = v->epoch | ever | v->act | v->act << IGI_QUICK_EVER_SHIFT;
    if (recent) next |= was & (IGI_QUICK_NOW | IGI_QUICK_THREADS);
    if (recent && before != token) next |= IGI_QUICK_THREADS;
    if (groups) next |= IGI_QUICK_GROUPS;
    *owner = token;
    *info = next;
    return true;
}

static bool visit_lane(const visit *v, const igi_simt_checked_object *object, uint32_t token, uint64_t address,
                       uint64_t length) {
    const igi_simt_quick_cells *cells = &object->quick;
    unsigned shift = v->access >> IGI_QUICK_GRANULE_SHIFT & 15;
    uint64_t first = (address - object->cells_base) >> shift,
             last = (address + length - 1 - object->cells_base) >> shift;
    bool right = true;
    for (uint64_t i = first; i <= last && right; i++) {
        right = visit_cell(v, token, &cells->owners[i], &cells->infos[i]);
        if (cells->touched) cells->touched[i >> IGI_QUICK_BLOCK_SHIFT] = 1;
    }
    return right;
}

// ---- Lanes ----

static bool is_within(uint64_t address, uint64_t length, uint64_t base, uint64_t bytes, uint32_t access) {
    uint64_t alignment = 1ull << (access >> IGI_QUICK_ALIGNMENT_SHIFT & 15);
    return !length || (igi_in_range(address - base, length, bytes) && address % alignment == 0);
}

void igi_simt_quick_save(igi_simt_checked *checked, const igi_simt_checked_object *object, uint64_t address,
                         uint64_t bytes) {
    if (!object || !object->quick.saved) return;
    uint64_t first = (address - object->begin) >> IGI_QUICK_PAGE_SHIFT;
    uint64_t last = (address + bytes - 1 - object->begin) >> IGI_QUICK_PAGE_SHIFT;
    for (uint64_t page = first; page <= last; page++) checked->quick->save(checked->quick->user, object, page);
}

static bool visit_object(igi_simt_checked *checked, const visit *v, const igi_simt_checked_object *object,
                         uint32_t token, uint64_t address, uint64_t length) {
    if (!object || !igi_in_range(address - object->begin, length, object->length)) return true;
    if ((v->access & IGI_QUICK_SAVE)) igi_simt_quick_save(checked, object, address, length);
    return !(v->access & IGI_QUICK_CELLS) || !object->quick.owners || visit_lane(v, object, token, address, length);
}

void igi_simt_quick_lanes(igi_simt_checked *checked, const igi_simt_checked_object *object, uint64_t base,
                          uint64_t bytes, uint32_t first, uint64_t address, int64_t stride, const uint64_t *addresses,
                          const uint8_t *mask, uint64_t length, uint32_t access) {
    static const uint8_t conflicts[] = IGI_QUICK_CONFLICTS;
    const igi_simt_quick *q = checked->quick;
    bool threadgroup = object && object->threadgroup;
    uint32_t act = access & IGI_QUICK_ACT, width = access >> IGI_QUICK_WIDTH_SHIFT & 0xfff;
    visit v = {.q = q,
               .access = threadgroup && (act == IGI_ACT_READ || act == IGI_ACT_ATOMIC_READ)
                             ? access
                             : access & ~(uint32_t)IGI_QUICK_INIT,
               .act = 1u << act,
               .conflicting = access & IGI_QUICK_RACES ? conflicts[act] : 0,
               .epoch = q->epochs[threadgroup],
               .threadgroup = threadgroup};
    bool right = true;
    for (uint32_t lane = 0; lane < width && right; lane++) {
        if (mask && !(mask[lane / 8] >> lane % 8 & 1)) continue;
        uint64_t at = addresses ? addresses[lane] : address + (uint64_t)(stride * (int64_t)lane);
        if ((access & IGI_QUICK_BOUNDS) && !is_within(at, length, base, bytes, access)) right = false;
        if (right && length) right = visit_object(checked, &v, object, q->token + first + lane, at, length);
    }
    if (!right) igi_simt_quick_suspect(checked);
}

// ---- Threads that wait ----

void igi_simt_quick_begin_group(igi_simt_quick *quick, uint32_t number, uint32_t threads) {
    quick->token = quick->floor + number * quick->group_threads;
    quick->threads = threads;
    quick->epochs[0] = quick->epochs[1] = 0;
    quick->arrived = 0;
}

void igi_simt_quick_end_group(igi_simt_quick *quick) {
    if (quick->arrived) quick->give_up(quick->user);
}

static bool is_seen(igi_simt_quick *q, uint32_t first) {
    uint64_t *word = &q->seen[first / 64 % (sizeof q->seen / sizeof *q->seen)], bit = 1ull << first % 64;
    bool seen = *word & bit;
    *word |= bit;
    return seen;
}

// All threads of the threadgroup come to the same barrier before one of them comes to the next.
void igi_simt_quick_meet(igi_simt_checked *checked, uint32_t first, uint32_t count, uint32_t site, uint32_t flags) {
    igi_simt_quick *q = checked->quick;
    if (!q->arrived) memset(q->seen, 0, sizeof q->seen);
    bool expected = !q->arrived || (q->site == site && q->flags == flags);
    q->arrived += count;
    if (is_seen(q, first) || !expected || q->arrived > q->threads) igi_simt_quick_suspect(checked);
    q->site = site;
    q->flags = flags;
    if (q->arrived < q->threads) return;
    q->arrived = 0;
    static const uint32_t spaces[] = {MEM_DEVICE, MEM_THREADGROUP};
    for (int i = 0; i < 2; i++) {
        if (!(flags & spaces[i])) continue;
        if (q->epochs[i] >> IGI_QUICK_EPOCH_SHIFT == IGI_QUICK_LAST_EPOCH) igi_simt_quick_suspect(checked);
        q->epochs[i] += 1u << IGI_QUICK_EPOCH_SHIFT;
    }
}

void igi_simt_quick_part(igi_simt_checked *checked, const uint8_t *mask, uint32_t width) {
    for (uint32_t i = 0; i < width / IGI_SIMD_WIDTH; i++) {
        uint32_t lanes;
        memcpy(&lanes, mask + i * sizeof lanes, sizeof lanes);
        if (lanes && ~lanes) igi_simt_quick_suspect(checked);
    }
}
