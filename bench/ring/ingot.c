// SPDX-License-Identifier: Apache-2.0
// ingot bench ring: Ingot's own figures.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/median.h"
#include "bench/common/sources.h"
#include "console/output.h"
#include "core/clock.h"
#include "core/status-internal.h"
#include "ring.h"

enum { INBOX = 2048, WARM_UP = 2000, SAMPLES = 20000, BURST = 256, MANY = 1000000, WINDOW = 200000 };
static const uint64_t patience_ns = 10000000000u;

ring_latency ring_latency_of(double *samples, size_t count) {
    assert(count > 0);
    bench_sort(samples, count);
    return (ring_latency){samples[count / 2], samples[count * 99 / 100], samples[count * 999 / 1000]};
}

// ---- Kernels ----

ig_status ring_bench_open(ring_bench *bench) {
    ig_status status = ig_device_create(NULL, &bench->device, &bench->error);
    ig_ring_runtime_desc desc = {.inbox_capacity = INBOX, .inbox_payload = sizeof(ring_note)};
    bench->cores = ring_choose_cores();
    return status == IG_STATUS_OK ? ig_ring_runtime_create(bench->device, &desc, &bench->runtime) : status;
}

void ring_bench_close(ring_bench *bench) {
    if (bench->runtime) ig_ring_runtime_shutdown(bench->runtime);
    ig_device_release(bench->device);
    ig_error_clear(&bench->error);
}

// Its thread inherits the core of the thread that launches it.
static ig_status launch(ring_bench *bench, const char *name, ig_ring_mode mode, int cpu, ig_ring_kernel **kernel) {
    ig_ring_launch_desc desc = {.name = name,
                                .source = bench_source("ring.metal"),
                                .mode = mode,
                                .block = 1,
                                .max_payload = sizeof(ring_note),
                                .k2k = true,
                                .batches = strncmp(name, "batch", 5) == 0};
    ring_pin(cpu);
    ig_status status = ig_ring_launch(bench->runtime, &desc, kernel, &bench->error);
    ring_pin(bench->cores.host);
    return status;
}

static void end(ig_ring_kernel *kernel) {
    if (!kernel) return;
    ig_ring_terminate(kernel, IG_RING_DROP);
    ig_ring_wait(kernel, patience_ns);
    ig_ring_kernel_release(kernel);
}

static uint64_t processed(const ig_ring_kernel *kernel) {
    ig_ring_status status;
    ig_ring_get_status(kernel, &status);
    return status.processed;
}

static ig_status wait_until_processed(const ig_ring_kernel *kernel, uint64_t count) {
    uint64_t deadline = igi_deadline_ns(patience_ns);
    while (processed(kernel) < count)
        if (igi_now_ns() > deadline) return IG_STATUS_TIMEOUT;
    return IG_STATUS_OK;
}

// Computes the latency from samples that `take_samples` takes of a kernel.
static ig_status measure_latency(ring_bench *bench, const char *name, ig_ring_mode mode,
                                 ig_status (*take_samples)(ig_ring_kernel *kernel, double *samples, size_t count),
                                 ring_latency *latency) {
    ig_ring_kernel *kernel = NULL;
    size_t count = SAMPLES * bench->repeats;
    double *samples = cli_alloc(count * sizeof *samples);
    ig_status status = launch(bench, name, mode, bench->cores.kernel, &kernel);
    if (status == IG_STATUS_OK) status = take_samples(kernel, samples, count);
    if (status == IG_STATUS_OK) *latency = ring_latency_of(samples, count);
    end(kernel);
    free(samples);
    return status;
}

// ---- Sending ----

// In bursts that fit into the ring: with a full ring, the kernel would be measured.
static ig_status time_sends(ig_ring_kernel *kernel, double *samples, size_t count) {
    double unit = ring_ns_per_tick();
    for (size_t i = 0; i < WARM_UP + count; i++) {
        ring_note note = {i, 0};
        ig_message message = IG_MESSAGE(0, &note);
        uint64_t start = ring_ticks();
        ig_status status = ig_ring_send(kernel, &message, patience_ns, NULL);
        uint64_t elapsed = ring_ticks() - start;
        if (i >= WARM_UP) samples[i - WARM_UP] = (double)elapsed * unit;
        if (status == IG_STATUS_OK && i % BURST == BURST - 1) status = wait_until_processed(kernel, i + 1);
        if (status != IG_STATUS_OK) return status;
    }
    return IG_STATUS_OK;
}

