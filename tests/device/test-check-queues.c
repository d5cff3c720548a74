// SPDX-License-Identifier: Apache-2.0
// Races between the queues of a device: found whatever order this run had, and not where events or the host order them.
#include <string.h>

#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "kernel void fill(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "  a[i] = i;\n"
    "}\n"
    "kernel void copy(device const uint *a [[buffer(0)]], device uint *b [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  b[i] = a[i];\n"
    "}\n"
    "kernel void upper(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i + 64] = i; }\n"
    "kernel void count(device atomic_uint *a [[buffer(0)]]) { atomic_fetch_add_explicit(a, 1, memory_order_relaxed); "
    "}\n"
    "struct box { device uint *a; };\n"
    "kernel void boxed(constant box &b [[buffer(0)]], uint i [[thread_position_in_grid]]) { b.a[i] = i; }\n";

enum { QUEUES = 3 };

static struct {
    ig_device *on;
    ig_library *library;
    ig_queue *queues[QUEUES];
    ig_buffer *numbers, *others[QUEUES];
    ig_event *event;
} s;

static int open_session(void **state) {
    (void)state;
    s.on = open_device(&(ig_device_desc){.check = IG_CHECK_ALL});
    s.library = compile_on(s.on, &(ig_library_desc){.source = source, .name = "kernels.metal"});
    s.numbers = make_buffer_on(s.on, 512);
    assert_ok(ig_event_create(s.on, &s.event));
    for (size_t i = 0; i < QUEUES; i++) {
        assert_ok(ig_queue_create(s.on, &s.queues[i]));
        s.others[i] = make_buffer_on(s.on, 512);
    }
    assert_ok(ig_queue_set_label(s.queues[0], "uploads"));
    return 0;
}

static int close_session(void **state) {
    (void)state;
    for (size_t i = 0; i < QUEUES; i++) {
        ig_queue_release(s.queues[i]);
        ig_buffer_release(s.others[i]);
    }
    ig_event_release(s.event);
    ig_buffer_release(s.numbers);
    ig_library_release(s.library);
    ig_device_release(s.on);
    return 0;
}

// ---- Steps ----

static void encode(ig_commands *commands, const char *kernel, ig_buffer *first, ig_buffer *second) {
    ig_pipeline *pipeline = pipeline_of(s.library, kernel);
    assert_ok(ig_commands_set_pipeline(commands, pipeline));
    assert_ok(ig_commands_set_buffer(commands, first, 0, 0));
    assert_ok(ig_commands_set_buffer(commands, second, 0, 1));
    assert_ok(ig_commands_dispatch_threads(commands, line(64), line(64)));
    ig_pipeline_release(pipeline);
}

static ig_commands *commands_of(unsigned queue, const char *kernel) {
    ig_commands *commands = make_commands(s.queues[queue]);
    encode(commands, kernel, s.numbers, s.others[queue]);
    return commands;
}

static ig_commands *committed(ig_commands *commands) {
    assert_ok(ig_commands_commit(commands));
    return commands;
}

static ig_commands *start(unsigned queue, const char *kernel) {
    return committed(commands_of(queue, kernel));
}

static ig_commands *start_after(unsigned queue, uint64_t value, const char *kernel) {
    ig_commands *commands = make_commands(s.queues[queue]);
    assert_ok(ig_commands_wait_event(commands, s.event, value));
    encode(commands, kernel, s.numbers, s.others[queue]);
    return committed(commands);
}

static ig_commands *start_and_signal(unsigned queue, const char *kernel, uint64_t value) {
    ig_commands *commands = commands_of(queue, kernel);
    assert_ok(ig_commands_signal_event(commands, s.event, value));
    return committed(commands);
}

static size_t finish(ig_commands *commands) {
    (void)ig_commands_wait(commands, IG_FOREVER);
    size_t count = ig_commands_get_findings(commands, NULL);
    ig_commands_release(commands);
    return count;
}

#define NOTHING_IN(commands) assert_int_equal(finish(commands), 0)

// Which of the two ran first does not matter.
static void expect_race(ig_commands *a, ig_commands *b) {
    size_t count = finish(a);
    count += finish(b);
    assert_int_equal(count, 1);
}

// ---- Races ----

