// SPDX-License-Identifier: Apache-2.0
// Messages between kernels: routes, order, forwarding, full inboxes, other devices.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring-helpers.h"

// ---- Routing tables ----

static void grids_have_the_neighbours_of_their_place(void **state) {
    (void)state;
    ig_k2k_routing_table table;
    const uint32_t plane[3] = {4, 3, 1}, space[3] = {3, 3, 3}, line_of_two[3] = {2, 1, 1};
    // Inside: N, S, W, E.
    assert_ok(ig_k2k_routing_table_grid(&table, 5, 10, plane, IG_NEIGHBOURS_FACES, false, 100));
    assert_int_equal(table.self_id, 15);
    assert_int_equal(table.route_count, 4);
    const uint32_t inside[] = {11, 19, 14, 16};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(table.routes[i].dest, inside[i]);
        assert_int_equal(table.routes[i].inbox_offset, inside[i] * 100);
        assert_int_equal(table.routes[i].is_active, 1);
        assert_int_equal(table.routes[i].hops, 1);
        assert_int_equal(table.routes[i].bandwidth_hint, 16);
    }
    // At a corner there are two, unless the grid goes round.
    assert_ok(ig_k2k_routing_table_grid(&table, 0, 0, plane, IG_NEIGHBOURS_FACES, false, 100));
    assert_int_equal(table.route_count, 2);
    assert_ok(ig_k2k_routing_table_grid(&table, 0, 0, plane, IG_NEIGHBOURS_FACES, true, 100));
    assert_int_equal(table.route_count, 4);
    assert_int_equal(table.routes[0].dest, 8);
    assert_ok(ig_k2k_routing_table_grid(&table, 5, 0, plane, IG_NEIGHBOURS_ALL, false, 100));
    assert_int_equal(table.route_count, 8);
    // -X, +X, -Y, +Y, -Z, +Z.
    assert_ok(ig_k2k_routing_table_grid(&table, 13, 0, space, IG_NEIGHBOURS_FACES, false, 100));
    const uint32_t faces[] = {12, 14, 10, 16, 4, 22};
    assert_int_equal(table.route_count, 6);
    for (int i = 0; i < 6; i++) assert_int_equal(table.routes[i].dest, faces[i]);
    assert_ok(ig_k2k_routing_table_grid(&table, 13, 0, space, IG_NEIGHBOURS_ALL, false, 100));
    assert_int_equal(table.route_count, 26);
    assert_ok(ig_k2k_routing_table_grid(&table, 0, 0, space, IG_NEIGHBOURS_ALL, false, 100));
    assert_int_equal(table.route_count, 7);
    assert_ok(ig_k2k_routing_table_grid(&table, 0, 0, line_of_two, IG_NEIGHBOURS_FACES, true, 100));
    assert_int_equal(table.route_count, 1);  // the same on both sides, and never the kernel itself
    assert_status(ig_k2k_routing_table_grid(&table, 12, 0, plane, IG_NEIGHBOURS_FACES, false, 100),
                  IG_STATUS_INVALID_ARGUMENT);
}

// ---- Kernels in a row ----

enum { ROW = 5 };

typedef struct row {
    ig_ring_kernel *kernels[ROW];
} row;

static void make_row(row *r, const way *w, const char *kernel, uint32_t max_payload) {
    for (int i = 0; i < ROW; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        ig_ring_launch_desc desc = desc_of(w, kernel);
        desc.name = name;
        desc.k2k = true;
        desc.max_payload = max_payload;
        desc.user = &r->kernels[i];
        desc.start_inactive = true;
        r->kernels[i] = launch(&desc);
    }
    for (int i = 0; i < ROW; i++) assert_ok(ig_ring_activate(r->kernels[i]));
}

static void end_row(row *r) {
    for (int i = 0; i < ROW; i++) end_kernel(r->kernels[i]);
}

static void messages_pass_along_a_row_of_kernels_in_order(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        row r;
        make_row(&r, w, "relay", 0);
        for (int i = 0; i + 1 < ROW; i++) assert_ok(ig_ring_connect(r.kernels[i], r.kernels[i + 1]));
        for (uint64_t i = 0; i < 600; i++) send_u64(r.kernels[0], 1, i);
        for (uint64_t i = 0; i < 600; i++) assert_int_equal(receive_u64(r.kernels[ROW - 1]), i);
        for (int i = 0; i < ROW; i++) wait_processed(r.kernels[i], 600);
        end_row(&r);
    }
}

static void broadcasts_reach_every_neighbour_once(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        row r;
        make_row(&r, w, "relay", 0);
        for (int i = 1; i < ROW; i++) assert_ok(ig_ring_connect(r.kernels[0], r.kernels[i]));
        for (uint64_t i = 0; i < 100; i++) send_u64(r.kernels[0], 1, i);
        for (int k = 1; k < ROW; k++)
            for (uint64_t i = 0; i < 100; i++) assert_int_equal(receive_u64(r.kernels[k]), i);
        end_row(&r);
    }
}