ig_status ring_measure_send(ring_bench *bench, ring_latency *latency) {
    return measure_latency(bench, "counter", IG_RING_PERSISTENT, time_sends, latency);
}

static ig_status stream(ig_ring_kernel *kernel, uint64_t count) {
    ig_status status = IG_STATUS_OK;
    for (uint64_t i = 0; i < count && status == IG_STATUS_OK; i++) {
        ring_note note = {i, 0};
        ig_message message = IG_MESSAGE(0, &note);
        status = ig_ring_send(kernel, &message, patience_ns, NULL);
    }
    return status == IG_STATUS_OK ? wait_until_processed(kernel, count) : status;
}

static ig_status stream_batches(ig_ring_kernel *kernel, uint64_t count) {
    ring_note notes[RING_BATCH];
    ig_message message = IG_MESSAGE(0, &notes[0]);
    ig_status status = IG_STATUS_OK;
    for (uint64_t i = 0; i < count && status == IG_STATUS_OK; i += RING_BATCH) {
        size_t size = count - i < RING_BATCH ? (size_t)(count - i) : RING_BATCH;
        for (size_t k = 0; k < size; k++) notes[k] = (ring_note){i + k, 0};
        status = ig_ring_send_array(kernel, &message, size, patience_ns, NULL);
    }
    return status == IG_STATUS_OK ? wait_until_processed(kernel, count) : status;
}

typedef struct stream_case {
    ring_bench *bench;
    const char *kernel;
    ig_status (*send)(ig_ring_kernel *kernel, uint64_t count);
} stream_case;

static double one_way(void *context) {
    const stream_case *c = context;
    ring_bench *bench = c->bench;
    ig_ring_kernel *kernel = NULL;
    if (launch(bench, c->kernel, IG_RING_PERSISTENT, bench->cores.kernel, &kernel) != IG_STATUS_OK) return -1;
    uint64_t start = igi_now_ns();
    ig_status status = c->send(kernel, MANY);
    double seconds = (double)(igi_now_ns() - start) * 1e-9;
    end(kernel);
    return status == IG_STATUS_OK ? MANY / seconds : -1;
}

ig_status ring_measure_one_way(ring_bench *bench, ring_grouping grouping, double *rate) {
    stream_case c = {bench, grouping == RING_IN_BATCHES ? "batch_counter" : "counter",
                     grouping == RING_SINGLE ? stream : stream_batches};
    *rate = bench_median(bench->repeats, one_way, &c);
    return *rate < 0 ? IG_STATUS_INTERNAL : IG_STATUS_OK;
}

// ---- There and back ----

static ig_status time_round_trips(ig_ring_kernel *kernel, double *samples, size_t count) {
    double unit = ring_ns_per_tick();
    ig_message answer = {0};
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < WARM_UP + count && status == IG_STATUS_OK; i++) {
        ring_note note = {i, 0};
        ig_message question = IG_MESSAGE(0, &note);
        uint64_t start = ring_ticks();
        status = ig_ring_send(kernel, &question, patience_ns, NULL);
        if (status == IG_STATUS_OK) status = ig_ring_receive(kernel, &answer, patience_ns);
        if (i >= WARM_UP) samples[i - WARM_UP] = (double)(ring_ticks() - start) * unit;
        const ring_note *got = status == IG_STATUS_OK ? IG_MESSAGE_AS(ring_note, 0, &answer) : NULL;
        if (status == IG_STATUS_OK && (!got || got->number != i)) status = IG_STATUS_INTERNAL;
    }
    ig_message_clear(&answer);
    return status;
}

ig_status ring_measure_round_trip(ring_bench *bench, ig_ring_mode mode, ring_latency *latency) {
    return measure_latency(bench, "echo", mode, time_round_trips, latency);
}

// ---- Between kernels ----

typedef struct pair {
    ig_ring_kernel *source, *sink;
} pair;