static void both_sides_are_told(void **state) {
    (void)state;
    ig_commands *first = start_and_signal(0, "fill", 1);
    assert_ok(ig_event_signal(s.event, 2));  // by the host, which has not waited for anything
    ig_commands *second = start_after(1, 2, "copy");
    (void)ig_commands_wait(first, IG_FOREVER);
    (void)ig_commands_wait(second, IG_FOREVER);
    const ig_finding *findings;
    // The second may have run first.
    bool turned = ig_commands_get_findings(second, NULL) == 0;
    assert_int_equal(ig_commands_get_findings(turned ? first : second, &findings), 1);
    const ig_finding *f = &findings[0];
    assert_string_equal(f->kind, "race");
    assert_int_equal(f->side_count, 2);
    assert_int_equal(f->count, 64);
    assert_int_equal(f->sides[0].line, turned ? 4 : 8);
    assert_int_equal(f->sides[1].line, turned ? 8 : 4);
    assert_string_equal(f->sides[1].kernel, turned ? "copy" : "fill");
    assert_string_equal(f->sides[1].queue, turned ? "queue 2" : "queue 'uploads'");
    assert_string_equal(f->sides[1].file, "kernels.metal");
    assert_true(f->sides[1].has_thread);
    assert_contains(f->message,
                    turned ? "that kernel 'copy' of queue 2 reads" : "that kernel 'fill' of queue 'uploads' writes");
    assert_contains(f->message, "nothing orders the queues");
    assert_contains(f->advice, "event");
    ig_commands_release(first);
    ig_commands_release(second);
}

static void writes_and_writes_race(void **state) {
    (void)state;
    expect_race(start(0, "fill"), start(1, "fill"));
}

static void reads_and_writes_race(void **state) {
    (void)state;
    expect_race(start(0, "copy"), start(1, "fill"));
}

static void atomics_and_writes_race(void **state) {
    (void)state;
    expect_race(start(0, "count"), start(1, "fill"));
}

static void a_signal_before_the_dispatch_orders_nothing(void **state) {
    (void)state;
    ig_commands *first = make_commands(s.queues[0]);
    assert_ok(ig_commands_signal_event(first, s.event, 1));
    encode(first, "fill", s.numbers, s.others[0]);
    committed(first);
    expect_race(first, start_after(1, 1, "copy"));
}

static void another_queue_that_was_waited_for_orders_nothing(void **state) {
    (void)state;
    ig_commands *first = start(0, "fill");
    ig_commands *between = start_and_signal(2, "upper", 1);
    ig_commands *second = start_after(1, 1, "copy");
    NOTHING_IN(between);
    expect_race(first, second);
}

static void memory_behind_pointers_races(void **state) {
    (void)state;
    uint64_t address = ig_buffer_device_address(s.numbers);
    memcpy(ig_buffer_contents(s.others[2]), &address, sizeof address);
    ig_commands *first = make_commands(s.queues[0]);
    encode(first, "boxed", s.others[2], s.others[0]);
    expect_race(committed(first), start(1, "fill"));
}

// ---- Order ----

static void reads_other_bytes_and_atomics_do_not_race(void **state) {
    (void)state;
    ig_commands *reads[] = {start(0, "copy"), start(1, "copy"), start(2, "upper")};
    for (size_t i = 0; i < LENGTH(reads); i++) NOTHING_IN(reads[i]);
    ig_commands *counts[] = {start(0, "count"), start(1, "count")};
    for (size_t i = 0; i < LENGTH(counts); i++) NOTHING_IN(counts[i]);
}

static void a_queue_is_in_order(void **state) {
    (void)state;
    ig_commands *all[] = {start(0, "fill"), start(0, "copy"), start(0, "fill")};
    for (size_t i = 0; i < LENGTH(all); i++) NOTHING_IN(all[i]);
}

static void waiting_by_the_host_orders(void **state) {
    (void)state;
    NOTHING_IN(start(0, "fill"));
    NOTHING_IN(start(1, "fill"));
    NOTHING_IN(start(2, "copy"));
    ig_commands *polled = start(0, "fill");
    while (ig_commands_get_state(polled) < IG_COMMANDS_COMPLETED) sleep_ms(1);
    NOTHING_IN(start(1, "fill"));
    NOTHING_IN(polled);
}

