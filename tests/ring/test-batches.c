// SPDX-License-Identifier: Apache-2.0
// Messages that are sent together share slots, but are otherwise separate messages.
#include <string.h>

#include "ring-helpers.h"
#include "ring/rings.h"

enum { COUNT = 130 };  // more than share a slot

typedef struct batch {
    uint64_t values[COUNT];
    ig_message messages[COUNT];
} batch;

static void fill(batch *b, uint64_t type) {
    for (uint64_t i = 0; i < COUNT; i++) {
        b->values[i] = i;
        b->messages[i] = IG_MESSAGE(type, &b->values[i]);
    }
}

static void send_all(ig_ring_kernel *kernel, const batch *b) {
    size_t sent = 0;
    assert_ok(ig_ring_send_batch(kernel, b->messages, COUNT, SECONDS(20), &sent));
    assert_int_equal(sent, COUNT);
}

// With room for many dead letters.
static ig_ring_kernel *launch_roomy(const way *w, const char *kernel) {
    ig_ring_launch_desc desc = desc_of(w, kernel);
    desc.dead_letter_capacity = 256;
    return launch(&desc);
}

// Messages after it wait until it is cancelled, and can be inspected in the meantime.
static ig_ring_slot hold(ig_ring_kernel *kernel) {
    ig_ring_slot held;
    assert_ok(ig_ring_reserve(kernel, 0, 0, &held));
    return held;
}

static ig_message_header *first_packet(ig_ring_kernel *kernel, const ig_ring_slot *held) {
    ig_message_header *packet = igi_ring_slot_at(igi_ring_of(kernel, IGI_RING_INPUT), held->position + 1);
    assert_true(igi_ring_packet_count(packet) > 10);
    return packet;
}

static void assert_dead(ig_ring_kernel *kernel, uint32_t reason, uint64_t value) {
    ig_message dead = {0};
    assert_ok(ig_ring_receive_dead(kernel, &dead));
    assert_int_equal(dead.header.dead_reason, reason);
    assert_int_equal(dead.header.payload_size, sizeof value);
    assert_int_equal(*(uint64_t *)dead.payload, value);
    assert_int_equal(dead.header.flags >> IGI_PACKET_SHIFT, 0);
    if (reason != IG_DEAD_CHECKSUM)
        assert_int_equal(dead.header.checksum, ig_message_checksum(dead.payload, sizeof value));
    ig_message_clear(&dead);
}

// ---- Taking them apart ----

static void every_message_of_a_batch_has_its_own_id_and_time(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_roomy(w, "echo");
        batch b;
        fill(&b, 7);
        send_all(kernel, &b);
        ig_message answer = {0}, last = {0};
        for (uint64_t i = 0; i < COUNT; i++) {
            assert_ok(ig_ring_receive(kernel, &answer, SECONDS(20)));
            assert_int_equal(answer.header.message_type, 7);
            assert_int_equal(answer.header.payload_size, 8);
            assert_int_equal(*(uint64_t *)answer.payload, i);
            assert_true(answer.header.correlation_id > last.header.correlation_id);
            assert_int_equal(ig_hlc_compare(answer.header.timestamp, last.header.timestamp), 1);
            assert_int_equal(answer.header.checksum, ig_message_checksum(answer.payload, 8));
            last.header = answer.header;
        }
        assert_int_equal(status_of(kernel).processed, COUNT);
        ig_message_clear(&answer);
        end_kernel(kernel);
    }
}

static void batches_mix_types_and_sizes_in_order(void **state) {
    (void)state;
    static const uint32_t sizes[] = {0, 8, 8, 12, 12, 12, 100, 100, 320, 400, 3000, 3000, 0, 0, 0};
    static char payload[3000];
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_roomy(w, "echo");
        ig_message messages[LENGTH(sizes)] = {0}, answer = {0};
        for (size_t i = 0; i < LENGTH(sizes); i++)
            messages[i] = (ig_message){.header = {.message_type = i / 2, .payload_size = sizes[i]}, .payload = payload};
        size_t sent = 0;
        assert_ok(ig_ring_send_batch(kernel, messages, LENGTH(sizes), SECONDS(20), &sent));
        assert_int_equal(sent, LENGTH(sizes));
        for (size_t i = 0; i < LENGTH(sizes); i++) {
            assert_ok(ig_ring_receive(kernel, &answer, SECONDS(20)));
            assert_int_equal(answer.header.message_type, i / 2);
            assert_int_equal(answer.header.payload_size, sizes[i]);
        }
        ig_message_clear(&answer);
        end_kernel(kernel);
    }
}

