// SPDX-License-Identifier: Apache-2.0
// Many producers, kernels that send each other everything they get, random pauses, deactivations and restarts: nothing
// is lost or delivered twice, the order of each sender is kept, and time goes forward along every message.
//
//   test-ring-stress [SECONDS]
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring-helpers.h"
#include "ring/rings.h"

enum { PRODUCERS = 8, KERNELS = 16, GRID = 4 };

// Every message contains its sender, its receiver and its number; the kernel that gets it checks that it is the next,
// and passes it once to a neighbour, which checks it too.
typedef struct parcel {
    uint32_t producer, via;  // via: the kernel it was injected into
    uint64_t number;
    uint32_t leg, pad;
} parcel;

// A buffer of each kernel, which restarts do not change: how many messages it got from each producer directly, and from
// each producer through each kernel.
static const char source[] =
    "#include <ingot/ring>\n"
    "using namespace metal;\n"
    "struct parcel { uint producer, via; ulong number; uint leg, pad; };\n"
    "struct counts { ulong direct[8]; ulong by_way[16][8]; ulong wrong, refused, backwards; };\n"
    "void sort(thread ring::context &context) {\n"
    "    if (!context.leads()) return;\n"
    "    if (context.type() == 2) context.fail(300);\n"
    "    if (context.type() == 2) return;\n"
    "    device counts *c = context.buffer<counts>(0);\n"
    "    parcel p = *context.payload<parcel>();\n"
    "    ig_hlc_timestamp sent = context.message().timestamp, now = context.now();\n"
    "    if (now.physical < sent.physical || (now.physical == sent.physical && now.logical <= sent.logical))\n"
    "        c->backwards++;\n"
    "    device ulong *expected = p.leg ? &c->by_way[p.via][p.producer] : &c->direct[p.producer];\n"
    "    if (p.number != *expected) c->wrong++;\n"
    "    *expected = p.number + 1;\n"
    "    if (p.leg) return;\n"
    "    p.leg = 1;\n"
    "    uint became = context.send(context.route(uint(p.producer % context.route_count())), 1, p);\n"
    "    if (became > ring::pending) c->refused++;\n"
    "}\n"
    "INGOT_RING_KERNEL(sorter, sort)\n";

typedef struct counts {
    uint64_t direct[PRODUCERS];
    uint64_t by_way[KERNELS][PRODUCERS];
    uint64_t wrong, refused, backwards;
} counts;

static double seconds = 2;
static ig_ring_kernel *kernels[KERNELS];
static ig_buffer *buffers[KERNELS];
static uint64_t sent[PRODUCERS][KERNELS], poisoned[KERNELS];
static atomic_bool over;

enum { MOST_IN_BURST = 40 };

static void send_one_by_one(uint32_t self, uint32_t to, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        parcel p = {.producer = self, .via = to, .number = sent[self][to]};
        ig_message message = IG_MESSAGE(1, &p);
        ig_status status = ig_ring_send(kernels[to], &message, 1000000, NULL);
        if (status == IG_STATUS_OK) sent[self][to]++;
        if (status == IG_STATUS_WRONG_STATE) break;  // deactivated for a while
    }
}

static void send_together(uint32_t self, uint32_t to, uint64_t count) {
    parcel parcels[MOST_IN_BURST];
    ig_message messages[MOST_IN_BURST];
    for (uint64_t i = 0; i < count; i++) {
        parcels[i] = (parcel){.producer = self, .via = to, .number = sent[self][to] + i};
        messages[i] = IG_MESSAGE(1, &parcels[i]);
    }
    size_t taken = 0;
    ig_ring_send_batch(kernels[to], messages, count, 1000000, &taken);
    sent[self][to] += taken;
}

static void *produce(void *argument) {
    uint32_t self = (uint32_t)(uintptr_t)argument;
    random_state random = {self + 1};
    while (!atomic_load(&over)) {
        uint32_t to = (uint32_t)random_below(&random, KERNELS);
        uint64_t burst = 1 + random_below(&random, MOST_IN_BURST);
        bool together = random_below(&random, 2);
        (together ? send_together : send_one_by_one)(self, to, burst);
        if (random_below(&random, 200) == 0) sleep_ms(1);
    }
    return NULL;
}

static void *disturb(void *argument) {
    (void)argument;
    random_state random = {99};
    while (!atomic_load(&over)) {
        uint64_t which = random_below(&random, KERNELS);
        ig_ring_kernel *kernel = kernels[which];
        ig_message poison = {.header = {.message_type = 2, .priority = IG_PRIORITY_CRITICAL}};
        if (ig_ring_send(kernel, &poison, 0, NULL) == IG_STATUS_OK) poisoned[which]++;
        if (ig_ring_deactivate(kernel) == IG_STATUS_OK) {
            if (random_below(&random, 2)) sleep_ms(1);
            ig_ring_activate(kernel);
        }
        sleep_ms(1 + (unsigned)random_below(&random, 3));
    }
    return NULL;
}

