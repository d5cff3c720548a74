// SPDX-License-Identifier: Apache-2.0
// Kernels that index out of bounds, by little and by much, in both directions: each run ends well or with KERNEL_FAULT,
// and neither the host's memory nor the next kernel is harmed. An argument gives the number of runs.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "helpers.h"

// Each kernel writes to one object at its own index and `at` elements away from it, reads it back and continues.
#define PARAMETERS                                                      \
    "(device uint *a [[buffer(0)]], constant long &at [[buffer(1)]],\n" \
    " uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]"
#define BARRIER "threadgroup_barrier(mem_flags::mem_threadgroup);"
static const char source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "kernel void buffer" PARAMETERS
    ") { a[i] = a[at + i] + 1; a[at + i] = i; }\n"
    "kernel void fixed" PARAMETERS
    ") {\n"
    "  threadgroup uint x[64]; x[t] = t; " BARRIER " x[at + t] = 0x41414141; " BARRIER
    " a[i] = x[t] + x[at + t]; }\n"
    "kernel void argument" PARAMETERS
    ", threadgroup float4 *x [[threadgroup(0)]]) {\n"
    "  x[t] = t; " BARRIER " x[at + t] = 7; " BARRIER
    " a[i] = x[t].x + x[at + t].y; }\n"
    "kernel void little" PARAMETERS
    ") {\n"
    "  uint p[16]; for (uint k = 0; k < 16; k++) p[k] = i; p[at + (a[i] & 7)] = 0x41414141; a[i] = p[a[0] & 15]; }\n"
    "kernel void much" PARAMETERS
    ") {\n"
    "  uint p[5000]; for (uint k = 0; k < 5000; k += 7) p[k] = i;\n"
    "  p[at + (a[i] & 7)] = 0x41414141; a[i] = p[a[0] & 1023]; }\n"
    "kernel void kept" PARAMETERS
    ") {\n"
    "  uint p[16]; for (uint k = 0; k < 16; k++) p[k] = i; p[at + (a[i] & 7)] = 0x41414141;\n"
    "  " BARRIER
    " a[i] = p[a[0] & 15]; }\n"
    "kernel void pointed" PARAMETERS
    ") {\n"
    "  uint p[16]; for (uint k = 0; k < 16; k++) p[k] = i; thread uint *q = p; if (a[i] & 1) q += a[i] & 7;\n"
    "  q[at] = 0x41414141; a[i] = p[a[0] & 15]; }\n"
    "kernel void run" PARAMETERS
    ") {\n"
    "  uint p[16]; for (uint k = 0; k < 16; k++) p[k] = i;\n"
    "  long n = at < 0 ? -at : at; n = n < 4096 ? n : 4096;\n"
    "  for (long k = 0; k < n; k++) p[at < 0 ? -k : k] = 0x41414141; " BARRIER
    " a[i] = p[a[0] & 15]; }\n"
    "kernel void bytes" PARAMETERS
    ", device uint *x [[buffer(2)]]) { x[at + t] = 0x41414141; a[i] = x[at]; }\n"
    "kernel void good" PARAMETERS
    ") {\n"
    "  threadgroup uint x[64]; uint p[16]; for (uint k = 0; k < 16; k++) p[k] = i + k; x[t] = p[i & 15]; " BARRIER
    "  a[i] = x[63 - t] + p[a[i] & 15]; }\n";

static const char *const kernels[] = {"buffer", "fixed",   "argument", "little", "much",
                                      "kept",   "pointed", "run",      "bytes"};

// ---- Canaries ----

enum { CANARIES = 64, CANARY_BYTES = 600 };

// On the heap, between the allocations of the runs.
static unsigned char *canaries[CANARIES];

static void plant(void) {
    for (int i = 0; i < CANARIES; i++) {
        canaries[i] = malloc(CANARY_BYTES);
        memset(canaries[i], 0x5a, CANARY_BYTES);
    }
}

