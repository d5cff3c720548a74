// SPDX-License-Identifier: Apache-2.0
// Sending and receiving, for every way to make a kernel.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "ring-helpers.h"
#include "ring/rings.h"

// ---- Layout ----

static const char layout_source[] =
    "#include <ingot/ring>\n"
    "kernel void sizes(device uint *out [[buffer(0)]]) {\n"
    "    out[0] = sizeof(ig_message_header); out[1] = sizeof(ig_ring_control); out[2] = sizeof(ig_k2k_inbox_header);\n"
    "    out[3] = sizeof(ig_k2k_routing_table); out[4] = sizeof(igi_ring_block); out[5] = sizeof(igi_ring_place);\n"
    "    out[6] = __builtin_offsetof(ig_message_header, sequence);\n"
    "    out[7] = __builtin_offsetof(ig_message_header, deadline);\n"
    "    out[8] = __builtin_offsetof(ig_ring_control, hlc_physical);\n"
    "    out[9] = __builtin_offsetof(igi_ring_block, routes); out[10] = __builtin_offsetof(igi_ring_block, heads);\n"
    "}\n";

static void layouts_are_those_of_the_contract_on_both_sides(void **state) {
    (void)state;
    const uint32_t expected[] = {256,
                                 128,
                                 64,
                                 864,
                                 sizeof(igi_ring_block),
                                 sizeof(igi_ring_place),
                                 76,
                                 104,
                                 80,
                                 offsetof(igi_ring_block, routes),
                                 offsetof(igi_ring_block, heads)};
    uint32_t seen[LENGTH(expected)];
    run_on_words(layout_source, "sizes", seen, LENGTH(expected), 1);
    assert_memory_equal(seen, expected, sizeof expected);
    assert_int_equal(offsetof(ig_message_header, message_type), 48);
    assert_int_equal(offsetof(ig_message_header, priority), 56);
    assert_int_equal(offsetof(ig_message_header, payload_size), 64);
    assert_int_equal(offsetof(ig_message_header, checksum), 72);
    assert_int_equal(offsetof(ig_message_header, timestamp), 80);
    assert_int_equal(offsetof(ig_ring_control, messages_processed), 16);
    assert_int_equal(offsetof(ig_ring_control, input_head), 32);
    assert_int_equal(offsetof(ig_ring_control, output_tail), 56);
    assert_int_equal(offsetof(ig_ring_control, input_capacity), 64);
    assert_int_equal(offsetof(ig_ring_control, last_error), 96);
    assert_int_equal(offsetof(ig_k2k_inbox_header, sequence), 24);
    assert_int_equal(offsetof(ig_k2k_routing_table, routes), 32);
}

static void checksums_are_those_of_zlib(void **state) {
    (void)state;
    unsigned char bytes[300];
    random_state random = {3};
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)random_u64(&random);
    for (size_t from = 0; from < 9; from++)
        for (size_t count = 0; from + count <= sizeof bytes; count += 1 + count / 8)
            assert_int_equal(ig_message_checksum(bytes + from, count), crc32(0, bytes + from, (uInt)count));
}

// ---- Payloads ----

static void fill(unsigned char *bytes, size_t count, uint64_t seed) {
    random_state random = {seed};
    for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)random_u64(&random);
}

static void check_echo(ig_ring_kernel *kernel, size_t bytes, ig_message *answer) {
    static unsigned char payload[IG_MESSAGE_MAX_PAYLOAD];
    uint64_t id;
    fill(payload, bytes, bytes);
    ig_message message = {.header = {.message_type = 5, .payload_size = bytes, .correlation_id = 77},
                          .payload = payload};
    assert_ok(ig_ring_send(kernel, &message, SECONDS(20), &id));
    assert_ok(ig_ring_receive(kernel, answer, SECONDS(20)));
    assert_int_equal(answer->header.payload_size, bytes);
    assert_int_equal(answer->header.correlation_id, id);
    assert_int_equal(answer->header.message_type, 5);
    assert_int_equal(answer->header.source_kernel, ig_ring_kernel_id(kernel));
    assert_int_equal(answer->header.dest_kernel, IG_RING_HOST);
    assert_int_equal(answer->header.magic, IG_MESSAGE_MAGIC);
    assert_int_equal(answer->header.checksum, ig_message_checksum(payload, bytes));
    if (bytes) assert_memory_equal(answer->payload, payload, bytes);
}