static void routes_can_be_closed_and_are_limited(void **state) {
    (void)state;
    const way *w = &ways[0];
    row r;
    make_row(&r, w, "relay", 0);
    ig_ring_kernel *lonely = launch_way(w, "echo");
    assert_status(ig_ring_connect(r.kernels[0], lonely), IG_STATUS_WRONG_STATE);
    assert_status(ig_ring_connect(r.kernels[0], r.kernels[0]), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_ring_disconnect(r.kernels[0], r.kernels[1]), IG_STATUS_NOT_FOUND);
    assert_ok(ig_ring_connect(r.kernels[0], r.kernels[1]));
    assert_ok(ig_ring_connect(r.kernels[0], r.kernels[1]));
    ig_k2k_routing_table routes;
    ig_ring_get_routes(r.kernels[0], &routes);
    assert_int_equal(routes.route_count, 1);
    assert_ok(ig_ring_disconnect(r.kernels[0], r.kernels[1]));
    ig_ring_get_routes(r.kernels[0], &routes);
    assert_int_equal(routes.routes[0].is_active, 0);
    assert_status(ig_ring_disconnect(r.kernels[0], r.kernels[1]), IG_STATUS_NOT_FOUND);
    send_u64(r.kernels[0], 1, 1);
    wait_processed(r.kernels[0], 1);
    assert_int_equal(status_of(r.kernels[1]).processed, 0);
    assert_ok(ig_ring_connect(r.kernels[0], r.kernels[2]));  // replaces the closed one
    send_u64(r.kernels[0], 1, 2);
    assert_int_equal(receive_u64(r.kernels[2]), 2);
    end_kernel(lonely);
    end_row(&r);
}

static void forwarded_messages_end_after_eight_hops(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        row r;
        make_row(&r, w, "onward", 0);
        for (int i = 0; i < ROW; i++) assert_ok(ig_ring_connect(r.kernels[i], r.kernels[(i + 1) % ROW]));
        uint64_t value = 5;
        ig_message message = IG_MESSAGE(9, &value);
        assert_ok(ig_ring_send(r.kernels[0], &message, SECONDS(5), NULL));
        ig_message end = {0};
        assert_ok(ig_ring_receive(r.kernels[8 % ROW], &end, SECONDS(20)));
        assert_int_equal(end.header.message_type, 1000 + IG_DELIVERY_MAX_HOPS);
        assert_int_equal(*(uint64_t *)end.payload, 8);
        ig_message_clear(&end);
        end_row(&r);
    }
}

// ---- Full inboxes ----

static void a_full_inbox_delays_and_loses_nothing(void **state) {
    (void)state;
    ig_ring_runtime *outer = rings;
    assert_ok(ig_ring_runtime_create(device, &(ig_ring_runtime_desc){.inbox_capacity = 4}, &rings));
    FOR_ALL_WAYS(w) {
        row r;
        make_row(&r, w, "relay", 512);
        assert_ok(ig_ring_connect(r.kernels[0], r.kernels[1]));
        assert_ok(ig_ring_deactivate(r.kernels[1]));
        for (uint64_t i = 0; i < 200; i++) send_u64(r.kernels[0], 1, i);
        wait_processed(r.kernels[0], 200);
        assert_ok(ig_ring_activate(r.kernels[1]));
        for (uint64_t i = 0; i < 200; i++) assert_int_equal(receive_u64(r.kernels[1]), i);
        assert_int_equal(status_of(r.kernels[0]).undelivered, 0);
        end_row(&r);
    }
    assert_ok(ig_ring_runtime_shutdown(rings));
    rings = outer;
}

static void what_cannot_be_delivered_in_time_becomes_a_dead_letter(void **state) {
    (void)state;
    ig_ring_runtime *outer = rings;
    assert_ok(ig_ring_runtime_create(device, &(ig_ring_runtime_desc){.inbox_capacity = 4, .pending_ms = 30}, &rings));
    FOR_ALL_WAYS(w) {
        row r;
        make_row(&r, w, "relay", 512);
        assert_ok(ig_ring_connect(r.kernels[0], r.kernels[1]));
        assert_ok(ig_ring_deactivate(r.kernels[1]));
        for (uint64_t i = 0; i < 10; i++) send_u64(r.kernels[0], 1, i);
        for (int i = 0; i < 5000 && status_of(r.kernels[0]).undelivered < 6; i++) sleep_ms(1);
        assert_int_equal(status_of(r.kernels[0]).undelivered, 6);
        ig_message dead = {0};
        for (uint64_t i = 4; i < 10; i++) {
            assert_ok(ig_ring_receive_dead(r.kernels[0], &dead));
            assert_int_equal(dead.header.dead_reason, IG_DEAD_UNDELIVERED);
            assert_int_equal(*(uint64_t *)dead.payload, i);
        }
        ig_message_clear(&dead);
        assert_ok(ig_ring_activate(r.kernels[1]));
        for (uint64_t i = 0; i < 4; i++) assert_int_equal(receive_u64(r.kernels[1]), i);
        end_row(&r);
    }
    assert_ok(ig_ring_runtime_shutdown(rings));
    rings = outer;
}

