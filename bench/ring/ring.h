// SPDX-License-Identifier: Apache-2.0
// ingot bench ring: the cost of messages, compared with other ways to send them between two threads.
#ifndef INGOT_BENCH_RING_RING_H
#define INGOT_BENCH_RING_RING_H

#include <ingot/ring.h>

#include "bench/common/row.h"

// What every message carries, ours and the peers'.
typedef struct ring_note {
    uint64_t number, value;
} ring_note;

typedef struct ring_latency {
    double p50, p99, p999;  // nanoseconds
} ring_latency;
// Sorts the samples. pre: count > 0.
ring_latency ring_latency_of(double *samples, size_t count);

// ---- Cores (cores.c) ----

// Two CPUs of different cores that this process may use; the same one twice, or -1, if there are no two.
typedef struct ring_cores {
    int host, kernel;
} ring_cores;
ring_cores ring_choose_cores(void);
bool ring_cores_differ(const ring_cores *cores);
// Binds the calling thread, and threads it creates from now on, to that CPU. Negative: nothing changes.
void ring_pin(int cpu);

// Nanoseconds that a word takes from one core to the other and back: a lower bound for messages. Pins the calling
// thread to the host's core. 0 if there are no two cores.
double ring_core_distance_ns(const ring_cores *cores);
// Cache lines per second that one core can hand to the other through a ring, doing nothing else: the best of some runs.
double ring_core_lines(const ring_cores *cores);

// Time in its own unit, for what is shorter than reading a clock.
uint64_t ring_ticks(void);
double ring_ns_per_tick(void);

// ---- Peers (peers.c) ----

enum { RING_PEER_TRIPS = 20000, RING_PEER_MESSAGES = 400000 };
typedef struct ring_peer {
    const char *name;
    ring_latency round_trip;
    double rate;         // messages per second, one way
    double sealed_rate;  // the same with header, checksum and clock like ours
} ring_peer;
// Measures the peers that this machine has; returns how many.
size_t ring_measure_peers(const ring_cores *cores, ring_peer peers[BENCH_MAX_PEERS]);

// ---- Ingot's own figures (ingot.c) ----

typedef struct ring_bench {
    ig_device *device;
    ig_ring_runtime *runtime;
    ring_cores cores;
    uint64_t repeats, sustained_ns;
    ring_peer peers[BENCH_MAX_PEERS];
    size_t peer_count;
    ig_error error;
} ring_bench;

ig_status ring_bench_open(ring_bench *bench);
void ring_bench_close(ring_bench *bench);

// Time the sender spends in ig_ring_send.
ig_status ring_measure_send(ring_bench *bench, ring_latency *latency);
ig_status ring_measure_round_trip(ring_bench *bench, ig_ring_mode mode, ring_latency *latency);
// Messages per second from the host to a kernel, and from one kernel to another. errors: INTERNAL if some are missing.
enum { RING_BATCH = 64 };
typedef enum ring_grouping {
    RING_SINGLE,           // a call of the sender, and one of the handler, for each message
    RING_SENT_IN_BATCHES,  // a call of the sender for RING_BATCH
    RING_IN_BATCHES,       // and one of the handler for all that share a slot
    RING_GROUPINGS
} ring_grouping;
ig_status ring_measure_one_way(ring_bench *bench, ring_grouping grouping, double *rate);
ig_status ring_measure_between_kernels(ring_bench *bench, ring_grouping grouping, double *rate);

typedef struct ring_sustained {
    double rate;  // messages per second
    // From the first third to the last, as a fraction of the first: of the median rate of windows, which the load of
    // other virtual machines changes too, and of the rate of the fastest tenth, which only we change.
    double drift, clear_drift;
    uint64_t sent, lost;
} ring_sustained;
ig_status ring_measure_sustained(ring_bench *bench, ring_sustained *result);

#endif