static void payloads_of_every_size_come_back_whole(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 7, 8, 31, 33, 64, 257, 319, 320, 321, 4096, 4097, 65535, 65536};
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "echo");
        ig_message answer = {0};
        for (int lap = 0; lap < 3; lap++)
            for (size_t i = 0; i < LENGTH(sizes); i++) check_echo(kernel, sizes[i], &answer);
        ig_message_clear(&answer);
        end_kernel(kernel);
    }
}

static void payloads_that_are_too_large_are_refused_not_cut(void **state) {
    (void)state;
    static char payload[IG_MESSAGE_MAX_PAYLOAD + 1];
    ig_ring_launch_desc desc = desc_of(&ways[0], "echo");
    desc.max_payload = 100;
    ig_ring_kernel *small = launch(&desc);
    desc.name = "large";
    desc.max_payload = 0;
    ig_ring_kernel *large = launch(&desc);
    ig_message message = {.header = {.payload_size = 129}, .payload = payload};
    assert_status(ig_ring_send(small, &message, 0, NULL), IG_STATUS_OVERFLOW);
    assert_ok(ig_ring_send(large, &message, 0, NULL));
    message.header.payload_size = IG_MESSAGE_MAX_PAYLOAD + 1;
    assert_status(ig_ring_send(large, &message, 0, NULL), IG_STATUS_OVERFLOW);
    ig_ring_slot slot;
    assert_status(ig_ring_reserve(large, IG_MESSAGE_MAX_PAYLOAD + 1, 0, &slot), IG_STATUS_OVERFLOW);
    message.payload = NULL;
    message.header.payload_size = 8;
    assert_status(ig_ring_send(large, &message, 0, NULL), IG_STATUS_INVALID_ARGUMENT);
    end_kernel(small);
    end_kernel(large);
}

typedef struct point {
    double x, y;
} point;

static void structs_travel_with_their_type(void **state) {
    (void)state;
    ig_ring_kernel *kernel = launch_way(&ways[2], "echo");
    point sent = {1.5, -2.5};
    ig_message message = IG_MESSAGE(42, &sent), answer = {0};
    assert_ok(ig_ring_request(kernel, &message, &answer, SECONDS(20)));
    assert_null(IG_MESSAGE_AS(point, 41, &answer));
    assert_null(IG_MESSAGE_AS(double, 42, &answer));
    const point *got = IG_MESSAGE_AS(point, 42, &answer);
    assert_non_null(got);
    assert_memory_equal(got, &sent, sizeof sent);
    ig_message_clear(&answer);
    end_kernel(kernel);
}

// ---- Order, batches, places ----

static void order_is_kept_over_many_laps_of_small_rings(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_launch_desc desc = desc_of(w, "add");
        desc.input_capacity = desc.output_capacity = 4;
        ig_ring_kernel *kernel = launch(&desc);
        uint64_t sum = 0, sent = 0;
        for (uint64_t got = 1; got <= 300; got++) {
            while (sent < got + 5 && sent < 300) {
                uint64_t value = sent + 1;
                ig_message message = IG_MESSAGE(1, &value);
                if (ig_ring_send(kernel, &message, 0, NULL) != IG_STATUS_OK) break;
                sent++;
            }
            sum += got;
            assert_int_equal(receive_u64(kernel), sum);
        }
        end_kernel(kernel);
    }
}

static void batches_go_as_far_as_there_is_room(void **state) {
    (void)state;
    ig_ring_launch_desc desc = desc_of(&ways[2], "echo");
    desc.input_capacity = 8;
    desc.start_inactive = false;
    ig_ring_kernel *kernel = launch(&desc);
    uint64_t values[40];
    ig_message messages[40], answers[40] = {0};
    for (uint64_t i = 0; i < 40; i++) {
        values[i] = i;
        messages[i] = IG_MESSAGE(1, &values[i]);
    }
    size_t sent = 0, received = 0;
    assert_ok(ig_ring_send_batch(kernel, messages, 40, SECONDS(20), &sent));
    assert_int_equal(sent, 40);
    while (received < 40) {
        size_t more;
        assert_ok(ig_ring_receive_batch(kernel, answers + received, 40 - received, SECONDS(20), &more));
        assert_true(more > 0);
        received += more;
    }
    for (uint64_t i = 0; i < 40; i++) {
        assert_int_equal(*(uint64_t *)answers[i].payload, i);
        ig_message_clear(&answers[i]);
    }
    end_kernel(kernel);
}

