// SPDX-License-Identifier: Apache-2.0
// The interface between checked kernels and their runtime. Generated code reads igi_simt_checked_object and calls the
// hooks; it gets an igi_simt_checked through igi_simt_group.check.
#ifndef INGOT_SIMT_CHECKED_STATE_H
#define INGOT_SIMT_CHECKED_STATE_H

#include <ingot/check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simt/checked/sites.h"
#include "simt/launch.h"

// In addition to the flags of ig_device_desc.check. BUFFERS, with INIT: some buffers have bytes that nothing has written.
// QUICK: vectors of threads only find out whether there may be a finding; see quick.h.
enum { IGI_CHECK_BUFFERS = 32, IGI_CHECK_QUICK = 64 };

enum { IGI_CHECKED_STATICS = 2 * IGI_MAX_SLOTS, IGI_CHECKED_OBJECTS, IGI_CHECKED_PRIVATES = 3 };

// ---- Shadow memory for races ----

// One access to a word. Which threads are ordered is decided by `time`, a count of the barriers of a threadgroup.
typedef struct igi_simt_checked_record {
    uint32_t group;  // number of the threadgroup, over all dispatches; 0: no access
    uint32_t time;
    uint16_t thread : 10;
    uint16_t mask : 4;  // bytes of the word
    uint16_t atomic : 1;
    uint16_t several : 1;  // of readers: other threads have read the same bytes since the last barrier
    uint16_t site;
} igi_simt_checked_record;

// A reader in another threadgroup, which barriers do not order.
typedef struct igi_simt_checked_stranger {
    uint32_t group;
    uint16_t thread : 10;
    uint16_t mask : 4;
    uint16_t atomic : 1;
    uint16_t site;
} igi_simt_checked_stranger;

// 32 bytes, so that none lies in two lines of the cache.
typedef struct igi_simt_checked_cell {
    igi_simt_checked_record writer;
    igi_simt_checked_record reader;      // the last
    igi_simt_checked_stranger stranger;  // the last of another threadgroup than the last
} igi_simt_checked_cell;

_Static_assert(IGI_MAX_GROUP_THREADS <= 1 << 10, "a thread has ten bits in a record");
_Static_assert(sizeof(igi_simt_checked_cell) == 32, "a cell does not cross a line of the cache");

// ---- Shadow memory for races between queues ----

// The last access of a queue to a word.
typedef struct igi_simt_checked_mark {
    uint32_t number;  // of the dispatch, in its queue; 0: none
    uint32_t group;   // in the dispatch
    uint32_t site;
    uint16_t thread : 10;
    uint16_t mask : 4;
    uint16_t atomic : 1;
} igi_simt_checked_mark;

typedef struct igi_simt_checked_marks {
    igi_simt_checked_mark writer, reader;
} igi_simt_checked_marks;

enum { IGI_CHECKED_QUEUES = 16 };

// The queue that a dispatch runs in.
typedef struct igi_simt_checked_queue {
    uint32_t place;                       // among those that are looked at
    uint32_t number;                      // of the dispatch; 0: other queues are not looked at
    uint64_t before[IGI_CHECKED_QUEUES];  // of each queue, the last number that is ordered before
} igi_simt_checked_queue;

enum {
    IGI_CHECKED_WORD = 4,
    IGI_CHECKED_MAX_SITES = 65535,
    IGI_CHECKED_ACT_SHIFT = 28,
    IGI_CHECKED_COMPARABLE = 1 << 27,
    IGI_CHECKED_MAX_BYTES = IGI_CHECKED_COMPARABLE - 1,
};

// ---- Shadow memory for a quick look ----

// Who accessed a granule of memory last, and how it was accessed; both from cells_base on. A granule is as large as the
// smallest access of the kernel.
typedef struct igi_simt_quick_cells {
    uint32_t *owners;  // tokens of threads; NULL: nobody writes here
    uint32_t *infos;
    uint8_t *touched;  // for each IGI_QUICK_BLOCK granules: 1 when there was an access; NULL: nobody asks
    uint8_t *saved;    // for each IGI_QUICK_PAGE bytes from `begin` on: 1 when it was copied; NULL: it need not be
} igi_simt_quick_cells;

enum {
    IGI_QUICK_BLOCK_SHIFT = 10,
    IGI_QUICK_PAGE_SHIFT = 14,
    IGI_QUICK_PAD = 4096,  // granules before and after those of the object, for lanes that are not active
};

// ---- Objects ----

