// SPDX-License-Identifier: Apache-2.0
// Shared by the device tests.
#include "helpers.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/file.h"
#include "device/cpu/fault.h"

ig_device *device;
char *cache_dir;
static char *kernel_dir;  // INGOT_CACHE_DIR, where kernels of other programs are; without it, cache_dir

bool on_software_device(void) {
    const char *named = getenv("INGOT_DEVICE");
    return !named || strcmp(named, "metal") != 0;
}

// ---- Signals ----

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
static struct sigaction fault_actions[LENGTH(fault_signals)];

void use_fault_handlers(void) {
    for (size_t i = 0; i < LENGTH(fault_signals); i++) sigaction(fault_signals[i], &fault_actions[i], NULL);
}

// Outside of a Mac, Metal is a second copy of the library in this process, whose handlers are installed by the first
// kernel.
static void learn_fault_handlers(void) {
    uint32_t word = 0;
    igi_device_fault_install();
    if (!on_software_device())
        run_on_words("kernel void f(device uint *a [[buffer(0)]]) { a[0] = 1; }", "f", &word, 1, 1);
    for (size_t i = 0; i < LENGTH(fault_signals); i++) sigaction(fault_signals[i], NULL, &fault_actions[i]);
}

// ---- The program's device ----

int open_test_device(void **state) {
    (void)state;
    const char *shared = getenv("INGOT_CACHE_DIR");
    cache_dir = igi_make_temp_dir();
    kernel_dir = strdup(shared && *shared ? shared : cache_dir);
    if (!cache_dir || !kernel_dir) return -1;
    unsetenv("INGOT_CLANG"), unsetenv("INGOT_WORKERS"), unsetenv("INGOT_CACHE_DIR");
    // Metal has its own cache, whatever the descriptor says.
    if (!on_software_device()) setenv("INGOT_CACHE_DIR", kernel_dir, 1);
    ig_error error = {0};
    ig_device_desc desc = {.cache_dir = kernel_dir};
    if (ig_device_create(&desc, &device, &error) == IG_STATUS_OK) {
        learn_fault_handlers();
        return 0;
    }
    fprintf(stderr, "no device: %s\n", error.message);
    ig_error_clear(&error);
    return -1;
}

int close_test_device(void **state) {
    (void)state;
    ig_device_release(device);
    remove_temp_dir(cache_dir);
    free(kernel_dir);
    return 0;
}

ig_device *open_device(const ig_device_desc *desc) {
    ig_device_desc full = desc ? *desc : (ig_device_desc){0};
    ig_device *made = NULL;
    ig_error error = {0};
    if (!full.cache_dir) full.cache_dir = kernel_dir;
    if (ig_device_create(&full, &made, &error) != IG_STATUS_OK) fail_msg("no device: %s", error.message);
    return made;
}

// ---- Objects ----

void expect_contains(const char *text, const char *part, const char *file, int line) {
    if (text && strstr(text, part)) return;
    print_error("%s:%d: \"%s\" does not contain \"%s\"\n", file, line, text ? text : "(null)", part);
    _fail(file, line);
}

ig_library *compile_on(ig_device *on, const ig_library_desc *desc) {
    ig_library *library = NULL;
    ig_error error = {0};
    if (ig_library_create(on, desc, &library, &error) != IG_STATUS_OK)
        fail_msg("%s: %s\n%s", ig_status_name(error.status), error.message, error.log ? error.log : "");
    return library;
}

ig_library *compile(const char *source) {
    return compile_on(device, &(ig_library_desc){.source = source});
}

ig_pipeline *pipeline_of(ig_library *library, const char *kernel) {
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    if (ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = kernel}, &pipeline, &error) != IG_STATUS_OK)
        fail_msg("%s: %s", ig_status_name(error.status), error.message);
    return pipeline;
}

ig_pipeline *make_pipeline_on(ig_device *on, const char *source, const char *kernel) {
    ig_library *library = compile_on(on, &(ig_library_desc){.source = source});
    ig_pipeline *pipeline = pipeline_of(library, kernel);
    ig_library_release(library);
    return pipeline;
}

ig_pipeline *make_pipeline(const char *source, const char *kernel) {
    return make_pipeline_on(device, source, kernel);
}

ig_buffer *make_buffer_on(ig_device *on, uint64_t length) {
    ig_buffer *buffer = NULL;
    assert_ok(ig_buffer_create(on, &(ig_buffer_desc){.length = length}, &buffer));
    return buffer;
}