static void events_order(void **state) {
    (void)state;
    ig_commands *all[] = {start_and_signal(0, "fill", 1), start_after(1, 1, "copy")};
    for (size_t i = 0; i < LENGTH(all); i++) NOTHING_IN(all[i]);
}

static void events_order_from_queue_to_queue(void **state) {
    (void)state;
    ig_commands *between = make_commands(s.queues[2]);
    assert_ok(ig_commands_wait_event(between, s.event, 1));
    assert_ok(ig_commands_signal_event(between, s.event, 2));
    ig_commands *all[] = {start_and_signal(0, "fill", 1), committed(between), start_after(1, 2, "fill")};
    for (size_t i = 0; i < LENGTH(all); i++) NOTHING_IN(all[i]);
}

static void the_host_passes_order_on(void **state) {
    (void)state;
    ig_commands *first = start_and_signal(0, "fill", 1);
    ig_commands *second = start_after(1, 2, "fill");
    assert_ok(ig_event_wait(s.event, 1, IG_FOREVER));
    assert_ok(ig_event_signal(s.event, 2));
    NOTHING_IN(second);
    NOTHING_IN(start(2, "copy"));
    NOTHING_IN(first);
}

static void start_second(ig_commands *commands, ig_status status, void *user) {
    (void)commands;
    (void)status;
    *(ig_commands **)user = start(1, "fill");
}

static void callbacks_order(void **state) {
    (void)state;
    ig_commands *first = commands_of(0, "fill"), *second = NULL;
    assert_ok(ig_commands_on_completed(first, start_second, &second));
    assert_ok(ig_commands_commit(first));
    NOTHING_IN(first);
    NOTHING_IN(second);
}

static ig_commands *start_with_new_buffer(unsigned queue) {
    ig_buffer *buffer;
    assert_ok(ig_buffer_create(s.on, &(ig_buffer_desc){.length = 256, .pooled = true}, &buffer));
    ig_commands *commands = make_commands(s.queues[queue]);
    encode(commands, "fill", buffer, s.others[queue]);
    ig_buffer_release(buffer);
    return committed(commands);
}

static bool is_in_use(void) {
    ig_pool_stats stats;
    ig_device_get_pool_stats(s.on, &stats);
    return stats.idle_count == 0;
}

// The memory of a buffer that has gone is another's, without the host having waited for anything.
static void buffers_of_the_pool_are_new_each_time(void **state) {
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        ig_commands_release(start_with_new_buffer(i % 2));
        while (is_in_use()) sleep_ms(1);
    }
    NOTHING_IN(start_with_new_buffer(1));
}

static void queues_come_and_go(void **state) {
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        ig_queue_release(s.queues[1]);
        assert_ok(ig_queue_create(s.on, &s.queues[1]));
        NOTHING_IN(start(1, "fill"));
        NOTHING_IN(start(0, "copy"));
    }
    expect_race(start(0, "copy"), start(1, "fill"));
}

static void more_queues_than_are_looked_at_run(void **state) {
    (void)state;
    ig_queue *queues[20];
    for (size_t i = 0; i < LENGTH(queues); i++) assert_ok(ig_queue_create(s.on, &queues[i]));
    for (size_t i = 0; i < LENGTH(queues); i++) {
        ig_commands *commands = make_commands(queues[i]);
        encode(commands, "fill", s.numbers, s.others[0]);
        NOTHING_IN(committed(commands));
        ig_queue_release(queues[i]);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_session, close_session)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(both_sides_are_told),
        CASE(writes_and_writes_race),
        CASE(reads_and_writes_race),
        CASE(atomics_and_writes_race),
        CASE(a_signal_before_the_dispatch_orders_nothing),
        CASE(another_queue_that_was_waited_for_orders_nothing),
        CASE(memory_behind_pointers_races),
        CASE(reads_other_bytes_and_atomics_do_not_race),
        CASE(a_queue_is_in_order),
        CASE(waiting_by_the_host_orders),
        CASE(events_order),
        CASE(events_order_from_queue_to_queue),
        CASE(the_host_passes_order_on),
        CASE(callbacks_order),
        CASE(buffers_of_the_pool_are_new_each_time),
        CASE(queues_come_and_go),
        CASE(more_queues_than_are_looked_at_run),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