static void arrays_are_sent_as_messages(void **state) {
    (void)state;
    static const size_t sizes[] = {8, 24, 400};
    static uint64_t values[COUNT * 50];
    for (size_t i = 0; i < LENGTH(values); i++) values[i] = i;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_roomy(w, "echo");
        ig_message answer = {0};
        for (size_t k = 0; k < LENGTH(sizes); k++) {
            ig_message message = {.header = {.message_type = k, .payload_size = sizes[k]}, .payload = values};
            size_t sent = 0;
            assert_ok(ig_ring_send_array(kernel, &message, COUNT, SECONDS(20), &sent));
            assert_int_equal(sent, COUNT);
            for (size_t i = 0; i < COUNT; i++) {
                assert_ok(ig_ring_receive(kernel, &answer, SECONDS(20)));
                assert_int_equal(answer.header.message_type, k);
                assert_int_equal(answer.header.payload_size, sizes[k]);
                assert_memory_equal(answer.payload, (char *)values + i * sizes[k], sizes[k]);
            }
        }
        ig_message_clear(&answer);
        end_kernel(kernel);
    }
    ig_ring_kernel *kernel = launch_way(&ways[0], "echo");
    ig_message empty = {.header = {.payload_size = 8}};
    assert_status(ig_ring_send_array(kernel, &empty, COUNT, 0, NULL), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_ring_send_array(kernel, NULL, COUNT, 0, NULL), IG_STATUS_INVALID_ARGUMENT);
    empty.header.payload_size = 0;
    assert_ok(ig_ring_send_array(kernel, &empty, COUNT, SECONDS(20), NULL));
    wait_processed(kernel, COUNT);
    end_kernel(kernel);
}

static void a_batch_ends_at_the_message_that_cannot_be_sent(void **state) {
    (void)state;
    ig_ring_kernel *kernel = launch_way(&ways[0], "echo");
    batch b;
    size_t sent = 0;
    fill(&b, 1);
    b.messages[30].payload = NULL;
    assert_status(ig_ring_send_batch(kernel, b.messages, COUNT, SECONDS(20), &sent), IG_STATUS_INVALID_ARGUMENT);
    assert_int_equal(sent, 30);
    for (uint64_t i = 0; i < 30; i++) assert_int_equal(receive_u64(kernel), i);
    end_kernel(kernel);
}

// ---- Errors in one of them ----

static void one_spoiled_message_leaves_the_others_of_its_batch(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_roomy(w, "echo");
        batch b;
        fill(&b, 1);
        ig_ring_slot held = hold(kernel);
        send_all(kernel, &b);
        *igi_ring_packet_sum(first_packet(kernel, &held), 3) ^= 1;
        ig_ring_cancel(kernel, &held);
        for (uint64_t i = 0; i < COUNT; i++)
            if (i != 3) assert_int_equal(receive_u64(kernel), i);
        assert_int_equal(status_of(kernel).invalid, 1);
        assert_dead(kernel, IG_DEAD_CHECKSUM, 3);
        end_kernel(kernel);
    }
}

static void a_packet_that_claims_more_than_it_holds_is_refused(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_roomy(w, "echo");
        batch b;
        fill(&b, 1);
        ig_ring_slot held = hold(kernel);
        send_all(kernel, &b);
        ig_message_header *packet = first_packet(kernel, &held);
        uint32_t count = igi_ring_packet_count(packet);
        packet->flags |= 0xFFFFu << IGI_PACKET_SHIFT;
        ig_ring_cancel(kernel, &held);
        for (uint64_t i = count; i < COUNT; i++) assert_int_equal(receive_u64(kernel), i);
        ig_message dead = {0};
        assert_ok(ig_ring_receive_dead(kernel, &dead));
        assert_int_equal(dead.header.dead_reason, IG_DEAD_BAD_HEADER);
        assert_status(ig_ring_receive_dead(kernel, &dead), IG_STATUS_TIMEOUT);
        ig_message_clear(&dead);
        end_kernel(kernel);
    }
}

static void a_handler_that_fails_goes_on_with_the_next_of_the_batch(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_launch_desc desc = desc_of(w, "fail");
        desc.restart = IG_RESTART_ON_FAILURE;
        ig_ring_kernel *kernel = launch(&desc);
        batch b;
        fill(&b, 1);
        for (uint64_t i = 0; i < COUNT; i++) b.values[i] = i == 5 || i == 6 || i == 40 ? 300 + i : 0;
        send_all(kernel, &b);
        for (uint64_t i = 0; i < COUNT - 3; i++) assert_int_equal(receive_u64(kernel), 0);
        assert_dead(kernel, IG_DEAD_HANDLER, 305);
        assert_dead(kernel, IG_DEAD_HANDLER, 306);
        assert_dead(kernel, IG_DEAD_HANDLER, 340);
        wait_processed(kernel, COUNT);
        end_kernel(kernel);
    }
}

