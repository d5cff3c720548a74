// SPDX-License-Identifier: Apache-2.0
// Hybrid logical clocks (Kulkarni et al., 2014). Both parts of the time change together, by a 16-byte
// compare-and-exchange.
#include "ring/hlc.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/status-internal.h"
#include "ring/steady.h"

typedef struct moment {
    uint64_t physical, logical;
} moment;

struct ig_hlc {
    _Alignas(16) moment latest;
    uint64_t node;
};

ig_status ig_hlc_create(uint64_t node, ig_hlc **clock) {
    if (!clock) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "hlc_create: clock must not be NULL");
    ig_hlc *made = igi_aligned_alloc(_Alignof(ig_hlc), sizeof *made);
    if (!made) return igi_fail_no_memory();
    *made = (ig_hlc){.node = node};
    *clock = made;
    return IG_STATUS_OK;
}

void ig_hlc_release(ig_hlc *clock) {
    free(clock);
}

// A guess: the two halves may be from different moments; then the exchange fails and returns the current value.
static moment guess(const ig_hlc *clock) {
    return (moment){__atomic_load_n(&clock->latest.physical, __ATOMIC_RELAXED),
                    __atomic_load_n(&clock->latest.logical, __ATOMIC_RELAXED)};
}

// Returns false if the clock had another value, which is then stored in *expected.
static bool replace(ig_hlc *clock, moment *expected, moment wanted) {
#if defined(__x86_64__)
    // Compilers must be told that the processor has this instruction; all since 2005 do.
    bool done;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(clock->latest), "+a"(expected->physical), "+d"(expected->logical)
                     : "b"(wanted.physical), "c"(wanted.logical)
                     : "memory");
    return done;
#else
    typedef unsigned __int128 __attribute__((may_alias)) both;
    unsigned __int128 old, new, found;
    memcpy(&old, expected, sizeof old);
    memcpy(&new, &wanted, sizeof new);
    found = __sync_val_compare_and_swap((both *)&clock->latest, old, new);
    memcpy(expected, &found, sizeof found);
    return found == old;
#endif
}

static ig_hlc_timestamp with_node(const ig_hlc *clock, moment m) {
    return (ig_hlc_timestamp){m.physical, m.logical, clock->node};
}

ig_hlc_timestamp igi_ring_hlc_tick_many_at(ig_hlc *clock, uint64_t now_us, uint32_t count) {
    assert(count > 0);
    moment seen = guess(clock), first;
    do {
        first = now_us > seen.physical ? (moment){now_us, 0} : (moment){seen.physical, seen.logical + 1};
    } while (!replace(clock, &seen, (moment){first.physical, first.logical + count - 1}));
    return with_node(clock, first);
}

ig_hlc_timestamp igi_ring_hlc_tick_at(ig_hlc *clock, uint64_t now_us) {
    return igi_ring_hlc_tick_many_at(clock, now_us, 1);
}

ig_hlc_timestamp ig_hlc_tick(ig_hlc *clock) {
    return igi_ring_hlc_tick_at(clock, igi_ring_now_us());
}

static moment merge(moment local, ig_hlc_timestamp received, uint64_t now_us) {
    uint64_t latest = now_us;
    if (local.physical > latest) latest = local.physical;
    if (received.physical > latest) latest = received.physical;
    bool ours = local.physical == latest, theirs = received.physical == latest;
    uint64_t logical = 0;
    if (ours) logical = local.logical + 1;
    if (theirs && received.logical + 1 > logical) logical = received.logical + 1;
    return (moment){latest, logical};
}

ig_status igi_ring_hlc_update_at(ig_hlc *clock, ig_hlc_timestamp received, uint64_t now_us, uint64_t horizon_us,
                                 ig_hlc_timestamp *now) {
    if (received.logical > UINT64_MAX / 2) return IG_STATUS_CLOCK_SKEW;
    moment seen = guess(clock), next;
    do {
        if (received.physical > horizon_us && received.physical > seen.physical) return IG_STATUS_CLOCK_SKEW;
        next = merge(seen, received, now_us);
    } while (!replace(clock, &seen, next));
    if (now) *now = with_node(clock, next);
    return IG_STATUS_OK;
}

ig_status ig_hlc_update(ig_hlc *clock, ig_hlc_timestamp received, ig_hlc_timestamp *now) {
    if (!clock) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "hlc_update: clock must not be NULL");
    ig_status status = igi_ring_hlc_update_at(clock, received, igi_ring_now_us(), igi_ring_horizon_us(), now);
    if (status == IG_STATUS_OK) return status;
    return igi_fail(status,
                    "hlc_update: the timestamp %" PRIu64 " us, logical %" PRIu64 ", of node %" PRIu64
                    " is too far ahead; set that node's wall clock",
                    received.physical, received.logical, received.node);
}

ig_hlc_timestamp ig_hlc_read(const ig_hlc *clock) {
    moment seen = guess(clock);
    replace((ig_hlc *)clock, &seen, seen);  // changes nothing; reads the current value
    return with_node(clock, seen);
}

int ig_hlc_compare(ig_hlc_timestamp a, ig_hlc_timestamp b) {
    if (a.physical != b.physical) return a.physical < b.physical ? -1 : 1;
    if (a.logical != b.logical) return a.logical < b.logical ? -1 : 1;
    return a.node == b.node ? 0 : a.node < b.node ? -1 : 1;
}

ig_status ig_hlc_pack(ig_hlc_timestamp at, uint64_t packed[2]) {
    if (!packed) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "hlc_pack: packed must not be NULL");
    if (at.logical >> 48 || at.node >> 16)
        return igi_fail(IG_STATUS_OVERFLOW,
                        "hlc_pack: logical %" PRIu64 " must fit into 48 bits and node %" PRIu64 " into 16", at.logical,
                        at.node);
    packed[1] = at.physical;
    packed[0] = at.logical << 16 | at.node;
    return IG_STATUS_OK;
}

ig_hlc_timestamp ig_hlc_unpack(const uint64_t packed[2]) {
    return (ig_hlc_timestamp){packed[1], packed[0] >> 16, packed[0] & 0xFFFF};
}
