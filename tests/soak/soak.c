// SPDX-License-Identifier: Apache-2.0
// Everything at once for a given time: threads that compile with many constants, run, fault and time out; ring kernels
// that answer requests, restart and end; tensors; children that are forked meanwhile; and a wall clock that is set
// forward and back. Results are checked, and at the end memory, threads and descriptors must be as they were after the
// first rounds.
//
//   soak SECONDS [REPORT-EVERY-SECONDS]
#include <dirent.h>
#include <errno.h>
#include <ingot/ingot.h>
#include <ingot/nn.h>
#include <ingot/ring.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "core/clock.h"
#include "core/file.h"

enum { THREADS = 4, WORDS = 4096, CONSTANTS = 24, REQUESTS = 50, HANG_SECONDS = 120, SHOWN = 20 };

static ig_device *device;
static uint64_t until_ns;
static atomic_ulong runs, faults, timeouts, requests, restarts, runtimes, tensors, forks, jumps, wrong;

static bool time_is_left(void) {
    return igi_now_ns() < until_ns;
}

static void complain(const char *what, ig_status status, const ig_error *error) {
    if (atomic_fetch_add(&wrong, 1) >= SHOWN) return;
    fprintf(stderr, "WRONG: %s: %s%s%s\n", what, ig_status_name(status), error && error->message ? ": " : "",
            error && error->message ? error->message : "");
}

static uint32_t next(uint32_t *random) {
    *random = *random * 1664525 + 1013904223;
    return *random >> 8;
}

// ---- Kernels ----

static const char plain_source[] =
    "constant int C [[function_constant(0)]];"
    "kernel void k(device int *a, uint i [[thread_position_in_grid]]) { a[i] = i + C; }";
static const char faulty_source[] =
    "kernel void k(device int *a, uint i [[thread_position_in_grid]]) { *(device int *)(ulong)(i + 1) = a[0]; }";
static const char endless_source[] =
    "kernel void k(device uint *a, uint i [[thread_position_in_grid]]) { while (a[0] != 12345) a[1]++; }";

static ig_pipeline *make_pipeline(const char *source, const int *constant) {
    ig_library *library = NULL;
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    const ig_function_constant constants[] = {{.id = 0, .type = IG_TYPE_I32, .value = constant}};
    ig_status status = ig_library_create(device, &(ig_library_desc){.source = source}, &library, &error);
    const ig_pipeline_desc desc = {.kernel = "k", .constants = constants, .constant_count = constant ? 1 : 0};
    if (status == IG_STATUS_OK) status = ig_pipeline_create(library, &desc, &pipeline, &error);
    if (status != IG_STATUS_OK) complain("compiling", status, &error);
    ig_library_release(library);
    ig_error_clear(&error);
    return pipeline;
}

static ig_status run(ig_queue *queue, ig_pipeline *pipeline, ig_buffer *buffer, uint64_t threads,
                     uint64_t deadline_ns) {
    ig_commands *commands = NULL;
    ig_status status = ig_commands_create(queue, &(ig_commands_desc){.deadline_ns = deadline_ns}, &commands);
    if (status == IG_STATUS_OK) status = ig_commands_set_pipeline(commands, pipeline);
    if (status == IG_STATUS_OK) status = ig_commands_set_buffer(commands, buffer, 0, 0);
    if (status == IG_STATUS_OK)
        status = ig_commands_dispatch_threads(commands, (ig_size){threads, 1, 1}, (ig_size){64, 1, 1});
    if (status == IG_STATUS_OK) status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    ig_commands_release(commands);
    return status;
}

static void expect(const char *what, const char *source, const int *constant, ig_queue *queue, ig_buffer *buffer,
                   uint64_t threads, uint64_t deadline_ns, ig_status expected) {
    ig_pipeline *pipeline = make_pipeline(source, constant);
    if (!pipeline) return;
    ig_status status = run(queue, pipeline, buffer, threads, deadline_ns);
    ig_error error = {0};
    if (status != expected) {
        ig_last_error(&error);
        complain(what, status, &error);
    }
    ig_error_clear(&error);
    ig_pipeline_release(pipeline);
}