// An inbox takes larger payloads than the kernel's own rings may: its dead letters have no room for such a payload.
static void a_failed_message_too_large_for_the_dead_letters_is_kept_without_its_payload(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *sender = NULL;
        ig_ring_launch_desc from = desc_of(w, "onward"), to = desc_of(w, "fail");
        from.k2k = to.k2k = true;
        from.user = &sender;
        to.max_payload = 64;
        sender = launch(&from);
        ig_ring_kernel *receiver = launch(&to);
        assert_ok(ig_ring_connect(sender, receiver));
        uint64_t large[125] = {300};
        ig_message message = IG_MESSAGE(1, &large), dead = {0};
        assert_ok(ig_ring_send(sender, &message, SECONDS(5), NULL));
        for (int i = 0; i < 5000 && status_of(receiver).state != IG_RING_FAILED; i++) sleep_ms(1);
        assert_ok(ig_ring_receive_dead(receiver, &dead));
        assert_int_equal(dead.header.dead_reason, IG_DEAD_HANDLER);
        assert_int_equal(dead.header.payload_size, 0);
        assert_int_equal(status_of(receiver).last_error, 300);
        assert_ok(ig_ring_activate(receiver));
        send_u64(receiver, 1, 0);
        assert_int_equal(receive_u64(receiver), 0);
        end_kernel(sender);
        end_kernel(receiver);
    }
}

// ---- Other devices ----

static const char courier_source[] =
    "#include <ingot/ring>\n"
    "void courier(thread ring::context &context) {\n"
    "    if (!context.leads()) return;\n"
    "    if (context.source() == ring::host) context.send(*context.payload<ulong>(), 3, context.id());\n"
    "    else if (context.type() == 3) context.reply(4, *context.payload<ulong>());\n"
    "    else context.emit(5, *context.payload<ulong>());\n"
    "}\n"
    "INGOT_RING_KERNEL(courier, courier)\n";

static void kernels_of_two_devices_ask_and_answer(void **state) {
    (void)state;
    ig_ring_runtime *outer = rings, *there;
    assert_ok(ig_ring_runtime_create(device, &(ig_ring_runtime_desc){.node = 9}, &there));
    assert_ok(ig_ring_runtime_join(rings, there));
    assert_status(ig_ring_runtime_join(rings, there), IG_STATUS_INVALID_ARGUMENT);
    for (int i = 0; i < 4; i++) {
        ig_ring_launch_desc desc = {.name = "courier",
                                    .source = courier_source,
                                    .block = i & 1 ? 32 : 1,
                                    .mode = i & 2 ? IG_RING_EVENT_DRIVEN : IG_RING_PERSISTENT};
        ig_ring_kernel *near = launch(&desc);
        rings = there;
        ig_ring_kernel *far = launch(&desc);
        rings = outer;
        uint64_t address = ig_ring_kernel_id(far);
        assert_int_equal(address >> 32, 9);
        for (int k = 0; k < 50; k++) {
            uint64_t id;
            ig_message message = IG_MESSAGE(1, &address);
            assert_ok(ig_ring_send(near, &message, SECONDS(5), &id));
            assert_int_equal(receive_u64(near), id);
        }
        address = 9ull << 32 | 63;  // nobody
        send_u64(near, 1, address);
        for (int k = 0; k < 5000 && !status_of(near).undelivered; k++) sleep_ms(1);
        assert_int_equal(status_of(near).undelivered, 1);
        end_kernel(near);
        end_kernel(far);
    }
    assert_ok(ig_ring_runtime_shutdown(there));
}

int main(void) {
#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, open_runtime, close_runtime)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_have_the_neighbours_of_their_place),
        WITH_RUNTIME(messages_pass_along_a_row_of_kernels_in_order),
        WITH_RUNTIME(broadcasts_reach_every_neighbour_once),
        WITH_RUNTIME(routes_can_be_closed_and_are_limited),
        WITH_RUNTIME(forwarded_messages_end_after_eight_hops),
        WITH_RUNTIME(a_full_inbox_delays_and_loses_nothing),
        WITH_RUNTIME(what_cannot_be_delivered_in_time_becomes_a_dead_letter),
        WITH_RUNTIME(a_failed_message_too_large_for_the_dead_letters_is_kept_without_its_payload),
        WITH_RUNTIME(kernels_of_two_devices_ask_and_answer),
    };
    return cmocka_run_group_tests_name("k2k", tests, open_test_device, close_test_device);
}