static void launch_all(void) {
    for (int i = 0; i < KERNELS; i++) {
        char name[16];
        snprintf(name, sizeof name, "sorter-%d", i);
        buffers[i] = make_buffer(sizeof(counts));
        // Every kind is there: persistent and event-driven, of one thread and of a group.
        kernels[i] = launch(&(ig_ring_launch_desc){.name = name,
                                                   .kernel = "sorter",
                                                   .source = source,
                                                   .block = i % 8 == 7 ? 32 : 1,
                                                   .mode = i % 2 ? IG_RING_EVENT_DRIVEN : IG_RING_PERSISTENT,
                                                   .buffers = {buffers[i]},
                                                   .restart = IG_RESTART_ON_FAILURE,
                                                   .max_restarts = UINT32_MAX,
                                                   .dead_letter_capacity = 1 << 16,
                                                   .input_capacity = 256,
                                                   .max_payload = 256,
                                                   .k2k = true});
    }
    assert_ok(ig_ring_connect_grid(kernels, (const uint32_t[3]){GRID, GRID, 1}, IG_NEIGHBOURS_ALL, true));
}

static uint64_t total_processed(void) {
    uint64_t total = 0;
    for (int i = 0; i < KERNELS; i++) total += status_of(kernels[i]).processed;
    return total;
}

static void wait_until_all_arrived(uint64_t expected) {
    uint64_t last = 0, since = now_ns();
    while (total_processed() < expected && now_ns() - since < SECONDS(20)) {
        uint64_t now = total_processed();
        if (now != last) last = now, since = now_ns();
        sleep_ms(1);
    }
    if (total_processed() == expected) return;
    for (int i = 0; i < KERNELS; i++) {
        ig_ring_status status = status_of(kernels[i]);
        print_message("%s: %s, %llu processed, %llu in input, %llu in inbox, %llu undelivered, parked %u, pending %x\n",
                      ig_ring_kernel_name(kernels[i]), ig_ring_state_name(status.state),
                      (unsigned long long)status.processed, (unsigned long long)status.input_depth,
                      (unsigned long long)status.inbox_depth, (unsigned long long)status.undelivered,
                      igi_ring_load(&kernels[i]->inbox->parked), igi_ring_load(&kernels[i]->block->pending_mask));
    }
    assert_int_equal(total_processed(), expected);
}

static const counts *counts_of(uint32_t kernel) {
    return ig_buffer_contents(buffers[kernel]);
}

static void check_counts(void) {
    ig_k2k_routing_table routes;
    for (uint32_t k = 0; k < KERNELS; k++) {
        const counts *c = counts_of(k);
        ig_ring_status status = status_of(kernels[k]);
        assert_int_equal(c->wrong, 0);
        assert_int_equal(c->refused, 0);
        assert_int_equal(c->backwards, 0);
        assert_int_equal(status.invalid + status.expired + status.undelivered, 0);
        assert_int_equal(status.errors, poisoned[k]);
        assert_int_equal(status.restarts, poisoned[k]);
        assert_int_equal(status.dead_letters, poisoned[k]);
        ig_ring_get_routes(kernels[k], &routes);
        for (uint32_t p = 0; p < PRODUCERS; p++) {
            assert_int_equal(c->direct[p], sent[p][k]);
            uint32_t onward = routes.routes[p % routes.route_count].dest;
            assert_int_equal(counts_of(onward)->by_way[k][p], sent[p][k]);
        }
    }
}

static void nothing_is_lost_doubled_or_overtaken(void **state) {
    (void)state;
    launch_all();
    pthread_t producers[PRODUCERS], disturber;
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        assert_int_equal(pthread_create(&producers[i], NULL, produce, (void *)i), 0);
    assert_int_equal(pthread_create(&disturber, NULL, disturb, NULL), 0);
    for (uint64_t start = now_ns(); now_ns() - start < SECONDS(seconds);) sleep_ms(20);
    atomic_store(&over, true);
    for (int i = 0; i < PRODUCERS; i++) pthread_join(producers[i], NULL);
    pthread_join(disturber, NULL);
    uint64_t injected = 0;
    for (int p = 0; p < PRODUCERS; p++)
        for (int k = 0; k < KERNELS; k++) injected += sent[p][k];
    uint64_t poison = 0;
    for (int k = 0; k < KERNELS; k++) poison += poisoned[k];
    wait_until_all_arrived(2 * injected + poison);
    for (int i = 0; i < KERNELS; i++) {
        assert_ok(ig_ring_terminate(kernels[i], IG_RING_DRAIN));
        assert_ok(ig_ring_wait(kernels[i], SECONDS(20)));
    }
    check_counts();
    print_message("%llu messages in %.1f s, %llu restarts\n", 2ull * injected, seconds, (unsigned long long)poison);
    for (int i = 0; i < KERNELS; i++) {
        ig_ring_kernel_release(kernels[i]);
        ig_buffer_release(buffers[i]);
    }
}

int main(int argc, char **argv) {
    if (argc > 1) seconds = strtod(argv[1], NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_lost_doubled_or_overtaken, open_runtime, close_runtime),
    };
    return cmocka_run_group_tests_name("stress", tests, open_test_device, close_test_device);
}
