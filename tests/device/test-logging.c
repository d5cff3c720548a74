// SPDX-License-Identifier: Apache-2.0
// <metal_logging>: what kernels log arrives, formatted; nothing that they write can do harm.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/message-format.h"
#include "device/messages.h"
#include "helpers.h"

#define HEAD "#include <metal_stdlib>\n#include <metal_logging>\nusing namespace metal;\n"

typedef struct received {
    igi_text text;  // "LEVEL subsystem:category: text\n" each
    size_t count;
    char kernel[32];
} received;

static void receive(const ig_kernel_log_entry *entry, void *user) {
    received *r = user;
    igi_text_addf(&r->text, "%d %s:%s: %s\n", (int)entry->level, entry->subsystem, entry->category, entry->text);
    snprintf(r->kernel, sizeof r->kernel, "%s", entry->kernel);
    r->count++;
}

typedef struct job {
    const char *source;
    uint64_t threads, group;
    ig_kernel_log_desc log;
    ig_device *on;
    uint64_t deadline_ns;
} job;

// The lines logged; the caller frees them. Commands go to *kept, if that is not NULL.
static ig_status run_job(const job *j, ig_commands **kept) {
    ig_device *on = j->on ? j->on : device;
    ig_pipeline *pipeline = make_pipeline_on(on, j->source, "k");
    ig_buffer *buffer = make_buffer_on(on, 4096);
    ig_queue *queue;
    ig_commands *commands;
    assert_ok(ig_queue_create(on, &queue));
    assert_ok(
        ig_commands_create(queue, &(ig_commands_desc){.kernel_log = j->log, .deadline_ns = j->deadline_ns}, &commands));
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, buffer, 0, 0);
    ig_commands_dispatch_threads(commands, line(j->threads), line(j->group ? j->group : j->threads));
    assert_ok(ig_commands_commit(commands));
    ig_status status = ig_commands_wait(commands, IG_FOREVER);
    if (kept)
        *kept = commands;
    else
        ig_commands_release(commands);
    ig_queue_release(queue);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    return status;
}

// With one thread.
static void expect_lines(const char *body, const char *expected) {
    received r = {0};
    char *source = igi_format(HEAD
                              "constant os_log own(\"com.example\", \"tests\");\n"
                              "enum colour : ushort { red = 3 };\n"
                              "kernel void k(device float *data [[buffer(0)]]) { %s }\n",
                              body);
    assert_ok(run_job(&(job){.source = source, .threads = 1, .log = {.callback = receive, .user = &r}}, NULL));
    char *text = igi_text_take(&r.text);
    assert_string_equal(text, expected);
    free(text), free(source);
}

// ---- Kernels ----

static void levels_subsystems_and_categories_arrive(void **state) {
    (void)state;
    expect_lines(
        "os_log_default.log(\"a\"); own.log_debug(\"b\"); own.log_info(\"c\"); own.log_error(\"d\");"
        "own.log_fault(\"e\"); own.log_with_type(os_log_type_default, \"%s\", \"f\"); own.log(\"\");",
        "2 :: a\n0 com.example:tests: b\n1 com.example:tests: c\n3 com.example:tests: d\n"
        "4 com.example:tests: e\n2 com.example:tests: f\n2 com.example:tests: \n");
}

static void every_type_can_be_logged(void **state) {
    (void)state;
    expect_lines(
        "os_log_default.log(\"%d %u %d %u %ld %lu %d\", int(-1), uint(4000000000), short(-2), ushort(65535), "
        "long(-5000000000), ulong(10000000000000000000ul), true);"
        "os_log_default.log(\"%f %.2f %e %g %a\", 1.5f, half(0.25h), 1000.0f, bfloat(2.0f), 1.0f);"
        "os_log_default.log(\"%v4f|%v3hhx|%v2hld|%v4.1f\", float4(1, 2, 3, 4), char3(-1, 0, 17), int2(-3, 4), "
        "half4(1));"
        "os_log_default.log(\"%.1v4f|%5.2v2f\", half4(1), float2(1, 20));"
        "os_log_default.log(\"%c%c %x %#X %o %%\", 'o', 'k', 255, 255u, 8u);"
        "os_log_default.log(\"[%5d][%-5d][%05d][%+d]\", 42, 42, 42, 42);"
        "os_log_default.log(\"%d %p\", colour::red, (device float *)0);",
        "2 :: -1 4000000000 -2 65535 -5000000000 10000000000000000000 1\n"
        "2 :: 1.500000 0.25 1.000000e+03 2 0x1p+0\n"
        "2 :: 1.000000,2.000000,3.000000,4.000000|ff,0,11|-3,4|%v4.1f\n"
        "2 :: 1.0,1.0,1.0,1.0| 1.00,20.00\n"
        "2 :: ok ff 0XFF 10 %\n"
        "2 :: [   42][42   ][00042][+42]\n"
        "2 :: 3 0x0\n");
}