// Memory that a kernel may access. Generated code reads the first three fields.
typedef struct igi_simt_checked_object {
    uint64_t base;
    uint64_t readable, writable;   // bytes from the base on
    igi_simt_checked_cell *cells;  // of the words from cells_base on; NULL: nobody writes here
    uint64_t cells_base;
    igi_simt_checked_marks **marks;  // of each queue, of the words from cells_base on; NULL: there is one queue
    igi_simt_quick_cells quick;
    void *home;       // the device's own
    uint8_t *shadow;  // for each byte from cells_base on: bits that were never written; NULL: all were
    uint32_t *origins;
    bool threadgroup;
    uint32_t index;  // of the argument
    uint64_t id;     // of the buffer; 0: none
    const char *name;
    uint64_t length;  // of the whole object; readable begins where it is bound
    uint64_t begin;   // of the whole object
} igi_simt_checked_object;

// ---- Findings ----

// X(enumerator, name, severity: 1 an error, 0 a warning)
#define IGI_FINDING_LIST(X)                          \
    X(OUT_OF_BOUNDS, "out-of-bounds", 1)             \
    X(NULL_POINTER, "null-pointer", 1)               \
    X(RELEASED, "use-after-release", 1)              \
    X(MISALIGNED, "misaligned", 1)                   \
    X(WRITE_TO_CONST, "write-to-const", 1)           \
    X(RACE, "race", 1)                               \
    X(SAME_VALUE_RACE, "same-value-race", 0)         \
    X(MISSING_FLAG, "missing-mem-flag", 1)           \
    X(UNINITIALISED, "uninitialised", 1)             \
    X(BARRIER_NOT_REACHED, "barrier-not-reached", 1) \
    X(DIFFERENT_BARRIERS, "different-barriers", 1)   \
    X(LANES_MISSING, "lanes-missing", 1)             \
    X(INACTIVE_LANE, "inactive-lane", 0)             \
    X(OVERFLOW, "integer-overflow", 0)               \
    X(CONVERSION, "conversion", 0)                   \
    X(SHIFT, "shift", 0)                             \
    X(NOT_FINITE, "not-finite", 0)

typedef enum igi_simt_finding_kind {
#define IGI_FINDING_ENUM(name, text, severity) IGI_FINDING_##name,
    IGI_FINDING_LIST(IGI_FINDING_ENUM)
#undef IGI_FINDING_ENUM
        IGI_FINDING_COUNT
} igi_simt_finding_kind;

typedef struct igi_simt_checked_side {
    uint32_t site;
    uint32_t thread;  // index in its threadgroup; UINT32_MAX: not known
    uint32_t group;   // number of the threadgroup in the dispatch
    bool known;
    uint32_t queue;   // of a dispatch of another queue: its place, plus 1
    uint32_t number;  // and its number there
} igi_simt_checked_side;

// In terms of sites and numbers, from which the device makes messages.
typedef struct igi_simt_checked_finding {
    igi_simt_finding_kind kind;
    igi_simt_checked_side sides[2];
    const igi_simt_checked_object *object;  // NULL: a variable, which the site names
    char object_name[48];                   // copied, since objects go
    uint64_t address, base, bytes;          // of the object as far as it is accessible
    uint32_t origin;                        // of uninitialised values: see igi_simt_checked_origin
    uint32_t present, absent;               // threads at the barrier, or lanes at the operation, and those that are not
    bool returned;                          // those that are not have returned
    uint64_t count;                         // how often
} igi_simt_checked_finding;

// ---- A dispatch under checking ----

typedef struct igi_simt_checked_wait {
    uint32_t site, flags;
} igi_simt_checked_wait;

typedef struct igi_simt_checked_release {
    uint64_t place;  // the atomic
    uint32_t time;   // what came before it is visible
} igi_simt_checked_release;

// For one kind of memory: the time of the last barrier that orders it.
typedef struct igi_simt_checked_clock {
    uint32_t any, threadgroup, device;
} igi_simt_checked_clock;

struct igi_simt_checked_shadow;

typedef struct igi_simt_checked {
    igi_simt_checked_object objects[IGI_CHECKED_OBJECTS];
    uint32_t checks;  // IG_CHECK_ and IGI_CHECK_BUFFERS
    const igi_simt_checked_table *sites;
    // Threadgroup under way
    igi_simt_checked_queue queue;
    uint32_t first_group;  // of the dispatch
    uint32_t group;
    uint32_t threads;
    uint32_t time;
    uint32_t fence;  // time of the last fence
    igi_simt_checked_clock barrier, simd_barrier[IGI_MAX_GROUP_THREADS / IGI_SIMD_WIDTH];
    igi_simt_checked_wait waits[IGI_MAX_GROUP_THREADS];
    uint64_t acquired[8];  // places of atomics, the last ones
    uint32_t acquired_count;
    igi_simt_checked_release *releases;  // by threadgroup of the dispatch
    size_t release_capacity;
    igi_simt_checked_side pending;  // of two writes: the first, until it is known whether they write the same
    uint64_t pending_address;
    const igi_simt_checked_object *pending_object;
    igi_simt_finding_kind pending_kind;
    struct igi_simt_quick *quick;  // NULL: every thread by itself
    // Pointers that were read from memory
    const igi_simt_checked_object *(*find)(void *user, uint64_t address);
    const igi_simt_checked_object *(*find_shadowed)(void *user, uint64_t address);  // NULL where all is initialised
    bool (*is_released)(void *user, uint64_t address);  // whether a buffer that is gone was there
    void *user;
    igi_simt_checked_object nowhere;
    igi_simt_checked_object privates[IGI_CHECKED_PRIVATES];  // where the variables of threads may lie
    // What was found
    igi_simt_checked_finding *findings;
    size_t finding_count, finding_capacity;
    uint64_t left_out;  // beyond the limit
} igi_simt_checked;