static void a_fault_costs_one_message_of_the_batch(void **state) {
    (void)state;
    use_fault_handlers();
    FOR_ALL_WAYS(w) {
        if (w->in_c) continue;
        ig_ring_launch_desc desc = desc_of(w, "echo");
        desc.restart = IG_RESTART_ON_FAILURE;
        ig_ring_kernel *kernel = launch(&desc);
        batch b;
        fill(&b, 98);
        size_t sent = 0;
        assert_ok(ig_ring_send_batch(kernel, b.messages, 3, SECONDS(20), &sent));
        assert_ok(ig_ring_send_batch(kernel, (ig_message[]){IG_MESSAGE(1, &b.values[7])}, 1, SECONDS(20), &sent));
        assert_int_equal(receive_u64(kernel), 7);
        for (uint64_t i = 0; i < 3; i++) assert_dead(kernel, IG_DEAD_FAULT, i);
        end_kernel(kernel);
    }
}

static void batches_past_their_deadline_are_reported_one_by_one(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_roomy(w, "echo");
        batch b;
        fill(&b, 1);
        for (int i = 0; i < COUNT; i++) b.messages[i].deadline_us = i < COUNT / 2 ? 1 : 0;
        ig_ring_slot held = hold(kernel);
        send_all(kernel, &b);
        sleep_ms(30);
        ig_ring_cancel(kernel, &held);
        for (uint64_t i = COUNT / 2; i < COUNT; i++) assert_int_equal(receive_u64(kernel), i);
        assert_int_equal(status_of(kernel).expired, COUNT / 2);
        for (uint64_t i = 0; i < COUNT / 2; i++) assert_dead(kernel, IG_DEAD_EXPIRED, i);
        end_kernel(kernel);
    }
}

static void dropped_batches_are_dead_letters_one_by_one(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_roomy(w, "echo");
        batch b;
        fill(&b, 1);
        ig_ring_slot held = hold(kernel);
        send_all(kernel, &b);
        assert_ok(ig_ring_deactivate(kernel));
        ig_ring_cancel(kernel, &held);
        assert_ok(ig_ring_terminate(kernel, IG_RING_DROP));
        assert_ok(ig_ring_wait(kernel, SECONDS(20)));
        for (uint64_t i = 0; i < COUNT; i++) assert_dead(kernel, IG_DEAD_DROPPED, i);
        ig_ring_kernel_release(kernel);
    }
}

// ---- Handlers that take several at once ----

static ig_ring_kernel *launch_tally(const way *w) {
    ig_ring_launch_desc desc = desc_of(w, "tally");
    desc.batches = true;
    desc.dead_letter_capacity = 256;
    desc.restart = IG_RESTART_ON_FAILURE;
    return launch(&desc);
}

// How many calls it took to reach the sum.
static uint64_t calls_until(ig_ring_kernel *kernel, uint64_t sum) {
    ig_message answer = {0};
    uint64_t calls = 0, got = 0;
    for (; got < sum; calls++) {
        assert_ok(ig_ring_receive(kernel, &answer, SECONDS(20)));
        got = *(uint64_t *)answer.payload;
    }
    assert_int_equal(got, sum);
    ig_message_clear(&answer);
    return calls;
}

static void handlers_may_take_what_shares_a_place_at_once(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_tally(w);
        batch b;
        fill(&b, 1);
        ig_ring_slot held = hold(kernel);
        send_all(kernel, &b);
        *igi_ring_packet_sum(first_packet(kernel, &held), 3) ^= 1;
        ig_ring_cancel(kernel, &held);
        assert_true(calls_until(kernel, COUNT * (COUNT - 1) / 2 - 3) < COUNT / 4);
        wait_processed(kernel, COUNT - 1);
        assert_dead(kernel, IG_DEAD_CHECKSUM, 3);
        send_u64(kernel, 1, 5);
        assert_int_equal(receive_u64(kernel), COUNT * (COUNT - 1) / 2 + 2);
        end_kernel(kernel);
    }
}

