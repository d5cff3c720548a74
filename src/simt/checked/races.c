// SPDX-License-Identifier: Apache-2.0
// Races, by shadow memory: for each word, who wrote it last and who read it. Two accesses are ordered only by a barrier
// between them, whatever order this run had, or by the command buffer: see docs/checking.md.
#include <string.h>

#include "core/memory.h"
#include "simt/checked/state.h"

// ---- Order ----

static uint32_t clock_of(const igi_simt_checked_clock *clock, const igi_simt_checked_object *object) {
    return object->threadgroup ? clock->threadgroup : clock->device;
}

// Since when accesses of the threadgroup, and of the thread's simdgroup, are ordered before this one.
static uint32_t ordered_since(const igi_simt_checked *c, uint32_t thread, const igi_simt_checked_object *object) {
    uint32_t group = clock_of(&c->barrier, object), simd = clock_of(&c->simd_barrier[thread / IGI_SIMD_WIDTH], object);
    return simd > group ? simd : group;
}

static bool released_to(const igi_simt_checked *c, const igi_simt_checked_record *r) {
    uint32_t number = r->group - c->first_group;
    if (number >= c->release_capacity || r->time >= c->releases[number].time) return false;
    for (uint32_t i = 0; i < sizeof c->acquired / sizeof *c->acquired && i < c->acquired_count; i++)
        if (c->acquired[i] == c->releases[number].place) return true;
    return false;
}

static bool is_ordered(const igi_simt_checked *c, const igi_simt_checked_record *r, uint32_t thread,
                       const igi_simt_checked_object *object) {
    if (r->group != c->group) return r->group < c->first_group || object->threadgroup || released_to(c, r);
    if (r->thread == thread || r->time < clock_of(&c->barrier, object)) return true;
    return r->thread / IGI_SIMD_WIDTH == thread / IGI_SIMD_WIDTH && r->time < ordered_since(c, thread, object);
}

// ---- Conflicts ----

typedef struct visit {
    igi_simt_checked *c;
    const igi_simt_checked_object *object;
    uint32_t thread, site;
    uint64_t address;
    bool write, atomic, comparable;
    bool conflict;  // with a write, still to be compared
} visit;

static igi_simt_finding_kind race_kind(const visit *v, const igi_simt_checked_record *r) {
    bool waited = r->group == v->c->group && r->time < v->c->barrier.any;
    bool together = r->group == v->c->group && r->thread / IGI_SIMD_WIDTH == v->thread / IGI_SIMD_WIDTH;
    if (together && r->time < v->c->simd_barrier[v->thread / IGI_SIMD_WIDTH].any) waited = true;
    return waited ? IGI_FINDING_MISSING_FLAG : IGI_FINDING_RACE;
}

static void report(const visit *v, igi_simt_finding_kind kind, igi_simt_checked_side other, uint64_t address,
                   const igi_simt_checked_object *object) {
    const igi_simt_checked *c = v->c;
    igi_simt_checked_finding finding = {
        .kind = kind,
        .sides = {{.site = v->site, .thread = v->thread, .group = c->group - c->first_group, .known = true}, other},
        .object = object,
        .address = address,
        .base = object->base,
        .bytes = object->readable};
    igi_simt_checked_report(v->c, &finding);
}

static void report_conflict(visit *v, const igi_simt_checked_record *r, bool other_unknown) {
    igi_simt_checked_side other = {.site = r->site,
                                   .thread = other_unknown ? UINT32_MAX : r->thread,
                                   .group = r->group - v->c->first_group,
                                   .known = true};
    igi_simt_finding_kind kind = race_kind(v, r);
    bool wrote =
        v->comparable && kind == IGI_FINDING_RACE && !r->atomic && v->c->sites->sites[r->site].act == IGI_ACT_WRITE;
    if (!wrote) {
        report(v, kind, other, v->address, v->object);
        return;
    }
    v->conflict = true;
    v->c->pending = other;
    v->c->pending_address = v->address;
    v->c->pending_object = v->object;
}

void igi_simt_checked_conflict(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint32_t same) {
    visit v = {.c = checked, .thread = thread, .site = site};
    report(&v, same ? IGI_FINDING_SAME_VALUE_RACE : IGI_FINDING_RACE, checked->pending, checked->pending_address,
           checked->pending_object);
}

uint32_t igi_simt_checked_filled(uint64_t address, uint64_t bytes, uint32_t value) {
    const volatile unsigned char *at = (const volatile unsigned char *)(uintptr_t)address;
    for (uint64_t i = 0; i < bytes; i++)
        if (at[i] != (value & 0xff)) return 0;
    return 1;
}