// Of one dispatch, for one thread of the host; and its findings back. The copy owns nothing afterwards.
void igi_simt_checked_copy(igi_simt_checked *copy, const igi_simt_checked *checked);
void igi_simt_checked_merge(igi_simt_checked *checked, igi_simt_checked *copy);
// A new threadgroup begins.
void igi_simt_checked_begin_group(igi_simt_checked *checked, uint32_t number, uint32_t threads);
void igi_simt_checked_free(igi_simt_checked *checked);
void igi_simt_checked_shadow_free(struct igi_simt_checked_shadow *shadow);
const char *igi_simt_finding_name(igi_simt_finding_kind kind);
bool igi_simt_finding_is_error(igi_simt_finding_kind kind);

// Adds a finding, or counts one that is there already.
igi_simt_checked_finding *igi_simt_checked_report(igi_simt_checked *checked, const igi_simt_checked_finding *finding);

// ---- What run.c tells ----

// The threads at a barrier are about to go on. waiting: those there are; the rest returned or wait for other lanes.
void igi_simt_checked_barrier(igi_simt_checked *checked, const igi_simt_lane *lanes, uint32_t threads);
// The active lanes of the simdgroup that begins with thread `first` do an operation.
void igi_simt_checked_lanes(igi_simt_checked *checked, const igi_simt_lane *lanes, uint32_t first, uint32_t count,
                            uint32_t active);

// ---- Hooks of generated code, by name "ig.check.NAME" ----

const igi_simt_checked_object *igi_simt_checked_find(igi_simt_checked *checked, uint64_t address);
void igi_simt_checked_outside(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint64_t address,
                              uint64_t base, uint64_t bytes, const igi_simt_checked_object *object);
// bytes_and_act: act << 28 | IGI_CHECKED_COMPARABLE | bytes. Not 0: the access is a plain write that conflicts with
// another, and igi_simt_checked_conflict is to be called; only where the flag is set.
uint32_t igi_simt_checked_access(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint64_t address,
                                 const igi_simt_checked_object *object, uint32_t bytes_and_act);
void igi_simt_checked_conflict(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint32_t same);
// 1: all these bytes, which may be read, have this value.
uint32_t igi_simt_checked_filled(uint64_t address, uint64_t bytes, uint32_t value);
void igi_simt_checked_wait_at(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint32_t flags);
void igi_simt_checked_fence(igi_simt_checked *checked, uint32_t thread);
void igi_simt_checked_uninitialised(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint32_t origin);
// origin: the number of the site where the value was made or read, plus 1; 0: not known.
void igi_simt_checked_not_finite(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint64_t address,
                                 uint32_t origin);
void igi_simt_checked_odd(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint32_t kind);

// Of vectors of threads: quick.h.
#include "simt/checked/quick.h"

// X(name, function): the fixed list of symbols that checked kernels may use.
#define IGI_CHECKED_HOOKS(X)                           \
    X("find", igi_simt_checked_find)                   \
    X("outside", igi_simt_checked_outside)             \
    X("access", igi_simt_checked_access)               \
    X("conflict", igi_simt_checked_conflict)           \
    X("filled", igi_simt_checked_filled)               \
    X("wait", igi_simt_checked_wait_at)                \
    X("fence", igi_simt_checked_fence)                 \
    X("uninitialised", igi_simt_checked_uninitialised) \
    X("odd", igi_simt_checked_odd)                     \
    X("not_finite", igi_simt_checked_not_finite)       \
    X("quick.lanes", igi_simt_quick_lanes)             \
    X("quick.save", igi_simt_quick_save)               \
    X("quick.suspect", igi_simt_quick_suspect)         \
    X("quick.meet", igi_simt_quick_meet)               \
    X("quick.part", igi_simt_quick_part)
#define IGI_CHECKED_PREFIX "ig.check."

#endif