static bool are_alive(void) {
    for (int i = 0; i < CANARIES; i++)
        for (int k = 0; k < CANARY_BYTES; k++)
            if (canaries[i][k] != 0x5a) return false;
    return true;
}

// ---- Runs ----

typedef struct bed {
    ig_queue *queue;
    ig_buffer *buffer, *neighbour;
    ig_pipeline *good, *bad[LENGTH(kernels)];
} bed;

static bed make_bed(void) {
    bed b = {.queue = make_queue(), .buffer = make_buffer(4096), .neighbour = make_buffer(4096)};
    memset(ig_buffer_contents(b.neighbour), 0x33, 4096);
    ig_library *library = compile(source);
    b.good = pipeline_of(library, "good");
    for (size_t i = 0; i < LENGTH(kernels); i++) b.bad[i] = pipeline_of(library, kernels[i]);
    ig_library_release(library);
    plant();
    use_fault_handlers();
    return b;
}

static void free_bed(bed *b) {
    for (size_t i = 0; i < LENGTH(kernels); i++) ig_pipeline_release(b->bad[i]);
    ig_pipeline_release(b->good);
    ig_buffer_release(b->buffer), ig_buffer_release(b->neighbour);
    ig_queue_release(b->queue);
    for (int i = 0; i < CANARIES; i++) free(canaries[i]);
}

static ig_status run_kernel(const bed *b, ig_pipeline *pipeline, int64_t at, ig_error *error) {
    ig_commands *commands = make_commands(b->queue);
    uint32_t few[4] = {1, 2, 3, 4};
    memset(ig_buffer_contents(b->buffer), 0, 4096);
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, b->buffer, 0, 0);
    ig_commands_set_bytes(commands, &at, sizeof at, 1);
    ig_commands_set_bytes(commands, few, sizeof few, 2);
    ig_commands_set_threadgroup_memory(commands, 1024, 0);
    assert_ok(ig_commands_dispatch_threads(commands, line(256), line(64)));
    assert_ok(ig_commands_commit(commands));
    ig_status status = ig_commands_wait(commands, IG_FOREVER);
    if (error) ig_commands_get_error(commands, error);
    ig_commands_release(commands);
    return status;
}

static void expect_good(const bed *b) {
    assert_ok(run_kernel(b, b->good, 0, NULL));
    const uint32_t *words = ig_buffer_contents(b->buffer);
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t other = i / 64 * 64 + 63 - i % 64;
        assert_int_equal(words[i], other + (other & 15) + i);
    }
}

static void expect_contained(const bed *b, size_t kernel, int64_t at) {
    ig_status status = run_kernel(b, b->bad[kernel], at, NULL);
    if (status != IG_STATUS_OK && status != IG_STATUS_KERNEL_FAULT)
        fail_msg("%s at %lld: %s", kernels[kernel], (long long)at, ig_status_name(status));
    if (!are_alive()) fail_msg("%s at %lld changed the heap", kernels[kernel], (long long)at);
    const unsigned char *beside = ig_buffer_contents(b->neighbour);
    for (int i = 0; i < 4096; i++)
        if (beside[i] != 0x33) fail_msg("%s at %lld changed another buffer", kernels[kernel], (long long)at);
    free(malloc((size_t)(llabs((long long)at) % 3000) + 1));
}

// From 1 element to 1 GiB of them, in both directions.
static int64_t offset_of(unsigned step) {
    int64_t distance = 1ll << step % 29;
    return (step / 29) % 2 ? -distance : distance;
}

static void overruns_of_any_size_stay_with_the_kernel(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    bed b = make_bed();
    for (size_t k = 0; k < LENGTH(kernels); k++) {
        for (unsigned step = 0; step < 58; step += 3) expect_contained(&b, k, offset_of(step));
        expect_good(&b);
    }
    free_bed(&b);
}

// One thread at a time, with coroutines: different code, different memory.
static void so_do_overruns_of_single_threads(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    setenv("INGOT_SIMT_WIDTH", "1", 1);
    bed b = make_bed();
    for (size_t k = 0; k < LENGTH(kernels); k++) {
        for (unsigned step = 1; step < 58; step += 4) expect_contained(&b, k, offset_of(step));
        expect_good(&b);
    }
    unsetenv("INGOT_SIMT_WIDTH");
    free_bed(&b);
}