static void run_kernel(ig_queue *queue, ig_buffer *buffer, int constant) {
    expect("a run", plain_source, &constant, queue, buffer, WORDS, 0, IG_STATUS_OK);
    const int *words = ig_buffer_contents(buffer);
    if (words[0] != constant || words[WORDS - 1] != WORDS - 1 + constant) complain("a result", IG_STATUS_OK, NULL);
    atomic_fetch_add(&runs, 1);
}

static void work_once(ig_queue *queue, uint32_t *random) {
    ig_buffer *buffer = NULL;
    const ig_buffer_desc desc = {.length = WORDS * sizeof(int), .pooled = next(random) % 2};
    ig_status status = ig_buffer_create(device, &desc, &buffer);
    if (status != IG_STATUS_OK) {
        complain("a buffer", status, NULL);
        return;
    }
    memset(ig_buffer_contents(buffer), 0, 64);
    switch (next(random) % 8) {
        case 0:
        case 1:
            expect("a fault", faulty_source, NULL, queue, buffer, 64, 0, IG_STATUS_KERNEL_FAULT);
            atomic_fetch_add(&faults, 1);
            break;
        case 2:
            expect("a timeout", endless_source, NULL, queue, buffer, 64, 20000000, IG_STATUS_TIMEOUT);
            atomic_fetch_add(&timeouts, 1);
            break;
        default: run_kernel(queue, buffer, (int)(next(random) % CONSTANTS));
    }
    ig_buffer_release(buffer);
}

static void *work(void *user) {
    uint32_t random = (uint32_t)(uintptr_t)user * 77 + 1;
    ig_queue *queue = NULL;
    ig_status status = ig_queue_create(device, &queue);
    if (status != IG_STATUS_OK) complain("a queue", status, NULL);
    while (queue && time_is_left()) work_once(queue, &random);
    ig_queue_release(queue);
    return NULL;
}

// ---- Rings ----

static const char ring_source[] =
    "#include <ingot/ring>\n"
    "void add_one(thread ring::context &c) {"
    "    if (*c.payload<float>() < 0) { c.fail(7); return; }"
    "    c.reply(c.type(), *c.payload<float>() + 1);"
    "}\n"
    "INGOT_RING_KERNEL(inc, add_one)\n";

static void ask(ig_ring_kernel *kernel, float value) {
    ig_message question = IG_MESSAGE(1, &value), answer = {0};
    ig_status status = ig_ring_request(kernel, &question, &answer, (uint64_t)HANG_SECONDS * 1000000000);
    const float *reply = status == IG_STATUS_OK ? IG_MESSAGE_AS(float, 1, &answer) : NULL;
    if (value >= 0 && (!reply || *reply != value + 1)) complain("a request", status, NULL);
    if (value < 0 && (status == IG_STATUS_OK || status == IG_STATUS_TIMEOUT))
        complain("a failing request", status, NULL);
    ig_message_clear(&answer);
    atomic_fetch_add(value < 0 ? &restarts : &requests, 1);
}

static void use_ring(uint32_t *random) {
    ig_ring_runtime *runtime = NULL;
    ig_ring_kernel *kernel = NULL;
    ig_error error = {0};
    ig_ring_launch_desc desc = {.name = "inc",
                                .source = ring_source,
                                .block = 1,
                                .mode = (ig_ring_mode)(next(random) % 2),
                                .restart = IG_RESTART_ON_FAILURE,
                                .max_restarts = REQUESTS};
    ig_status status = ig_ring_runtime_create(device, NULL, &runtime);
    if (status == IG_STATUS_OK) status = ig_ring_launch(runtime, &desc, &kernel, &error);
    if (status != IG_STATUS_OK) complain("a ring", status, &error);
    for (int i = 0; kernel && i < REQUESTS && time_is_left(); i++) ask(kernel, i % 10 == 9 ? -1.0F : (float)i);
    ig_ring_kernel_release(kernel);
    if (runtime) ig_ring_runtime_shutdown(runtime);
    ig_error_clear(&error);
    atomic_fetch_add(&runtimes, 1);
}

