// SPDX-License-Identifier: Apache-2.0
// What the peers of `ingot bench ring` have in common: two threads with a link between them.
//
//   PEER ROUND_TRIPS MESSAGES CPU CPU
//
// has a thread on each CPU, where -1 leaves them to themselves, and prints the nanoseconds that half, 99 and 99.9 % of
// the round trips took, and messages a second one way.
#ifndef INGOT_BENCH_RING_PEER_H
#define INGOT_BENCH_RING_PEER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct note {
    uint64_t number, value;
} note;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pin(int cpu) {
    cpu_set_t set;
    if (cpu < 0) return;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static int ascending(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void report(uint64_t *samples, size_t count, double rate) {
    qsort(samples, count, sizeof *samples, ascending);
    printf("%llu %llu %llu %.0f\n", (unsigned long long)samples[count / 2],
           (unsigned long long)samples[count * 99 / 100], (unsigned long long)samples[count * 999 / 1000], rate);
}

#ifdef RING_PEER_IS_LINK

// Each thread has one end of the link; both block, and end the program when they fail.
static void link_send(int end, const note *message);
static void link_receive(int end, note *message);

typedef struct plan {
    uint64_t trips, messages;
    int cpu;
} plan;

// Echoes, then counts in order and tells how many.
static void *answer(void *argument) {
    const plan *p = (const plan *)argument;
    note got;
    pin(p->cpu);
    for (uint64_t i = 0; i < p->trips; i++) {
        link_receive(1, &got);
        link_send(1, &got);
    }
    uint64_t arrived = 0;
    for (uint64_t i = 0; i < p->messages; i++) {
        link_receive(1, &got);
        arrived += got.number == arrived;
    }
    got.value = arrived;
    link_send(1, &got);
    return NULL;
}

static int run_link(char **arguments) {
    plan p = {strtoull(arguments[1], NULL, 10), strtoull(arguments[2], NULL, 10), atoi(arguments[4])};
    uint64_t *samples = (uint64_t *)calloc(p.trips, sizeof *samples);
    pthread_t other;
    note message = {0, 0};
    pin(atoi(arguments[3]));
    if (!samples || pthread_create(&other, NULL, answer, &p) != 0) return 1;
    for (uint64_t i = 0; i < p.trips; i++) {
        uint64_t start = now_ns();
        message.number = i;
        link_send(0, &message);
        link_receive(0, &message);
        samples[i] = now_ns() - start;
    }
    uint64_t start = now_ns();
    for (message.number = 0; message.number < p.messages; message.number++) link_send(0, &message);
    link_receive(0, &message);
    double seconds = (double)(now_ns() - start) * 1e-9;
    pthread_join(other, NULL);
    if (message.value != p.messages) return 1;
    report(samples, p.trips, (double)p.messages / seconds);
    free(samples);
    return 0;
}

#endif
#endif