static ig_status launch_pair(ring_bench *bench, ring_grouping grouping, pair *p) {
    const char *source = grouping == RING_SINGLE ? "source" : "batch_source";
    const char *sink = grouping == RING_IN_BATCHES ? "batch_sink" : "sink";
    ig_status status = launch(bench, source, IG_RING_PERSISTENT, bench->cores.host, &p->source);
    if (status == IG_STATUS_OK) status = launch(bench, sink, IG_RING_PERSISTENT, bench->cores.kernel, &p->sink);
    if (status == IG_STATUS_OK) status = ig_ring_connect(p->source, p->sink);
    return status == IG_STATUS_OK ? ig_ring_connect(p->sink, p->source) : status;
}

static void end_pair(pair *p) {
    end(p->source);
    end(p->sink);
}

// How many of them arrived in order, and when all had arrived.
static ig_status flow(const pair *p, uint64_t count, uint64_t *arrived) {
    ring_note note = {0, count};
    ig_message message = IG_MESSAGE(0, &note), result = {0};
    ig_status status = ig_ring_send(p->source, &message, patience_ns, NULL);
    if (status == IG_STATUS_OK) status = ig_ring_receive(p->sink, &result, patience_ns);
    if (status == IG_STATUS_OK) *arrived = ((const ring_note *)result.payload)->value;
    ig_message_clear(&result);
    return status;
}

static double between_kernels(void *context) {
    pair *p = context;
    uint64_t arrived = 0, start = igi_now_ns();
    ig_status status = flow(p, MANY, &arrived);
    double seconds = (double)(igi_now_ns() - start) * 1e-9;
    return status == IG_STATUS_OK && arrived == MANY ? MANY / seconds : -1;
}

ig_status ring_measure_between_kernels(ring_bench *bench, ring_grouping grouping, double *rate) {
    pair p = {0};
    ig_status status = launch_pair(bench, grouping, &p);
    if (status == IG_STATUS_OK) *rate = bench_median(bench->repeats, between_kernels, &p);
    end_pair(&p);
    return status == IG_STATUS_OK && *rate < 0 ? IG_STATUS_INTERNAL : status;
}

// ---- For long ----

// Rates of the windows in one third of the time.
typedef struct third {
    double *rates;
    size_t count, capacity;
} third;

static void note_rate(third *part, double rate) {
    if (part->count == part->capacity) {
        part->capacity = part->capacity * 2 + 64;
        part->rates = cli_realloc(part->rates, part->capacity * sizeof *part->rates);
    }
    part->rates[part->count++] = rate;
}

static double rate_at(third *part, double quantile) {
    if (!part->count) return 0;
    bench_sort(part->rates, part->count);
    return part->rates[(size_t)((double)part->count * quantile)];
}

static double drift_at(third thirds[3], double quantile) {
    double first = rate_at(&thirds[0], quantile), last = rate_at(&thirds[2], quantile);
    return first > 0 ? (last - first) / first : 0;
}

static ig_status flow_for_long(const pair *p, uint64_t duration_ns, third thirds[3], ring_sustained *result) {
    ig_status status = flow(p, MANY, &(uint64_t){0});  // to warm up
    uint64_t begin = igi_now_ns(), now = begin;
    while (now - begin < duration_ns && status == IG_STATUS_OK) {
        uint64_t arrived = 0, start = now, part = (start - begin) * 3 / duration_ns;
        status = flow(p, WINDOW, &arrived);
        now = igi_now_ns();
        note_rate(&thirds[part], (double)arrived / ((double)(now - start) * 1e-9));
        result->sent += WINDOW;
        result->lost += WINDOW - arrived;
    }
    result->rate = (double)(result->sent - result->lost) / ((double)(now - begin) * 1e-9);
    return status;
}

ig_status ring_measure_sustained(ring_bench *bench, ring_sustained *result) {
    pair p = {0};
    third thirds[3] = {0};
    *result = (ring_sustained){0};
    ig_status status = launch_pair(bench, RING_SINGLE, &p);
    if (status == IG_STATUS_OK) status = flow_for_long(&p, bench->sustained_ns, thirds, result);
    end_pair(&p);
    result->drift = drift_at(thirds, 0.5);
    result->clear_drift = drift_at(thirds, 0.9);
    for (int i = 0; i < 3; i++) free(thirds[i].rates);
    return status;
}
