// SPDX-License-Identifier: Apache-2.0
// What the peers of `ingot bench ring` have in common: two threads with a link between them.
//
//   PEER ROUND_TRIPS MESSAGES CPU CPU
//
// has a thread on each CPU, where -1 leaves placement to the system, and prints the nanoseconds that half, 99 and 99.9
// % of the round trips took, and messages per second one way.
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
#include <string.h>
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

static void report(uint64_t *samples, size_t count, double rate, double sealed_rate) {
    qsort(samples, count, sizeof *samples, ascending);
    printf("%llu %llu %llu %.0f %.0f\n", (unsigned long long)samples[count / 2],
           (unsigned long long)samples[count * 99 / 100], (unsigned long long)samples[count * 999 / 1000], rate,
           sealed_rate);
}

// ---- The contract of ring kernels ----
// A header of 256 bytes with an id, a moment of the sender's hybrid logical clock and the CRC-32 of the payload, which
// the receiver checks; it takes in the moment.

typedef struct sealed {
    uint64_t id, physical, logical, size;
    uint32_t checksum, rest[55];
    note payload;
} sealed;

typedef struct hybrid_clock {
    uint64_t physical, logical, ids;
} hybrid_clock;

static uint32_t crc_tables[8][256];

static void make_crc_tables(void) {
    for (uint32_t i = 0; i < 256; i++) {
        crc_tables[0][i] = i;
        for (int bit = 0; bit < 8; bit++)
            crc_tables[0][i] = crc_tables[0][i] >> 1 ^ (crc_tables[0][i] & 1 ? 0xEDB88320u : 0);
    }
    for (int t = 1; t < 8; t++)
        for (uint32_t i = 0; i < 256; i++)
            crc_tables[t][i] = crc_tables[t - 1][i] >> 8 ^ crc_tables[0][crc_tables[t - 1][i] & 255];
}

static uint32_t checksum(const note *payload) {
    uint32_t crc = ~0u, words[4];
    memcpy(words, payload, sizeof words);
    for (int i = 0; i < 4; i += 2) {
        uint32_t low = words[i] ^ crc, high = words[i + 1];
        crc = crc_tables[7][low & 255] ^ crc_tables[6][low >> 8 & 255] ^ crc_tables[5][low >> 16 & 255] ^
              crc_tables[4][low >> 24] ^ crc_tables[3][high & 255] ^ crc_tables[2][high >> 8 & 255] ^
              crc_tables[1][high >> 16 & 255] ^ crc_tables[0][high >> 24];
    }
    return ~crc;
}

// As accurate as the clock of kernels, which the host sets now and then, and cheaper than the exact one.
static uint64_t wall_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000;
}

static void seal(hybrid_clock *clock, sealed *message) {
    uint64_t wall = wall_us();
    clock->logical = wall > clock->physical ? 0 : clock->logical + 1;
    if (wall > clock->physical) clock->physical = wall;
    message->id = ++clock->ids;
    message->physical = clock->physical;
    message->logical = clock->logical;
    message->size = sizeof message->payload;
    message->checksum = checksum(&message->payload);
}

static void check_seal(hybrid_clock *clock, const sealed *message) {
    if (message->size != sizeof message->payload || message->checksum != checksum(&message->payload)) exit(1);
    uint64_t wall = wall_us(), latest = wall > clock->physical ? wall : clock->physical;
    if (message->physical > latest) latest = message->physical;
    uint64_t logical = latest == clock->physical ? clock->logical + 1 : 0;
    if (latest == message->physical && message->logical >= logical) logical = message->logical + 1;
    clock->physical = latest;
    clock->logical = logical;
}

#ifdef RING_PEER_IS_LINK

// Each thread has one end of the link; both calls block, and end the program on failure.
static void link_send(int end, const void *message, size_t size);
static void link_receive(int end, void *message, size_t size);

typedef struct plan {
    uint64_t trips, messages;
    int cpu;
} plan;

static uint64_t count_notes(uint64_t messages) {
    uint64_t arrived = 0;
    note got;
    for (uint64_t i = 0; i < messages; i++) {
        link_receive(1, &got, sizeof got);
        arrived += got.number == arrived;
    }
    return arrived;
}

static uint64_t count_sealed(uint64_t messages) {
    uint64_t arrived = 0;
    hybrid_clock clock = {0, 0, 0};
    sealed got;
    for (uint64_t i = 0; i < messages; i++) {
        link_receive(1, &got, sizeof got);
        check_seal(&clock, &got);
        arrived += got.payload.number == arrived;
    }
    return arrived;
}

// Echoes, then counts messages in order and reports the number, twice.
static void *answer(void *argument) {
    const plan *p = (const plan *)argument;
    note got;
    pin(p->cpu);
    for (uint64_t i = 0; i < p->trips; i++) {
        link_receive(1, &got, sizeof got);
        link_send(1, &got, sizeof got);
    }
    got.value = count_notes(p->messages);
    link_send(1, &got, sizeof got);
    got.value = count_sealed(p->messages);
    link_send(1, &got, sizeof got);
    return NULL;
}

static void send_notes(uint64_t messages) {
    note message = {0, 0};
    for (; message.number < messages; message.number++) link_send(0, &message, sizeof message);
}

static void send_sealed(uint64_t messages) {
    hybrid_clock clock = {0, 0, 0};
    sealed message;
    memset(&message, 0, sizeof message);
    for (; message.payload.number < messages; message.payload.number++) {
        seal(&clock, &message);
        link_send(0, &message, sizeof message);
    }
}

// Messages per second.
static double stream(void (*send_all)(uint64_t messages), uint64_t messages) {
    note result;
    uint64_t start = now_ns();
    send_all(messages);
    link_receive(0, &result, sizeof result);
    if (result.value != messages) exit(1);
    return (double)messages / ((double)(now_ns() - start) * 1e-9);
}

static int run_link(char **arguments) {
    plan p = {strtoull(arguments[1], NULL, 10), strtoull(arguments[2], NULL, 10), atoi(arguments[4])};
    uint64_t *samples = (uint64_t *)calloc(p.trips, sizeof *samples);
    pthread_t other;
    note message = {0, 0};
    make_crc_tables();
    pin(atoi(arguments[3]));
    if (!samples || pthread_create(&other, NULL, answer, &p) != 0) return 1;
    for (uint64_t i = 0; i < p.trips; i++) {
        uint64_t start = now_ns();
        message.number = i;
        link_send(0, &message, sizeof message);
        link_receive(0, &message, sizeof message);
        samples[i] = now_ns() - start;
    }
    double rate = stream(send_notes, p.messages), sealed_rate = stream(send_sealed, p.messages);
    pthread_join(other, NULL);
    report(samples, p.trips, rate, sealed_rate);
    free(samples);
    return 0;
}

#endif
#endif