// Arrays that are only read and written by index: one outside of them reaches a spare element.
static bool is_private(const char *kernel) {
    return strcmp(kernel, "little") == 0 || strcmp(kernel, "much") == 0 || strcmp(kernel, "kept") == 0;
}

static void small_overruns_are_harmless_and_large_ones_are_faults(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    bed b = make_bed();
    for (size_t k = 1; k < LENGTH(kernels); k++) {
        for (int direction = -1; direction <= 1; direction += 2) {
            ig_error error = {0};
            // The bytes of one argument are before those of another.
            if (strcmp(kernels[k], "bytes") == 0 && direction < 0) continue;
            if (run_kernel(&b, b.bad[k], direction * 16, &error)) fail_msg("%s", error.message);
            if (strcmp(kernels[k], "run") == 0) continue;  // never accesses far addresses
            assert_status(run_kernel(&b, b.bad[k], direction * (1ll << 25), NULL),
                          is_private(kernels[k]) ? IG_STATUS_OK : IG_STATUS_KERNEL_FAULT);
        }
    }
    expect_good(&b);
    free_bed(&b);
}

static void expect_message(const bed *b, const char *kernel, int64_t at, const char *part) {
    ig_error error = {0};
    size_t k = 0;
    while (strcmp(kernels[k], kernel) != 0) k++;
    assert_status(run_kernel(b, b->bad[k], at, &error), IG_STATUS_KERNEL_FAULT);
    assert_contains(error.message, part);
    assert_contains(error.message, "SIGSEGV");
    ig_error_clear(&error);
}

static void messages_name_the_object_that_was_missed(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    bed b = make_bed();
    expect_message(&b, "buffer", 1024, " past the end of buffer 0");
    expect_message(&b, "buffer", 1 << 20, " bytes past the end of buffer 0");
    expect_message(&b, "buffer", -(1 << 20), "before the beginning of buffer 0");
    expect_message(&b, "fixed", 1 << 25, "past the end of threadgroup memory");
    expect_message(&b, "argument", -(1 << 25), "before the beginning of threadgroup memory");
    expect_message(&b, "bytes", 1 << 25, "outside its bytes of an argument");
    expect_message(&b, "pointed", 1 << 25, "outside its private memory");
    expect_message(&b, "pointed", -(1 << 25), "outside its private memory");
    free_bed(&b);
}

// ---- Limits ----

static ig_status make_private(uint64_t words, const char *more, ig_error *error) {
    char text[600];
    ig_pipeline *pipeline = NULL;
    snprintf(text, sizeof text,
             "#include <metal_stdlib>\nusing namespace metal;\n"
             "kernel void k(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
             "  uint p[%llu]; for (uint n = 0; n < a[1]; n += 4001) p[n] = i + n; %s a[i] = p[a[i]]; }\n",
             (unsigned long long)words, more);
    ig_library *library = compile(text);
    ig_status status = ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "k"}, &pipeline, error);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
    return status;
}

static void private_memory_is_bounded_for_each_thread(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_error error = {0};
    const uint64_t most = (64 << 20) / 4;
    assert_ok(make_private(most, "", NULL));
    assert_status(make_private(most + 16, "", &error), IG_STATUS_UNSUPPORTED);
    assert_contains(error.message, "67108928 bytes of private memory");
    assert_ok(make_private(most, "threadgroup_barrier(mem_flags::mem_none);", NULL));
    assert_status(make_private(most + 16, "threadgroup_barrier(mem_flags::mem_none);", &error), IG_STATUS_UNSUPPORTED);
    assert_status(make_private(1ull << 58, "", &error), IG_STATUS_UNSUPPORTED);
    ig_error_clear(&error);
}