static void strange_formats_print_what_there_is(void **state) {
    (void)state;
    expect_lines(
        "os_log_default.log(\"%n %d %*d %999999d %\", 5, 6);"
        "os_log_default.log(\"%d\");"
        "os_log_default.log(\"%d %f %s %x\", 1.9f, 3, 7, -1.0f);"
        "os_log_default.log(\"none\", 1, 2);"
        "os_log_default.log(\"%s %.2s|%6s|%-4s|%d\", \"abc\", \"abc\", \"abc\", \"abc\", \"abc\");",
        "2 :: %n 5 %*d %999999d %\n"
        "2 :: %d\n"
        "2 :: 1 3.000000 7 ffffffffffffffff\n"
        "2 :: none\n"
        "2 :: abc ab|   abc|abc |abc\n");
}

static const char each_thread[] = HEAD
    "kernel void k(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    if (i % 3 != 0) os_log_default.log(\"thread %u\", i);\n"
    "    threadgroup_barrier(mem_flags::mem_none);\n"
    "    for (uint n = 0; n < i % 2; n++) os_log_default.log_info(\"round %u of %u\", n, i);\n}\n";

static void threads_log_under_divergence(void **state) {
    (void)state;
    received r = {0};
    assert_ok(run_job(
        &(job){.source = each_thread, .threads = 1000, .group = 100, .log = {.callback = receive, .user = &r}}, NULL));
    assert_int_equal(r.count, 666 + 500);
    assert_string_equal(r.kernel, "k");
    char *text = igi_text_take(&r.text);
    for (unsigned i = 0; i < 1000; i++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "2 :: thread %u\n", i);
        assert_true((strstr(text, wanted) != NULL) == (i % 3 != 0));
        snprintf(wanted, sizeof wanted, "1 :: round 0 of %u\n", i);
        assert_true((strstr(text, wanted) != NULL) == (i % 2 != 0));
    }
    free(text);
}

static void checking_finds_nothing_in_it(void **state) {
    (void)state;
    received r = {0};
    ig_device *on = open_device(&(ig_device_desc){.check = IG_CHECK_ALL});
    assert_ok(run_job(&(job){.source = each_thread, .threads = 100, .on = on, .log = {.callback = receive, .user = &r}},
                      NULL));
    assert_int_equal(r.count, 66 + 50);
    igi_text_free(&r.text);
    ig_device_release(on);
}

static void what_has_no_room_is_counted(void **state) {
    (void)state;
    received r = {0};
    ig_commands *commands;
    job j = {.source = HEAD
             "kernel void k(device float *d [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
             "    for (uint n = 0; n < 100; n++) os_log_default.log(\"%u %u\", i, n);\n}\n",
             .threads = 256,
             .log = {.callback = receive, .user = &r, .buffer_bytes = 4096}};
    assert_ok(run_job(&j, &commands));
    assert_true(r.count > 50 && r.count < 128);
    assert_int_equal(r.count + ig_commands_get_lost_log_entries(commands), 25600);
    ig_commands_release(commands);
    igi_text_free(&r.text);
}

static void less_important_ones_are_dropped(void **state) {
    (void)state;
    received r = {0};
    job j = {.source = HEAD
             "kernel void k(device float *d [[buffer(0)]]) {\n"
             "    os_log_default.log_info(\"i\"); os_log_default.log_error(\"e\"); os_log_default.log(\"n\");\n}\n",
             .threads = 1,
             .log = {.callback = receive, .user = &r, .level = IG_KERNEL_LOG_NOTICE}};
    assert_ok(run_job(&j, NULL));
    char *text = igi_text_take(&r.text);
    assert_string_equal(text, "3 :: e\n2 :: n\n");
    free(text);
}

