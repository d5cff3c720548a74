// SPDX-License-Identifier: Apache-2.0
// ingot bench ring: on which cores threads run, and short times.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "ring.h"

#if defined(__linux__)

// CPUs of one core share a line such as "0-1" or "0,64"; an unknown one counts as a separate core.
static void describe_core(int cpu, char text[64]) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, 64, file)) snprintf(text, 64, "%d", cpu);
    if (file) fclose(file);
}

ring_cores ring_choose_cores(void) {
    cpu_set_t allowed;
    ring_cores cores = {-1, -1};
    char first[64], other[64];
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
    for (int cpu = 0; cpu < CPU_SETSIZE && !ring_cores_differ(&cores); cpu++) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        describe_core(cpu, cores.host < 0 ? first : other);
        if (cores.host < 0)
            cores = (ring_cores){cpu, cpu};
        else if (strcmp(first, other) != 0)
            cores.kernel = cpu;
    }
    return cores;
}

void ring_pin(int cpu) {
    cpu_set_t set;
    if (cpu < 0) return;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

#else

ring_cores ring_choose_cores(void) {
    return (ring_cores){-1, -1};
}

void ring_pin(int cpu) {}

#endif

bool ring_cores_differ(const ring_cores *cores) {
    return cores->host >= 0 && cores->host != cores->kernel;
}

uint64_t ring_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return igi_now_ns();
#endif
}

double ring_ns_per_tick(void) {
    static const uint64_t calibration_ns = 20000000;
    uint64_t start_ns = igi_now_ns(), start = ring_ticks(), now_ns = start_ns;
    while (now_ns - start_ns < calibration_ns) now_ns = igi_now_ns();
    return (double)(now_ns - start_ns) / (double)(ring_ticks() - start);
}

// ---- How far apart ----

enum { BATCH = 500, BATCHES = 40, WORD_TRIPS = BATCH * BATCHES };

typedef struct word_link {
    _Alignas(64) atomic_uint word;
    int cpu;
} word_link;

static void *return_word(void *argument) {
    word_link *link = argument;
    ring_pin(link->cpu);
    for (unsigned i = 0; i < WORD_TRIPS; i++) {
        while (atomic_load(&link->word) != 2 * i + 1) {
        }
        atomic_store(&link->word, 2 * i + 2);
    }
    return NULL;
}

double ring_core_distance_ns(const ring_cores *cores) {
    word_link link = {.cpu = cores->kernel};
    pthread_t other;
    if (!ring_cores_differ(cores) || pthread_create(&other, NULL, return_word, &link) != 0) return 0;
    ring_pin(cores->host);
    uint64_t start = igi_now_ns(), best = UINT64_MAX;
    for (unsigned i = 0; i < WORD_TRIPS; i++) {
        atomic_store(&link.word, 2 * i + 1);
        while (atomic_load(&link.word) != 2 * i + 2) {
        }
        if (i % BATCH != BATCH - 1) continue;
        uint64_t now = igi_now_ns();
        if (now - start < best) best = now - start;
        start = now;
    }
    pthread_join(other, NULL);
    return (double)best / BATCH;
}

// ---- How much passes ----

enum { LINES = 512, LINE_COUNT = 1000000, LINE_RUNS = 5, LINE_TELL = 32 };

typedef struct line {
    _Alignas(64) atomic_uint number;
    uint32_t rest[15];
} line;

typedef struct line_ring {
    line lines[LINES];
    _Alignas(64) atomic_uint taken;
} line_ring;

static void *take_lines(void *argument) {
    line_ring *ring = argument;
    for (unsigned i = 0; i < LINE_COUNT; i++) {
        while (atomic_load_explicit(&ring->lines[i % LINES].number, memory_order_acquire) != i + 1) {
        }
        if (i % LINE_TELL == LINE_TELL - 1) atomic_store_explicit(&ring->taken, i + 1, memory_order_release);
    }
    return NULL;
}

static double hand_over_lines(const ring_cores *cores) {
    static line_ring ring;
    pthread_t other;
    memset(&ring, 0, sizeof ring);
    ring_pin(cores->kernel);  // for the other thread, which might not get a turn next to one that spins
    if (pthread_create(&other, NULL, take_lines, &ring) != 0) return 0;
    ring_pin(cores->host);
    uint64_t start = igi_now_ns();
    for (unsigned i = 0; i < LINE_COUNT; i++) {
        while (i - atomic_load_explicit(&ring.taken, memory_order_acquire) >= LINES) {
        }
        line *next = &ring.lines[i % LINES];
        for (unsigned k = 0; k < 15; k++) next->rest[k] = i;
        atomic_store_explicit(&next->number, i + 1, memory_order_release);
    }
    pthread_join(other, NULL);
    return LINE_COUNT / ((double)(igi_now_ns() - start) * 1e-9);
}

double ring_core_lines(const ring_cores *cores) {
    double best = 0;
    if (!ring_cores_differ(cores)) return 0;
    for (int i = 0; i < LINE_RUNS; i++) {
        double rate = hand_over_lines(cores);
        if (rate > best) best = rate;
    }
    return best;
}