// Threadgroups that run in batches must all be full: at the far end of the grid they are not.
static void threadgroups_at_the_far_edge_are_not_batched(void **state) {
    (void)state;
    static const char rows[] =
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void k(device const float *m [[buffer(0)]], device const float *v [[buffer(1)]],\n"
        "              device float *out [[buffer(2)]], uint3 g [[threadgroup_position_in_grid]],\n"
        "              uint3 t [[thread_position_in_threadgroup]], uint3 size [[threads_per_threadgroup]],\n"
        "              uint3 groups [[threadgroups_per_grid]], uint lane [[thread_index_in_simdgroup]]) {\n"
        "  float sum = 0;\n"
        "  for (uint k = t.x; k < 64; k += 32) sum += m[g.x * 64 + k] * v[k];\n"
        "  sum = simd_sum(sum);\n"
        "  uint row = g.x + groups.x * (g.y * 2 + t.y + groups.y * 2 * (g.z * 2 + t.z));\n"
        "  if (t.x == 0) out[row] = sum + size.z;\n"
        "}\n";
    enum { COLUMNS = 64, GROUPS = 24, DEPTH = 5 };
    ig_buffer *buffers[] = {make_buffer(GROUPS * COLUMNS * 4), make_buffer(COLUMNS * 4), make_buffer(1 << 16)};
    float *m = ig_buffer_contents(buffers[0]), *v = ig_buffer_contents(buffers[1]);
    for (int i = 0; i < GROUPS * COLUMNS; i++) m[i] = (float)(i / COLUMNS);
    for (int i = 0; i < COLUMNS; i++) v[i] = 1;
    float *out = ig_buffer_contents(buffers[2]);
    for (int i = 0; i < (1 << 16) / 4; i++) out[i] = -1;
    setenv("INGOT_SIMT_SHAPE", "always", 1);
    ig_pipeline *pipeline = make_pipeline(rows, "k");
    do_run(&(run){.pipeline = pipeline,
                  .buffers = buffers,
                  .buffer_count = 3,
                  .grid = {GROUPS * 32, 3, DEPTH},
                  .group = {32, 2, 2}});
    unsetenv("INGOT_SIMT_SHAPE");
    for (int row = 0; row < GROUPS * 4 * 6; row++) {
        int x = row % GROUPS, y = row / GROUPS % 4, z = row / GROUPS / 4;
        float expected = y < 3 && z < DEPTH ? (float)(x * COLUMNS + (z < 4 ? 2 : 1)) : -1;
        if (out[row] != expected) fail_msg("row %d of (%d, %d): %g, not %g", x, y, z, out[row], expected);
    }
    ig_pipeline_release(pipeline);
    for (int i = 0; i < 3; i++) ig_buffer_release(buffers[i]);
}

// ---- Signals ----

static void traps_are_faults(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_error error = {0};
    uint32_t one = 1;
    ig_buffer *buffer = make_buffer(64);
    memcpy(ig_buffer_contents(buffer), &one, sizeof one);
    ig_pipeline *pipeline = make_pipeline(
        "kernel void k(device uint *a [[buffer(0)]]) {\n"
        "  switch (a[0] & 7) { case 0: a[1] = 5; break; case 2: a[1] = 11; break; case 3: a[2] = 7; break;\n"
        "    case 4: a[3] = 1; break; case 5: a[4] = 9; break; default: __builtin_unreachable(); } }\n",
        "k");
    use_fault_handlers();
    ig_status status = try_run(&(run){.pipeline = pipeline,
                                      .buffers = &buffer,
                                      .buffer_count = 1,
                                      .grid = line(1),
                                      .group = line(1),
                                      .error = &error});
    assert_true(status == IG_STATUS_OK || status == IG_STATUS_KERNEL_FAULT);
    ig_error_clear(&error);
    ig_pipeline_release(pipeline);
    ig_buffer_release(buffer);
}

static volatile sig_atomic_t host_caught;
static sigjmp_buf host_back;

static void host_handler(int number) {
    host_caught = number;
    siglongjmp(host_back, 1);
}

static void host_note(int number) {
    host_caught = number;
}

static void handlers_of_the_host_keep_working(void **state) {
    (void)state;
    // Handlers installed after ours: they are called, and when they are removed ours work again.
    bed b = make_bed();
    struct sigaction theirs = {.sa_handler = host_handler}, ours;
    sigemptyset(&theirs.sa_mask);
    sigaction(SIGSEGV, &theirs, &ours);
    if (sigsetjmp(host_back, 1) == 0) raise(SIGSEGV);
    assert_int_equal(host_caught, SIGSEGV);
    sigaction(SIGSEGV, &ours, NULL);
    theirs.sa_handler = host_note;
    sigaction(SIGUSR1, &theirs, NULL);
    raise(SIGUSR1);
    assert_int_equal(host_caught, SIGUSR1);
    assert_status(run_kernel(&b, b.bad[0], 1 << 20, NULL), IG_STATUS_KERNEL_FAULT);
    expect_good(&b);
    free_bed(&b);
}

// A thread with a small stack, and with its own signal stack that is too small for this processor's registers.
static void *run_on_small_stacks(void *context) {
    const bed *b = context;
    static char small[1 << 16];
    stack_t theirs = {.ss_sp = small, .ss_size = sizeof small}, after;
#ifdef _SC_MINSIGSTKSZ
    long least = sysconf(_SC_MINSIGSTKSZ);
#else
    long least = MINSIGSTKSZ;
#endif
    theirs.ss_size = least < 2048 ? 2048 : (size_t)least;
    if (sigaltstack(&theirs, NULL) != 0) return NULL;
    for (int i = 0; i < 20; i++) {
        if (run_kernel(b, b->bad[i % LENGTH(kernels)], 1 << 25, NULL) == IG_STATUS_TIMEOUT) return NULL;
        if (run_kernel(b, b->good, 0, NULL) != IG_STATUS_OK) return NULL;
    }
    bool kept = sigaltstack(NULL, &after) == 0 && after.ss_sp == theirs.ss_sp && after.ss_size == theirs.ss_size;
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE, .ss_size = sizeof small}, NULL);
    return kept ? context : NULL;
}