static bool conflicts(const visit *v, const igi_simt_checked_record *r, unsigned mask) {
    return r->group && (r->mask & mask) && !(r->atomic && v->atomic) && !is_ordered(v->c, r, v->thread, v->object);
}

// Whether other threads have read what this one read last.
static bool has_other_readers(const visit *v, const igi_simt_checked_record *r, unsigned mask) {
    return r->several && r->group == v->c->group && r->thread == v->thread && (r->mask & mask) &&
           !(r->atomic && v->atomic) && r->time >= ordered_since(v->c, v->thread, v->object);
}

static igi_simt_checked_record record_of(const visit *v, unsigned mask) {
    return (igi_simt_checked_record){.group = v->c->group,
                                     .time = v->c->time,
                                     .thread = v->thread & 1023,
                                     .mask = mask & 15,
                                     .atomic = v->atomic,
                                     .site = (uint16_t)v->site};
}

static void note_reader(const visit *v, igi_simt_checked_cell *cell, unsigned mask) {
    igi_simt_checked_record next = record_of(v, mask), *last = &cell->reader;
    bool mine = last->group == v->c->group;
    if (!mine && last->group >= v->c->first_group && last->group)
        cell->stranger = (igi_simt_checked_stranger){last->group, last->thread, last->mask, last->atomic, last->site};
    bool recent = mine && last->time >= ordered_since(v->c, v->thread, v->object) && last->mask == mask &&
                  last->atomic == v->atomic;
    next.several = recent && (last->several || last->thread != v->thread);
    *last = next;
}

static void meet_stranger(visit *v, const igi_simt_checked_stranger *s, unsigned mask) {
    igi_simt_checked_record r = {
        .group = s->group, .thread = s->thread, .mask = s->mask, .atomic = s->atomic, .site = s->site};
    if (conflicts(v, &r, mask)) report_conflict(v, &r, false);
}

static void visit_cell(visit *v, igi_simt_checked_cell *cell, unsigned mask) {
    if (conflicts(v, &cell->writer, mask)) report_conflict(v, &cell->writer, false);
    if (!v->write) {
        note_reader(v, cell, mask);
        return;
    }
    if (conflicts(v, &cell->reader, mask))
        report_conflict(v, &cell->reader, false);
    else if (has_other_readers(v, &cell->reader, mask))
        report_conflict(v, &cell->reader, true);
    if (cell->stranger.group >= v->c->first_group && cell->stranger.group != cell->reader.group)
        meet_stranger(v, &cell->stranger, mask);
    cell->writer = record_of(v, mask);
}

// ---- Atomics between threadgroups ----

// What the threadgroup did before its last barrier for device memory, or fence, is visible to threads that see the
// atomic.
static void release(igi_simt_checked *c, uint64_t address) {
    uint32_t number = c->group - c->first_group;
    uint32_t time = c->fence > c->barrier.device ? c->fence : c->barrier.device;
    if (!time) return;
    size_t before = c->release_capacity;
    if (number >= before && !igi_grow((void **)&c->releases, &c->release_capacity, number + 1ull, sizeof *c->releases))
        return;
    if (c->release_capacity > before)
        memset(c->releases + before, 0, (c->release_capacity - before) * sizeof *c->releases);
    c->releases[number] = (igi_simt_checked_release){address, time};
}

static void synchronise(igi_simt_checked *c, uint64_t address, bool write) {
    enum { PLACES = sizeof c->acquired / sizeof *c->acquired };
    if (write) release(c, address);
    for (uint32_t i = 0; i < PLACES && i < c->acquired_count; i++)
        if (c->acquired[i] == address) return;
    c->acquired[c->acquired_count++ % PLACES] = address;
}

void igi_simt_checked_fence(igi_simt_checked *checked, uint32_t thread) {
    (void)thread;
    checked->fence = ++checked->time;
}

// ---- The short way ----

// A whole word that in this dispatch nobody else has touched so far.
static bool is_mine(const igi_simt_checked_record *r, uint32_t oldest, uint32_t group, uint32_t thread) {
    return r->group < oldest || (r->group == group && r->thread == thread && !r->several);
}

static bool take(const igi_simt_checked *c, uint32_t thread, uint32_t site, igi_simt_checked_cell *cell,
                 const igi_simt_checked_object *object, bool write) {
    uint32_t group = c->group, oldest = object->threadgroup ? group : c->first_group;
    if (!is_mine(&cell->writer, oldest, group, thread) || !is_mine(&cell->reader, oldest, group, thread)) return false;
    if (cell->stranger.group >= oldest) return false;
    igi_simt_checked_record record = {
        .group = group, .time = c->time, .thread = thread & 1023, .mask = 15, .site = (uint16_t)site};
    if (write)
        cell->writer = record;
    else
        cell->reader = record;
    return true;
}