ig_buffer *make_buffer(uint64_t length) {
    return make_buffer_on(device, length);
}

ig_queue *make_queue(void) {
    ig_queue *queue = NULL;
    assert_ok(ig_queue_create(device, &queue));
    return queue;
}

ig_commands *make_commands(ig_queue *queue) {
    ig_commands *commands = NULL;
    assert_ok(ig_commands_create(queue, NULL, &commands));
    return commands;
}

// ---- Running ----

static ig_status encode(ig_commands *commands, const run *r) {
    ig_status status = ig_commands_set_pipeline(commands, r->pipeline);
    for (size_t i = 0; i < r->buffer_count && status == IG_STATUS_OK; i++)
        status = ig_commands_set_buffer(commands, r->buffers[i], 0, (uint32_t)i);
    if (status == IG_STATUS_OK && r->threadgroup_bytes)
        status = ig_commands_set_threadgroup_memory(commands, r->threadgroup_bytes, 0);
    if (status != IG_STATUS_OK) return status;
    return r->groups ? ig_commands_dispatch_threadgroups(commands, r->grid, r->group)
                     : ig_commands_dispatch_threads(commands, r->grid, r->group);
}

static ig_status run_commands(ig_commands *commands, const run *r) {
    ig_status status = encode(commands, r);
    if (status == IG_STATUS_OK) status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    if (r->error) ig_commands_get_error(commands, r->error);
    return status;
}

ig_status try_run(const run *r) {
    ig_queue *queue = NULL;
    ig_commands *commands = NULL;
    ig_status status = ig_queue_create(r->on ? r->on : device, &queue);
    if (status == IG_STATUS_OK)
        status = ig_commands_create(queue, &(ig_commands_desc){.deadline_ns = r->deadline_ns}, &commands);
    if (status == IG_STATUS_OK) status = run_commands(commands, r);
    ig_commands_release(commands);
    ig_queue_release(queue);
    return status;
}

void do_run(const run *r) {
    ig_error error = {0};
    run with_error = *r;
    if (!with_error.error) with_error.error = &error;
    ig_status status = try_run(&with_error);
    if (status != IG_STATUS_OK) fail_msg("%s: %s", ig_status_name(status), with_error.error->message);
    ig_error_clear(&error);
}

void run_on_words(const char *source, const char *kernel, uint32_t *words, size_t count, uint64_t threads) {
    ig_pipeline *pipeline = make_pipeline(source, kernel);
    ig_buffer *buffer = make_buffer(count * sizeof *words);
    memcpy(ig_buffer_contents(buffer), words, count * sizeof *words);
    do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = {threads, 1, 1}});
    memcpy(words, ig_buffer_contents(buffer), count * sizeof *words);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sleep_ms(unsigned milliseconds) {
    nanosleep(&(struct timespec){milliseconds / 1000, (long)(milliseconds % 1000) * 1000000}, NULL);
}

// ---- Random numbers: splitmix64 ----

uint64_t random_u64(random_state *random) {
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t random_below(random_state *random, uint64_t bound) {
    return random_u64(random) % bound;
}

// ---- Files ----

const char *path_of(const char *format, ...) {
    static _Thread_local char paths[8][1024];
    static _Thread_local unsigned next;
    char *path = paths[next++ % 8];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof paths[0], format, arguments);
    va_end(arguments);
    return path;
}

void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file) abort();
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

void write_script(const char *path, const char *body) {
    write_text(path, path_of("#!/bin/sh\n%s\n", body));
    assert_int_equal(chmod(path, 0700), 0);
}

char *make_temp_dir(void) {
    char *path = igi_make_temp_dir();
    assert_non_null(path);
    return path;
}

void remove_temp_dir(char *path) {
    igi_remove_tree(path);
    free(path);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t list_files(const char *directory, const char *suffix, char ***names) {
    size_t count = 0, capacity = 0;
    DIR *stream = opendir(directory);
    struct dirent *entry;
    *names = NULL;
    while (stream && (entry = readdir(stream))) {
        size_t length = strlen(entry->d_name), tail = strlen(suffix);
        if (length < tail || strcmp(entry->d_name + length - tail, suffix) != 0) continue;
        if (count == capacity) *names = realloc(*names, (capacity = capacity * 2 + 8) * sizeof **names);
        (*names)[count++] = strdup(entry->d_name);
    }
    if (stream) closedir(stream);
    if (count) qsort(*names, count, sizeof **names, by_name);
    return count;
}

void free_names(char **names, size_t count) {
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
}