static void what_was_logged_before_a_fault_arrives(void **state) {
    (void)state;
    use_fault_handlers();
    received r = {0};
    job j = {.source = HEAD
             "kernel void k(device float *d [[buffer(0)]]) {\n"
             "    os_log_default.log(\"before\"); d[1ul << 40] = 1; os_log_default.log(\"after\");\n}\n",
             .threads = 1,
             .log = {.callback = receive, .user = &r}};
    assert_status(run_job(&j, NULL), IG_STATUS_KERNEL_FAULT);
    char *text = igi_text_take(&r.text);
    assert_string_equal(text, "2 :: before\n");
    free(text);
}

static void append_log(ig_log_level level, const char *message, void *user) {
    if (level == IG_LOG_ERROR) igi_text_addf(user, "%s\n", message);
}

static void without_a_callback_they_go_to_the_log_of_the_library(void **state) {
    (void)state;
    igi_text text = {0};
    ig_set_log(append_log, &text);
    assert_ok(run_job(
        &(job){.source = HEAD "constant os_log own(\"a\", \"b\");\nkernel void k(device float *d [[buffer(0)]]) "
                              "{ own.log_error(\"%d\", 7); }\n",
               .threads = 1},
        NULL));
    ig_set_log(NULL, NULL);
    char *logged = igi_text_take(&text);
    assert_string_equal(logged, "kernel 'k' [a:b]: 7\n");
    free(logged);
}

static void a_device_has_a_callback_for_all(void **state) {
    (void)state;
    received r = {0};
    ig_device *on = open_device(&(ig_device_desc){.kernel_log = {.callback = receive, .user = &r}});
    job j = {.source = HEAD "kernel void k(device float *d [[buffer(0)]]) { os_log_default.log(\"x\"); }\n",
             .threads = 1,
             .on = on};
    assert_ok(run_job(&j, NULL));
    assert_int_equal(r.count, 1);
    igi_text_free(&r.text);
    ig_device_release(on);
}

// ---- What a kernel might write there ----

static void memory_with_anything_in_it_is_read_safely(void **state) {
    (void)state;
    enum { WORDS = 300 };
    random_state random = {7};
    for (int round = 0; round < 20000; round++) {
        uint32_t *log = malloc(WORDS * 4);
        received r = {0};
        for (int i = 0; i < WORDS; i++)
            log[i] = random_below(&random, 2) ? (uint32_t)random_below(&random, 40) : (uint32_t)random_u64(&random);
        log[IGI_LOG_USED] = (uint32_t)random_below(&random, 2 * WORDS);
        igi_device_messages_deliver(log, WORDS * 4, "k", &(ig_kernel_log_desc){.callback = receive, .user = &r});
        for (size_t i = 0; i < IGI_LOG_HEADER; i++) assert_int_equal(log[i], 0);
        igi_text_free(&r.text);
        free(log);
    }
}

static void a_text_is_never_longer_than_its_limit(void **state) {
    (void)state;
    igi_text text = {0};
    igi_device_message_argument arguments[32];
    char format[1024] = "";
    for (int i = 0; i < 32; i++) {
        arguments[i] = (igi_device_message_argument){.kind = IGI_LOG_FLOAT, .element_bytes = 4, .count = 4};
        for (int k = 0; k < 4; k++) arguments[i].elements[k] = 0x7f7fffff;
        strcat(format, "%256.64v4f");
    }
    igi_device_message_format(&text, format, strlen(format), arguments, 32);
    assert_int_equal(text.length, IGI_MESSAGE_LONGEST);
    assert_int_equal(strlen(text.data), IGI_MESSAGE_LONGEST);
    igi_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_subsystems_and_categories_arrive),
        cmocka_unit_test(every_type_can_be_logged),
        cmocka_unit_test(strange_formats_print_what_there_is),
        cmocka_unit_test(threads_log_under_divergence),
        cmocka_unit_test(checking_finds_nothing_in_it),
        cmocka_unit_test(what_has_no_room_is_counted),
        cmocka_unit_test(less_important_ones_are_dropped),
        cmocka_unit_test(what_was_logged_before_a_fault_arrives),
        cmocka_unit_test(without_a_callback_they_go_to_the_log_of_the_library),
        cmocka_unit_test(a_device_has_a_callback_for_all),
        cmocka_unit_test(memory_with_anything_in_it_is_read_safely),
        cmocka_unit_test(a_text_is_never_longer_than_its_limit),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