// ---- Between queues ----

static bool is_concurrent(const visit *v, uint32_t place, const igi_simt_checked_mark *m, unsigned mask) {
    return m->number > v->c->queue.before[place] && (m->mask & mask) && !(m->atomic && v->atomic);
}

static void report_queue_conflict(const visit *v, uint32_t place, const igi_simt_checked_mark *m) {
    igi_simt_checked_side other = {.site = m->site,
                                   .thread = m->thread,
                                   .group = m->group,
                                   .known = true,
                                   .queue = place + 1,
                                   .number = m->number};
    report(v, IGI_FINDING_RACE, other, v->address, v->object);
}

// A plain access of this dispatch matters more than an atomic one after it.
static void leave_mark(const visit *v, igi_simt_checked_mark *m, unsigned mask) {
    bool same = m->number == v->c->queue.number && (m->mask & mask) == mask;
    if (same && v->atomic && !m->atomic) return;
    *m = (igi_simt_checked_mark){.number = v->c->queue.number,
                                 .group = v->c->group - v->c->first_group,
                                 .site = v->site,
                                 .thread = v->thread & 1023,
                                 .mask = mask & 15,
                                 .atomic = v->atomic};
}

static void visit_marks(const visit *v, uint64_t word, unsigned mask) {
    igi_simt_checked_marks *const *marks = v->object->marks;
    uint32_t own = v->c->queue.place;
    for (uint32_t i = 0; i < IGI_CHECKED_QUEUES; i++) {
        if (i == own || !marks[i]) continue;
        if (is_concurrent(v, i, &marks[i][word].writer, mask))
            report_queue_conflict(v, i, &marks[i][word].writer);
        else if (v->write && is_concurrent(v, i, &marks[i][word].reader, mask))
            report_queue_conflict(v, i, &marks[i][word].reader);
    }
    if (marks[own]) leave_mark(v, v->write ? &marks[own][word].writer : &marks[own][word].reader, mask);
}

// ---- The hook ----

// The bytes of a word that an access touches, which lies from `begin` to `end`.
static unsigned mask_of(uint64_t word, uint64_t begin, uint64_t end) {
    uint64_t first = word * IGI_CHECKED_WORD;
    unsigned mask = 15;
    if (begin > first) mask &= 15u << (begin - first);
    if (end < first + IGI_CHECKED_WORD) mask &= 15u >> (first + IGI_CHECKED_WORD - end);
    return mask & 15;
}

uint32_t igi_simt_checked_access(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint64_t address,
                                 const igi_simt_checked_object *object, uint32_t bytes_and_act) {
    if (!object || !object->cells) return 0;
    uint64_t bytes = bytes_and_act & IGI_CHECKED_MAX_BYTES, offset = address - object->begin;
    igi_simt_checked_act act = (igi_simt_checked_act)(bytes_and_act >> IGI_CHECKED_ACT_SHIFT);
    if (!bytes || !igi_in_range(offset, bytes, object->length)) return 0;
    bool plain = act == IGI_ACT_READ || act == IGI_ACT_WRITE;
    if (plain && !object->marks && bytes == IGI_CHECKED_WORD && address % IGI_CHECKED_WORD == 0 &&
        take(checked, thread, site, &object->cells[(address - object->cells_base) / IGI_CHECKED_WORD], object,
             act == IGI_ACT_WRITE))
        return 0;
    visit v = {.c = checked,
               .object = object,
               .thread = thread,
               .site = site,
               .address = address,
               .write = act == IGI_ACT_WRITE || act == IGI_ACT_ATOMIC_WRITE,
               .atomic = act == IGI_ACT_ATOMIC_READ || act == IGI_ACT_ATOMIC_WRITE,
               .comparable = bytes_and_act & IGI_CHECKED_COMPARABLE};
    if (v.atomic && !object->threadgroup) synchronise(checked, address, v.write);
    uint64_t begin = address - object->cells_base, end = begin + bytes;
    for (uint64_t word = begin / IGI_CHECKED_WORD; word * IGI_CHECKED_WORD < end; word++) {
        unsigned mask = mask_of(word, begin, end);
        if (object->marks) visit_marks(&v, word, mask);
        visit_cell(&v, &object->cells[word], mask);
    }
    return v.conflict;
}
