// SPDX-License-Identifier: Apache-2.0
// A quick look at a dispatch, by vectors of threads on all cores: it finds out whether something may be wrong, but not
// what. If something may be, it is abandoned: its writes are undone, and the dispatch runs again, one thread at a time,
// for the findings. It may suspect a correct kernel, but must never miss an error.
//
// Each granule of memory has a cell: the token of the thread that accessed it last, a number that no other thread of
// this dispatch or an earlier one has, and how it was accessed: since the last barrier, and in the whole dispatch.
#ifndef INGOT_SIMT_CHECKED_QUICK_H
#define INGOT_SIMT_CHECKED_QUICK_H

#include <stdbool.h>
#include <stdint.h>

// Bits of an info. The epoch counts barriers of the threadgroup that order this kind of memory.
enum {
    IGI_QUICK_READ = 1,
    IGI_QUICK_WRITE = 2,
    IGI_QUICK_ATOMIC_READ = 4,
    IGI_QUICK_ATOMIC_WRITE = 8,
    IGI_QUICK_NOW = 15,        // accesses since the last barrier
    IGI_QUICK_EVER_SHIFT = 4,  // the same four bits, of the dispatch
    IGI_QUICK_EVER = 15 << IGI_QUICK_EVER_SHIFT,
    IGI_QUICK_THREADS = 1 << 8,  // since the last barrier, more threads than the owner
    IGI_QUICK_GROUPS = 1 << 9,   // threads of several threadgroups
    IGI_QUICK_EPOCH_SHIFT = 10,
    IGI_QUICK_LAST_EPOCH = (1 << (32 - IGI_QUICK_EPOCH_SHIFT)) - 1,
};

// What conflicts with an access, by igi_simt_checked_act.
#define IGI_QUICK_CONFLICTS \
    {IGI_QUICK_WRITE | IGI_QUICK_ATOMIC_WRITE, IGI_QUICK_NOW, IGI_QUICK_WRITE, IGI_QUICK_READ | IGI_QUICK_WRITE}

// How an access is described to the hook; the width is above these.
enum {
    IGI_QUICK_ACT = 3,  // igi_simt_checked_act
    IGI_QUICK_THREADGROUP = 1 << 2,
    IGI_QUICK_BOUNDS = 1 << 3,  // to stay outside of the object is wrong
    IGI_QUICK_RACES = 1 << 4,   // others' accesses may conflict with it
    IGI_QUICK_INIT = 1 << 5,    // reading what nobody wrote is wrong
    IGI_QUICK_SAVE = 1 << 6,
    IGI_QUICK_SELDOM = 1 << 7,       // mostly nobody writes there: for the generated code
    IGI_QUICK_CELLS = 1 << 28,       // it is noted
    IGI_QUICK_GRANULE_SHIFT = 8,     // logarithm of its bytes, 4 bits
    IGI_QUICK_ALIGNMENT_SHIFT = 12,  // logarithm, 4 bits
    IGI_QUICK_WIDTH_SHIFT = 16,      // 12 bits
};

struct igi_simt_checked;
struct igi_simt_checked_object;

enum { IGI_QUICK_FOUND = 16 };

// Of one thread of the host. Generated code reads the first fields.
typedef struct igi_simt_quick {
    uint32_t floor;      // smaller tokens are of earlier dispatches
    uint32_t token;      // of the threadgroup's first thread
    uint32_t threads;    // of the threadgroup
    uint32_t epochs[2];  // of device and threadgroup memory, shifted
    // Threads that wait at a barrier
    uint32_t arrived, site, flags;
    uint64_t seen[16];       // bits of the first threads of the groups of lanes that are there
    uint32_t group_threads;  // of a full threadgroup
    uint32_t checks;
    // Objects of pointers that were read from memory
    struct igi_simt_checked_object *found;
    uint32_t found_count;
    // Given by the device
    void (*give_up)(void *user);  // does not return
    void (*save)(void *user, const struct igi_simt_checked_object *object, uint64_t page);
    bool (*describe)(void *user, uint64_t address, struct igi_simt_checked_object *object);
    void *user;
} igi_simt_quick;

void igi_simt_quick_begin_group(igi_simt_quick *quick, uint32_t number, uint32_t threads);
// Gives up if threads still wait.
void igi_simt_quick_end_group(igi_simt_quick *quick);

// Of a buffer that a pointer from memory points into.
const struct igi_simt_checked_object *igi_simt_quick_find(struct igi_simt_checked *checked, uint64_t address);

// ---- Hooks ----

// Lanes from thread `first` on access `length` bytes each, at `addresses`, or if that is NULL at address + stride * lane.
// mask: a bit for each lane; NULL: all. The object may be NULL; `base` and `bytes` say where they may be.
void igi_simt_quick_lanes(struct igi_simt_checked *checked, const struct igi_simt_checked_object *object, uint64_t base,
                          uint64_t bytes, uint32_t first, uint64_t address, int64_t stride, const uint64_t *addresses,
                          const uint8_t *mask, uint64_t length, uint32_t access);
// Memory of an object is about to be written.
void igi_simt_quick_save(struct igi_simt_checked *checked, const struct igi_simt_checked_object *object,
                         uint64_t address, uint64_t bytes);
void igi_simt_quick_suspect(struct igi_simt_checked *checked);
// `count` lanes from a group of lanes that begins with thread `first` are at a barrier.
void igi_simt_quick_meet(struct igi_simt_checked *checked, uint32_t first, uint32_t count, uint32_t site,
                         uint32_t flags);
// Lanes do what only whole simdgroups should.
void igi_simt_quick_part(struct igi_simt_checked *checked, const uint8_t *mask, uint32_t width);

#endif
