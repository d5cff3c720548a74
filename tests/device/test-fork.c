// SPDX-License-Identifier: Apache-2.0
// A child of fork(): inherited objects report it and never hang, and a new device works.
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"

static const char source[] =
    "kernel void add(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] += i + 1; }\n";

typedef struct inheritance {
    ig_library *library;
    ig_pipeline *pipeline;
    ig_queue *queue;
    ig_buffer *buffer, *pooled;
    ig_event *event;
    ig_commands *encoding, *committed;
} inheritance;

static inheritance make_inheritance(void) {
    inheritance h = {.pipeline = make_pipeline(source, "add"), .queue = make_queue(), .buffer = make_buffer(4096)};
    assert_ok(ig_library_create(device, &(ig_library_desc){.source = source}, &h.library, NULL));
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = 64, .pooled = true}, &h.pooled));
    assert_ok(ig_event_create(device, &h.event));
    h.encoding = make_commands(h.queue), h.committed = make_commands(h.queue);
    ig_commands_set_pipeline(h.committed, h.pipeline), ig_commands_set_buffer(h.committed, h.buffer, 0, 0);
    assert_ok(ig_commands_dispatch_threads(h.committed, line(256), line(64)));
    assert_ok(ig_commands_commit(h.committed));
    assert_ok(ig_commands_wait(h.committed, IG_FOREVER));
    return h;
}

static void release_inheritance(const inheritance *h) {
    ig_commands_release(h->encoding), ig_commands_release(h->committed);
    ig_event_release(h->event);
    ig_buffer_release(h->buffer), ig_buffer_release(h->pooled);
    ig_pipeline_release(h->pipeline), ig_library_release(h->library);
    ig_queue_release(h->queue);
}

// Runs it in a child and returns the child's result: the line of the first failure, or 0. A child that hangs is killed.
static int in_child(int (*use)(void *context), void *context) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        _exit(use(context));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Checks without cmocka, which jumps in the parent's frames: the result is an exit code.
#define MUST(number, condition) \
    if (!(condition)) return number
#define MUST_FAIL(number, call) MUST(number, (call) == IG_STATUS_FORKED)

static int use_inherited(void *context) {
    const inheritance *h = context;
    ig_error error = {0};
    ig_library *library;
    ig_pipeline *pipeline;
    ig_queue *queue;
    ig_buffer *buffer;
    ig_event *event;
    ig_commands *commands;
    MUST_FAIL(1, ig_commands_commit(h->encoding));
    MUST_FAIL(2, ig_commands_wait(h->committed, IG_FOREVER));
    MUST_FAIL(3, ig_commands_create(h->queue, NULL, &commands));
    MUST_FAIL(4, ig_commands_set_pipeline(h->encoding, h->pipeline));
    MUST_FAIL(5, ig_library_create(device, &(ig_library_desc){.source = source}, &library, &error));
    MUST(6, error.message && strstr(error.message, "fork()"));
    MUST_FAIL(7, ig_pipeline_create(h->library, &(ig_pipeline_desc){.kernel = "add"}, &pipeline, &error));
    MUST_FAIL(8, ig_queue_create(device, &queue));
    MUST_FAIL(9, ig_buffer_create(device, &(ig_buffer_desc){.length = 64}, &buffer));
    MUST_FAIL(10, ig_event_create(device, &event));
    MUST_FAIL(11, ig_event_wait(h->event, 1, IG_FOREVER));
    MUST_FAIL(12, ig_event_signal(h->event, 1));
    MUST_FAIL(13, ig_commands_get_error(h->committed, &error));
    MUST(14, ((const uint32_t *)ig_buffer_contents(h->buffer))[7] == 8);  // existing contents can be read
    release_inheritance(h);
    ig_device_release(device);
    return 0;
}

static void what_a_child_inherits_says_so(void **state) {
    (void)state;
    inheritance h = make_inheritance();
    assert_int_equal(in_child(use_inherited, &h), 0);
    // The parent continues.
    ig_commands *again = make_commands(h.queue);
    ig_commands_set_pipeline(again, h.pipeline), ig_commands_set_buffer(again, h.buffer, 0, 0);
    assert_ok(ig_commands_dispatch_threads(again, line(256), line(64)));
    assert_ok(ig_commands_commit(again));
    assert_ok(ig_commands_wait(again, IG_FOREVER));
    assert_int_equal(((const uint32_t *)ig_buffer_contents(h.buffer))[7], 16);
    ig_commands_release(again);
    release_inheritance(&h);
}

static int use_new_device(void *context) {
    (void)context;
    ig_device *own;
    ig_library *library;
    ig_pipeline *pipeline;
    ig_queue *queue;
    ig_buffer *buffer;
    ig_commands *commands;
    MUST(1, ig_device_create(NULL, &own, NULL) == IG_STATUS_OK);
    MUST(2, ig_library_create(own, &(ig_library_desc){.source = source}, &library, NULL) == IG_STATUS_OK);
    MUST(3, ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "add"}, &pipeline, NULL) == IG_STATUS_OK);
    MUST(4, ig_buffer_create(own, &(ig_buffer_desc){.length = 4 << 20}, &buffer) == IG_STATUS_OK);
    MUST(5, ig_queue_create(own, &queue) == IG_STATUS_OK);
    MUST(6, ig_commands_create(queue, &(ig_commands_desc){.deadline_ns = 30000000000u}, &commands) == IG_STATUS_OK);
    ig_commands_set_pipeline(commands, pipeline), ig_commands_set_buffer(commands, buffer, 0, 0);
    MUST(7, ig_commands_dispatch_threads(commands, line(1 << 20), line(256)) == IG_STATUS_OK);
    MUST(8, ig_commands_commit(commands) == IG_STATUS_OK && ig_commands_wait(commands, IG_FOREVER) == IG_STATUS_OK);
    MUST(9, ((const uint32_t *)ig_buffer_contents(buffer))[1000000] == 1000001);
    ig_commands_release(commands), ig_queue_release(queue), ig_buffer_release(buffer);
    ig_pipeline_release(pipeline), ig_library_release(library);
    ig_device_release(own);
    return 0;
}