static void threads_of_the_host_keep_their_stacks_for_signals(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    bed b = make_bed();
    pthread_t thread;
    pthread_attr_t attributes;
    void *answer = NULL;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    assert_int_equal(pthread_create(&thread, &attributes, run_on_small_stacks, &b), 0);
    pthread_join(thread, &answer);
    pthread_attr_destroy(&attributes);
    assert_non_null(answer);
    free_bed(&b);
}

// ---- Long ----

static unsigned long wanted_runs;

static void many_overruns_do_no_harm(void **state) {
    (void)state;
    bed b = make_bed();
    random_state random = {7};
    for (unsigned long i = 0; i < wanted_runs; i++) {
        int64_t at = offset_of((unsigned)random_below(&random, 58)) + (int64_t)random_below(&random, 64) - 32;
        expect_contained(&b, random_below(&random, LENGTH(kernels)), at);
        if (i % 50 == 0) expect_good(&b);
    }
    expect_good(&b);
    free_bed(&b);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overruns_of_any_size_stay_with_the_kernel),
        cmocka_unit_test(so_do_overruns_of_single_threads),
        cmocka_unit_test(small_overruns_are_harmless_and_large_ones_are_faults),
        cmocka_unit_test(messages_name_the_object_that_was_missed),
        cmocka_unit_test(private_memory_is_bounded_for_each_thread),
        cmocka_unit_test(threadgroups_at_the_far_edge_are_not_batched),
        cmocka_unit_test(traps_are_faults),
        cmocka_unit_test(handlers_of_the_host_keep_working),
        cmocka_unit_test(threads_of_the_host_keep_their_stacks_for_signals),
    };
    const struct CMUnitTest many[] = {cmocka_unit_test(many_overruns_do_no_harm)};
    if (count > 1) wanted_runs = strtoul(arguments[1], NULL, 10);
    if (wanted_runs) return cmocka_run_group_tests(many, open_test_device, close_test_device);
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