static void *use_rings(void *user) {
    uint32_t random = (uint32_t)(uintptr_t)user;
    while (time_is_left()) use_ring(&random);
    return NULL;
}

// ---- Tensors ----

static void use_tensor(ig_stream *stream, uint32_t *random) {
    ig_tensor *x = NULL, *y = NULL, *sum = NULL, *bad = NULL;
    double value = 0;
    uint64_t count = 1 + next(random) % 5000;
    ig_error error = {0};
    ig_status status = ig_tensor_arange(stream, IG_TYPE_F32, 0, 1, count, NULL, &x);
    if (status == IG_STATUS_OK) status = ig_tensor_mul(stream, x, x, NULL, &y);
    if (status == IG_STATUS_OK) status = ig_tensor_sub(stream, y, y, &(ig_op_options){.into = y}, NULL);
    if (status == IG_STATUS_OK) status = ig_tensor_sum(stream, y, NULL, NULL, &sum);
    if (status == IG_STATUS_OK) status = ig_tensor_item(sum, &value);
    if (status != IG_STATUS_OK) ig_stream_get_error(stream, &error);
    if (status != IG_STATUS_OK || value != 0) complain("a tensor", status, &error);
    if (ig_tensor_select(x, 0, (int64_t)count, &bad) != IG_STATUS_OUT_OF_RANGE) complain("a view", IG_STATUS_OK, NULL);
    ig_error_clear(&error);
    ig_tensor_release(x), ig_tensor_release(y), ig_tensor_release(sum);
    atomic_fetch_add(&tensors, 1);
}

static void *use_tensors(void *user) {
    uint32_t random = (uint32_t)(uintptr_t)user;
    ig_stream *stream = NULL;
    ig_error error = {0};
    ig_status status = ig_stream_create(device, NULL, &stream, &error);
    if (status != IG_STATUS_OK) complain("a stream", status, &error);
    while (stream && time_is_left()) use_tensor(stream, &random);
    ig_stream_release(stream);
    ig_error_clear(&error);
    return NULL;
}

// ---- Children ----

// What a child of fork does with the parent's device fails; it must not hang, and must not affect the parent.
static int child(void) {
    ig_queue *queue = NULL;
    ig_commands *commands = NULL;
    if (ig_queue_create(device, &queue) != IG_STATUS_OK) return 0;
    if (ig_commands_create(queue, NULL, &commands) != IG_STATUS_OK) return 0;
    return ig_commands_commit(commands) == IG_STATUS_OK && ig_commands_wait(commands, 1000000000) == IG_STATUS_OK;
}

static bool ends(pid_t pid, int *status) {
    uint64_t deadline = igi_now_ns() + (uint64_t)30 * 1000000000;
    while (waitpid(pid, status, WNOHANG) == 0) {
        if (igi_now_ns() > deadline) {
            kill(pid, SIGKILL);
            waitpid(pid, status, 0);
            return false;
        }
        usleep(2000);
    }
    return true;
}

static void *fork_children(void *user) {
    (void)user;
    while (time_is_left()) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) _exit(child());
        if (pid < 0) complain("fork", IG_STATUS_SYSTEM, NULL);
        if (pid > 0 && !ends(pid, &status)) complain("a child hangs", IG_STATUS_TIMEOUT, NULL);
        if (pid > 0 && status) complain("a child used its parent's device", IG_STATUS_OK, NULL);
        atomic_fetch_add(&forks, 1);
        usleep(200000);
    }
    return NULL;
}

// ---- The clock ----

static void *set_clock(void *user) {
    static const int64_t shifts[] = {120, -120, 0, 100000, -100000, 3, -3, 86400 * 365};
    (void)user;
    for (size_t i = 0; time_is_left(); i++) {
        soak_shift_clock(shifts[i % (sizeof shifts / sizeof *shifts)]);
        atomic_fetch_add(&jumps, 1);
        usleep(300000);
    }
    soak_shift_clock(0);
    return NULL;
}