static void a_device_made_in_a_child_works(void **state) {
    (void)state;
    inheritance h = make_inheritance();
    assert_int_equal(in_child(use_new_device, NULL), 0);
    release_inheritance(&h);
}

static void a_child_of_a_busy_process_hangs_nowhere(void **state) {
    (void)state;
    inheritance h = make_inheritance();
    ig_pipeline *pipeline = make_pipeline(source, "add");
    ig_buffer *large = make_buffer(64 << 20);
    for (int i = 0; i < 8; i++) {
        ig_commands *busy = make_commands(h.queue);
        ig_commands_set_pipeline(busy, pipeline), ig_commands_set_buffer(busy, large, 0, 0);
        for (int k = 0; k < 4; k++) ig_commands_dispatch_threads(busy, line(16 << 20), line(256));
        assert_ok(ig_commands_commit(busy));
        assert_int_equal(in_child(use_inherited, &h), 0);
        assert_ok(ig_commands_wait(busy, IG_FOREVER));
        ig_commands_release(busy);
    }
    ig_buffer_release(large);
    ig_pipeline_release(pipeline);
    release_inheritance(&h);
}

// ---- Layers above ----

typedef struct ring {
    ig_ring_runtime *runtime;
    ig_ring_kernel *kernel;
} ring;

static int use_inherited_ring(void *context) {
    const ring *r = context;
    float number = 1;
    ig_message question = IG_MESSAGE(1, &number), answer = {0};
    ig_error error = {0};
    ig_ring_kernel *other;
    MUST_FAIL(1, ig_ring_send(r->kernel, &question, IG_FOREVER, NULL));
    MUST_FAIL(2, ig_ring_request(r->kernel, &question, &answer, IG_FOREVER));
    MUST_FAIL(3, ig_ring_receive(r->kernel, &answer, IG_FOREVER));
    MUST_FAIL(4, ig_ring_terminate(r->kernel, IG_RING_DROP));
    MUST_FAIL(5, ig_ring_wait(r->kernel, IG_FOREVER));
    MUST_FAIL(6, ig_ring_launch(r->runtime, &(ig_ring_launch_desc){.name = "b", .source = source}, &other, &error));
    ig_ring_kernel_release(r->kernel);
    MUST_FAIL(7, ig_ring_runtime_shutdown(r->runtime));
    ig_ring_runtime_release(r->runtime);
    return 0;
}

static void inherited_ring_kernels_say_so(void **state) {
    (void)state;
    static const char echo[] =
        "#include <ingot/ring>\n"
        "void answer(thread ring::context &c) { c.reply(c.type(), *c.payload<float>() + 1); }\n"
        "INGOT_RING_KERNEL(echo, answer)\n";
    ring r;
    ig_error error = {0};
    assert_ok(ig_ring_runtime_create(device, NULL, &r.runtime));
    assert_ok(ig_ring_launch(r.runtime, &(ig_ring_launch_desc){.name = "echo", .source = echo, .block = 1}, &r.kernel,
                             &error));
    assert_int_equal(in_child(use_inherited_ring, &r), 0);
    float number = 1;
    ig_message question = IG_MESSAGE(1, &number), answer = {0};
    assert_ok(ig_ring_request(r.kernel, &question, &answer, IG_FOREVER));
    ig_message_clear(&answer);
    ig_ring_kernel_release(r.kernel);
    assert_ok(ig_ring_runtime_shutdown(r.runtime));
}

typedef struct tensors {
    ig_stream *stream;
    ig_tensor *tensor;
} tensors;

static int use_inherited_tensors(void *context) {
    const tensors *t = context;
    ig_tensor *sum, *made;
    ig_stream *stream;
    MUST_FAIL(1, ig_tensor_add(t->stream, t->tensor, t->tensor, NULL, &sum));
    MUST_FAIL(2, ig_tensor_create(device, &(ig_tensor_desc){.type = IG_TYPE_F32, .rank = 1, .shape = {64}}, &made));
    ig_stream_create(device, NULL, &stream, NULL);
    ig_stream_sync(t->stream, NULL);
    ig_tensor_release(t->tensor);
    ig_stream_release(t->stream);
    return 0;
}

static void inherited_tensors_say_so(void **state) {
    (void)state;
    tensors t;
    ig_tensor *sum;
    assert_ok(ig_stream_create(device, NULL, &t.stream, NULL));
    assert_ok(
        ig_tensor_create(device, &(ig_tensor_desc){.type = IG_TYPE_F32, .rank = 1, .shape = {1 << 16}}, &t.tensor));
    assert_ok(ig_tensor_add(t.stream, t.tensor, t.tensor, NULL, &sum));
    assert_ok(ig_stream_sync(t.stream, NULL));
    ig_tensor_release(sum);
    assert_int_equal(in_child(use_inherited_tensors, &t), 0);
    ig_tensor_release(t.tensor);
    ig_stream_release(t.stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_child_inherits_says_so),
        cmocka_unit_test(a_device_made_in_a_child_works),
        cmocka_unit_test(a_child_of_a_busy_process_hangs_nowhere),
        cmocka_unit_test(inherited_ring_kernels_say_so),
        cmocka_unit_test(inherited_tensors_say_so),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