static void places_can_be_filled_and_read_without_copies(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "echo");
        ig_ring_slot in[3], out[2];
        for (uint64_t i = 0; i < 3; i++) {
            assert_ok(ig_ring_reserve(kernel, i == 2 ? 5000 : 8, 0, &in[i]));
            memset(in[i].payload, (int)i + 1, i == 2 ? 5000 : 8);
            in[i].header->message_type = i;
        }
        ig_ring_commit(kernel, &in[2]);  // waits for earlier ones
        ig_ring_cancel(kernel, &in[0]);
        ig_ring_commit(kernel, &in[1]);
        assert_ok(ig_ring_peek(kernel, SECONDS(20), &out[0]));
        assert_ok(ig_ring_peek(kernel, SECONDS(20), &out[1]));
        assert_int_equal(out[0].header->message_type, 1);
        assert_int_equal(out[1].header->payload_size, 5000);
        assert_int_equal(((char *)out[1].payload)[4999], 3);
        ig_ring_consume(kernel, &out[1]);  // in any order
        ig_ring_consume(kernel, &out[0]);
        ig_message none = {0};
        assert_status(ig_ring_receive(kernel, &none, 0), IG_STATUS_TIMEOUT);
        send_u64(kernel, 3, 9);
        assert_int_equal(receive_u64(kernel), 9);
        end_kernel(kernel);
    }
}

static void the_control_block_says_how_far_a_kernel_is(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "echo");
        for (uint64_t i = 0; i < 10; i++) send_u64(kernel, 1, i);
        for (uint64_t i = 0; i < 10; i++) assert_int_equal(receive_u64(kernel), i);
        ig_ring_slot held;
        assert_ok(ig_ring_reserve(kernel, 8, 0, &held));
        for (uint64_t i = 0; i < 3; i++) send_u64(kernel, 1, i);
        uint64_t value = 77;
        ig_message urgent = IG_MESSAGE(1, &value);  // makes the kernel check once more
        urgent.header.priority = IG_PRIORITY_HIGH;
        assert_ok(ig_ring_send(kernel, &urgent, SECONDS(5), NULL));
        assert_int_equal(receive_u64(kernel), value);
        assert_ok(ig_ring_deactivate(kernel));
        const ig_ring_control *control = kernel->control;
        assert_int_equal(control->messages_processed, 11);
        assert_int_equal(control->input_head, 10);
        assert_int_equal(control->input_tail, 14);
        assert_int_equal(control->messages_in_flight, 4);
        assert_int_equal(control->output_head, 11);
        assert_int_equal(control->output_tail, 11);
        ig_ring_cancel(kernel, &held);
        assert_ok(ig_ring_activate(kernel));
        for (uint64_t i = 0; i < 3; i++) assert_int_equal(receive_u64(kernel), i);
        end_kernel(kernel);
    }
}

// ---- Correlation, priority, deadlines ----

static void who_waits_for_one_answer_leaves_the_others(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "echo");
        uint64_t ids[5];
        for (uint64_t i = 0; i < 5; i++) {
            ig_message message = IG_MESSAGE(i, &i);
            assert_ok(ig_ring_send(kernel, &message, SECONDS(20), &ids[i]));
        }
        ig_message answer = {0};
        assert_ok(ig_ring_receive_correlated(kernel, ids[3], &answer, SECONDS(20)));
        assert_int_equal(*(uint64_t *)answer.payload, 3);
        assert_ok(ig_ring_receive_correlated(kernel, ids[1], &answer, SECONDS(20)));
        assert_int_equal(*(uint64_t *)answer.payload, 1);
        assert_int_equal(receive_u64(kernel), 0);
        assert_int_equal(receive_u64(kernel), 2);
        assert_int_equal(receive_u64(kernel), 4);
        assert_status(ig_ring_receive_correlated(kernel, ids[1], &answer, 1000), IG_STATUS_TIMEOUT);
        ig_message_clear(&answer);
        end_kernel(kernel);
    }
}

static void urgent_messages_overtake_others(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "echo");
        ig_ring_slot held;
        assert_ok(ig_ring_reserve(kernel, 8, 0, &held));  // all messages after it wait
        uint64_t first = 1, second = 2;
        ig_message normal = IG_MESSAGE(1, &first), urgent = IG_MESSAGE(2, &second);
        urgent.header.priority = IG_PRIORITY_HIGH;
        assert_ok(ig_ring_send(kernel, &normal, 0, NULL));
        assert_ok(ig_ring_send(kernel, &urgent, 0, NULL));
        assert_int_equal(receive_u64(kernel), 2);
        ig_ring_cancel(kernel, &held);
        assert_int_equal(receive_u64(kernel), 1);
        end_kernel(kernel);
    }
}