// ---- Watching ----

static long resident_kb(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int count_entries(const char *path) {
    int count = 0;
    DIR *directory = opendir(path);
    while (directory && readdir(directory)) count++;
    if (directory) closedir(directory);
    return count - 2;
}

static void report(const char *when) {
    printf(
        "%s: rss %ld KB, threads %d, descriptors %d | runs %lu, faults %lu, timeouts %lu, requests %lu, restarts %lu, "
        "runtimes %lu, tensors %lu, forks %lu, clock jumps %lu | wrong %lu\n",
        when, resident_kb(), count_entries("/proc/self/task"), count_entries("/dev/fd"), atomic_load(&runs),
        atomic_load(&faults), atomic_load(&timeouts), atomic_load(&requests), atomic_load(&restarts),
        atomic_load(&runtimes), atomic_load(&tensors), atomic_load(&forks), atomic_load(&jumps), atomic_load(&wrong));
    fflush(stdout);
}

typedef struct usage {
    long resident;
    int threads, descriptors;
} usage;

static usage usage_now(void) {
    return (usage){resident_kb(), count_entries("/proc/self/task"), count_entries("/dev/fd")};
}

// Runs everything for this long, on a new device.
static void run_round(double seconds, double report_every, const char *cache_dir) {
    static void *(*const jobs[])(void *) = {work, work, work, work, use_rings, use_tensors, fork_children, set_clock};
    enum { JOBS = sizeof jobs / sizeof *jobs };
    pthread_t threads[JOBS];
    ig_error error = {0};
    until_ns = igi_now_ns() + (uint64_t)(seconds * 1e9);
    if (ig_device_create(&(ig_device_desc){.cache_dir = cache_dir}, &device, &error) != IG_STATUS_OK) {
        complain("a device", error.status, &error);
        exit(1);
    }
    for (size_t i = 0; i < JOBS; i++) pthread_create(&threads[i], NULL, jobs[i], (void *)(uintptr_t)(i + 1));
    for (uint64_t at = igi_now_ns(); time_is_left(); usleep(50000))
        if (igi_now_ns() - at >= (uint64_t)(report_every * 1e9)) report("running"), at = igi_now_ns();
    alarm(HANG_SECONDS);
    for (size_t i = 0; i < JOBS; i++) pthread_join(threads[i], NULL);
    ig_device_release(device);
    alarm(0);
}

static void hang(int number) {
    (void)number;
    static const char text[] = "WRONG: threads did not end\n1 failed\n";
    (void)!write(STDOUT_FILENO, text, sizeof text - 1);
    abort();
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 5, every = argc > 2 ? strtod(argv[2], NULL) : 20;
    signal(SIGALRM, hang);
    char *cache_dir = igi_make_temp_dir();
    if (!cache_dir) return 2;
    // A first round initialises everything that lasts as long as the process; what the second leaves in addition is
    // leaked.
    run_round(seconds / 4, every, cache_dir);
    usleep(500000);
    usage before = usage_now();
    report("first round");
    run_round(seconds * 3 / 4, every, cache_dir);
    usleep(500000);
    usage after = usage_now();
    report("end");
    igi_remove_tree(cache_dir);
    free(cache_dir);
    bool grew = after.resident > before.resident + before.resident / 5 + 65536;
    if (grew) printf("WRONG: memory grew from %ld to %ld KB\n", before.resident, after.resident);
    if (after.threads > before.threads) printf("WRONG: %d threads, %d before\n", after.threads, before.threads);
    if (after.descriptors > before.descriptors)
        printf("WRONG: %d descriptors, %d before\n", after.descriptors, before.descriptors);
    bool good =
        !atomic_load(&wrong) && !grew && after.threads <= before.threads && after.descriptors <= before.descriptors;
    printf("%d passed, %d failed\n", good, !good);
    return good ? 0 : 1;
}