static void all_messages_of_a_call_that_fails_are_dead_letters(void **state) {
    (void)state;
    use_fault_handlers();
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_tally(w);
        batch b;
        fill(&b, 1);
        ig_ring_slot held = hold(kernel);
        send_all(kernel, &b);
        ig_message_header *packet = first_packet(kernel, &held);
        uint32_t count = igi_ring_packet_count(packet);
        *(uint64_t *)igi_ring_packet_payload(packet, count, 2) = 1000;
        *igi_ring_packet_sum(packet, 2) = ig_message_checksum(&(uint64_t){1000}, 8);
        ig_ring_cancel(kernel, &held);
        calls_until(kernel, (uint64_t)(COUNT - count) * (COUNT + count - 1) / 2);
        for (uint64_t i = 0; i < count; i++) assert_dead(kernel, IG_DEAD_HANDLER, i == 2 ? 1000 : i);
        if (!w->in_c) {
            size_t sent;
            fill(&b, 98);
            assert_ok(ig_ring_send_batch(kernel, b.messages, 5, SECONDS(20), &sent));
            send_u64(kernel, 1, 9);
            assert_int_equal(receive_u64(kernel), 9);
            for (uint64_t i = 0; i < 5; i++) assert_dead(kernel, IG_DEAD_FAULT, i);
        }
        end_kernel(kernel);
    }
}

// ---- Between kernels ----

// More of them than the inbox has room for: the rest waits at the sender.
static void batches_between_kernels_arrive_whole_and_in_order(void **state) {
    (void)state;
    static const uint64_t batches = 200;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *from, *to;
        ig_ring_launch_desc desc = desc_of(w, "relay");
        desc.k2k = true;
        desc.user = &to;
        desc.output_capacity = 16;
        to = launch(&desc);
        desc = desc_of(w, "scatter");
        desc.k2k = true;
        desc.user = &from;
        desc.start_inactive = true;
        from = launch(&desc);
        assert_ok(ig_ring_activate(from));
        assert_ok(ig_ring_connect(from, to));
        for (uint64_t i = 0; i < batches; i++) send_u64(from, 1, i * SCATTERED);
        for (uint64_t i = 0; i < batches * SCATTERED; i++) assert_int_equal(receive_u64(to), i);
        wait_processed(to, batches * SCATTERED);
        assert_int_equal(status_of(from).errors, 0);
        end_kernel(from);
        end_kernel(to);
    }
}

// However many share a slot, each takes a number: another sender must not get the same.
static void empty_messages_have_numbers_of_their_own(void **state) {
    (void)state;
    enum { MANY = 600 };
    ig_ring_kernel *kernel = launch_roomy(&ways[0], "echo");
    ig_ring_slot held = hold(kernel);
    ig_message message = {.header = {.message_type = 1}};
    assert_ok(ig_ring_send_array(kernel, &message, MANY, SECONDS(20), NULL));
    uint32_t position = held.position + 1;
    for (uint32_t seen = 0, count; seen < MANY; seen += count, position++) {
        const ig_message_header *packet = igi_ring_slot_at(igi_ring_of(kernel, IGI_RING_INPUT), position);
        count = igi_ring_packet_count(packet);
        assert_in_range(count, 2, MANY - seen);
        assert_true(packet->message_id + count - 1 <= atomic_load(&kernel->runtime->message_ids));
    }
    ig_ring_cancel(kernel, &held);
    end_kernel(kernel);
}

int main(void) {
#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, open_runtime, close_runtime)
    const struct CMUnitTest tests[] = {
        WITH_RUNTIME(every_message_of_a_batch_has_its_own_id_and_time),
        WITH_RUNTIME(batches_mix_types_and_sizes_in_order),
        WITH_RUNTIME(arrays_are_sent_as_messages),
        WITH_RUNTIME(empty_messages_have_numbers_of_their_own),
        WITH_RUNTIME(a_batch_ends_at_the_message_that_cannot_be_sent),
        WITH_RUNTIME(one_spoiled_message_leaves_the_others_of_its_batch),
        WITH_RUNTIME(a_packet_that_claims_more_than_it_holds_is_refused),
        WITH_RUNTIME(a_handler_that_fails_goes_on_with_the_next_of_the_batch),
        WITH_RUNTIME(a_fault_costs_one_message_of_the_batch),
        WITH_RUNTIME(batches_past_their_deadline_are_reported_one_by_one),
        WITH_RUNTIME(dropped_batches_are_dead_letters_one_by_one),
        WITH_RUNTIME(handlers_may_take_what_shares_a_place_at_once),
        WITH_RUNTIME(all_messages_of_a_call_that_fails_are_dead_letters),
        WITH_RUNTIME(batches_between_kernels_arrive_whole_and_in_order),
    };
    return cmocka_run_group_tests_name("batches", tests, open_test_device, close_test_device);
}