static void messages_past_their_deadline_are_reported_not_delivered(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "add");
        ig_ring_slot held;
        assert_ok(ig_ring_reserve(kernel, 8, 0, &held));
        send_u64_within(kernel, 1, 100, 1);
        send_u64_within(kernel, 2, 1, 60000000);
        sleep_ms(30);
        ig_ring_cancel(kernel, &held);
        assert_int_equal(receive_u64(kernel), 1);
        assert_int_equal(status_of(kernel).expired, 1);
        ig_message dead = {0};
        assert_ok(ig_ring_receive_dead(kernel, &dead));
        assert_int_equal(dead.header.dead_reason, IG_DEAD_EXPIRED);
        assert_int_equal(*(uint64_t *)dead.payload, 100);
        assert_status(ig_ring_receive_dead(kernel, &dead), IG_STATUS_TIMEOUT);
        ig_message_clear(&dead);
        end_kernel(kernel);
    }
}

// ---- Clocks ----

static void answers_are_later_than_their_questions(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "echo");
        ig_hlc_timestamp last = {0};
        for (uint64_t i = 0; i < 200; i++) {
            ig_hlc_timestamp before = ig_hlc_tick(ig_ring_runtime_clock(rings));
            ig_message message = IG_MESSAGE(1, &i), answer = {0};
            assert_ok(ig_ring_request(kernel, &message, &answer, SECONDS(20)));
            assert_true(ig_hlc_compare(before, answer.header.timestamp) < 0);
            assert_true(ig_hlc_compare(last, answer.header.timestamp) < 0);
            last = answer.header.timestamp;
            assert_ok(ig_hlc_update(ig_ring_runtime_clock(rings), last, NULL));
            ig_message_clear(&answer);
        }
        end_kernel(kernel);
    }
}

// ---- Hostile messages ----

typedef struct corruption {
    const char *name;
    void (*apply)(ig_message_header *header);
    ig_dead_reason reason;
} corruption;

static void spoil_magic(ig_message_header *header) {
    header->magic ^= 1;
}
static void spoil_version(ig_message_header *header) {
    header->version = 2;
}
static void spoil_size(ig_message_header *header) {
    header->payload_size = 1ull << 40;
}
static void spoil_size_a_little(ig_message_header *header) {
    header->payload_size = IG_MESSAGE_MAX_PAYLOAD + 64;
}
static void spoil_checksum(ig_message_header *header) {
    header->checksum ^= 0x80;
}
static void spoil_clock(ig_message_header *header) {
    header->timestamp.physical += 120000000;
    header->timestamp.node = 5;
}

static const corruption corruptions[] = {
    {"magic", spoil_magic, IG_DEAD_BAD_HEADER},     {"version", spoil_version, IG_DEAD_BAD_HEADER},
    {"size", spoil_size, IG_DEAD_BAD_HEADER},       {"size just past the end", spoil_size_a_little, IG_DEAD_BAD_HEADER},
    {"checksum", spoil_checksum, IG_DEAD_CHECKSUM}, {"clock", spoil_clock, IG_DEAD_CLOCK_SKEW}};

// Writes into the ring without the library's knowledge: the message is complete, and waits after a reservation.
static void damaged_messages_become_dead_letters(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "add");
        for (size_t i = 0; i < LENGTH(corruptions); i++) {
            ig_ring_slot held;
            assert_ok(ig_ring_reserve(kernel, 8, SECONDS(5), &held));
            send_u64(kernel, 1, 1000);
            send_u64(kernel, 1, 1);
            corruptions[i].apply(igi_ring_slot_at(igi_ring_of(kernel, IGI_RING_INPUT), held.position + 1));
            ig_ring_cancel(kernel, &held);
            assert_int_equal(receive_u64(kernel), i + 1);
            ig_message dead = {0};
            assert_ok(ig_ring_receive_dead(kernel, &dead));
            if (dead.header.dead_reason != corruptions[i].reason)
                fail_msg("%s, %s: %s", w->name, corruptions[i].name, ig_dead_reason_text(dead.header.dead_reason));
            ig_message_clear(&dead);
        }
        assert_int_equal(status_of(kernel).invalid, LENGTH(corruptions));
        assert_int_equal(status_of(kernel).state, IG_RING_ACTIVE);
        end_kernel(kernel);
    }
}

// Any bytes may be in the header, except for the sequence, which belongs to the ring.
static void random_damage_never_stops_a_kernel(void **state) {
    (void)state;
    random_state random = {20261116};
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "echo");
        for (int i = 0; i < 100; i++) {
            ig_ring_slot held;
            assert_ok(ig_ring_reserve(kernel, 8, SECONDS(5), &held));
            send_u64(kernel, 1, 1000);
            send_u64(kernel, 77, (uint64_t)i);
            char *header = (char *)igi_ring_slot_at(igi_ring_of(kernel, IGI_RING_INPUT), held.position + 1);
            uint64_t noise = random_u64(&random), at = 8 * random_below(&random, sizeof(ig_message_header) / 8);
            memcpy(header + at, &noise, at == offsetof(ig_message_header, checksum) ? 4 : 8);
            ig_ring_cancel(kernel, &held);
            ig_message message = {0};
            do assert_ok(ig_ring_receive(kernel, &message, SECONDS(20)));
            while (message.header.message_type != 77 || *(uint64_t *)message.payload != (uint64_t)i);
            while (ig_ring_receive_dead(kernel, &message) == IG_STATUS_OK);
            ig_message_clear(&message);
        }
        end_kernel(kernel);
    }
}

// ---- Full queues ----

static void full_queues_say_so_and_lose_nothing(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_launch_desc desc = desc_of(w, "echo");
        desc.input_capacity = 4;
        desc.output_capacity = 2;
        ig_ring_kernel *kernel = launch(&desc);
        uint64_t sent = 0;
        for (uint64_t last = now_ns(); now_ns() - last < (sent < 5 ? SECONDS(20) : SECONDS(0.02));) {
            ig_message message = IG_MESSAGE(1, &sent);
            ig_status status = ig_ring_send(kernel, &message, 0, NULL);
            if (status == IG_STATUS_OK)
                sent++, last = now_ns();
            else
                assert_status(status, IG_STATUS_QUEUE_FULL);
        }
        assert_in_range(sent, 5, 7);  // both rings, and perhaps one in between
        ig_message more = IG_MESSAGE(1, &sent);
        assert_status(ig_ring_send(kernel, &more, 2000000, NULL), IG_STATUS_QUEUE_FULL);
        for (uint64_t i = 0; i < sent; i++) assert_int_equal(receive_u64(kernel), i);
        send_u64(kernel, 1, 4711);
        assert_int_equal(receive_u64(kernel), 4711);
        end_kernel(kernel);
    }
}

static void *receive_after_a_while(void *argument) {
    sleep_ms(30);
    for (int i = 0; i < 20; i++) {
        ig_message message = {0};
        if (ig_ring_receive(argument, &message, SECONDS(20)) != IG_STATUS_OK) return argument;
        ig_message_clear(&message);
    }
    return NULL;
}

static void senders_sleep_until_there_is_room(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_launch_desc desc = desc_of(w, "echo");
        desc.input_capacity = desc.output_capacity = 2;
        ig_ring_kernel *kernel = launch(&desc);
        pthread_t receiver;
        assert_int_equal(pthread_create(&receiver, NULL, receive_after_a_while, kernel), 0);
        for (uint64_t i = 0; i < 20; i++) send_u64(kernel, 1, i);
        void *failed;
        pthread_join(receiver, &failed);
        assert_null(failed);
        end_kernel(kernel);
    }
}

int main(void) {
#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, open_runtime, close_runtime)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_are_those_of_the_contract_on_both_sides),
        cmocka_unit_test(checksums_are_those_of_zlib),
        WITH_RUNTIME(payloads_of_every_size_come_back_whole),
        WITH_RUNTIME(payloads_that_are_too_large_are_refused_not_cut),
        WITH_RUNTIME(structs_travel_with_their_type),
        WITH_RUNTIME(order_is_kept_over_many_laps_of_small_rings),
        WITH_RUNTIME(batches_go_as_far_as_there_is_room),
        WITH_RUNTIME(places_can_be_filled_and_read_without_copies),
        WITH_RUNTIME(the_control_block_says_how_far_a_kernel_is),
        WITH_RUNTIME(who_waits_for_one_answer_leaves_the_others),
        WITH_RUNTIME(urgent_messages_overtake_others),
        WITH_RUNTIME(messages_past_their_deadline_are_reported_not_delivered),
        WITH_RUNTIME(answers_are_later_than_their_questions),
        WITH_RUNTIME(damaged_messages_become_dead_letters),
        WITH_RUNTIME(random_damage_never_stops_a_kernel),
        WITH_RUNTIME(full_queues_say_so_and_lose_nothing),
        WITH_RUNTIME(senders_sleep_until_there_is_room),
    };
    return cmocka_run_group_tests_name("messages", tests, open_test_device, close_test_device);
}
