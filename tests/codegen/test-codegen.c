// SPDX-License-Identifier: Apache-2.0
// Kernels are compiled in another process: whatever it does, and whatever happens to it, never harms this one.
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "helpers.h"

static const char simple[] = "kernel void k(device uint *a, uint i [[thread_position_in_grid]]) { a[i] = i; }";

static ig_status make(ig_device *on, const char *source, uint64_t timeout_ns, ig_error *error) {
    ig_library *library = NULL;
    ig_pipeline *pipeline = NULL;
    ig_status status =
        ig_library_create(on, &(ig_library_desc){.source = source, .timeout_ns = timeout_ns}, &library, error);
    if (status == IG_STATUS_OK)
        status = ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "k"}, &pipeline, error);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
    return status;
}

static ig_status make_fresh(const char *source, ig_error *error) {
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = ""});
    ig_status status = make(fresh, source, 0, error);
    ig_device_release(fresh);
    return status;
}

// ---- Limits ----

// Twice as many calls at every level: 2^24 in all once they are inlined.
static char *doubling_source(void) {
    igi_text source = {0};
    igi_text_add(&source, "static float f0(float x) { return x * 1.0001f + x; }\n");
    for (int i = 1; i <= 24; i++)
        igi_text_addf(&source, "static float f%d(float x) { return f%d(x) + f%d(x + 1); }\n", i, i - 1, i - 1);
    igi_text_add(&source, "kernel void k(device float *a) { a[0] = f24(a[0]); }\n");
    return igi_text_take(&source);
}

static void a_kernel_that_compiles_for_ever_is_stopped(void **state) {
    (void)state;
    char *source = doubling_source();
    ig_error error = {0};
    assert_status(make(device, source, SECONDS(1), &error), IG_STATUS_COMPILER_TIMEOUT);
    assert_contains(error.message, "kernel 'k'");
    ig_error_clear(&error);
    free(source);
    assert_ok(make(device, simple, 0, NULL));
}

// ---- Finding it ----

static void a_missing_process_is_named(void **state) {
    (void)state;
    ig_error error = {0};
    setenv("INGOT_CODEGEN", "/nowhere/ingot-codegen", 1);
    assert_status(make_fresh(simple, &error), IG_STATUS_COMPILER_MISSING);
    assert_contains(error.message, "INGOT_CODEGEN");
    ig_error_clear(&error);
    unsetenv("INGOT_CODEGEN");
}

static void it_can_be_left_out(void **state) {
    (void)state;
    setenv("INGOT_CODEGEN", "in-process", 1);
    assert_ok(make_fresh(simple, NULL));
    unsetenv("INGOT_CODEGEN");
}

// ---- Misbehaviour ----

static void expect_fake(const char *how, ig_status status, const char *part) {
    ig_error error = {0};
    setenv("INGOT_CODEGEN", getenv("FAKE_CODEGEN_PATH"), 1);
    setenv("FAKE_CODEGEN", how, 1);
    assert_status(make_fresh(simple, &error), status);
    assert_contains(error.message, part);
    ig_error_clear(&error);
    unsetenv("INGOT_CODEGEN");
}

static void a_process_that_misbehaves_is_an_error(void **state) {
    (void)state;
    expect_fake("garbage", IG_STATUS_BAD_FORMAT, "damaged");
    expect_fake("silent", IG_STATUS_COMPILER_CRASHED, "kernel 'k'");
    expect_fake("deaf", IG_STATUS_COMPILER_CRASHED, "kernel 'k'");
    expect_fake("dies", IG_STATUS_COMPILER_CRASHED, "kernel 'k'");
    expect_fake("exits", IG_STATUS_COMPILER_CRASHED, "ingot-codegen");
}

// ---- Life ----

static bool reads(const char *process, const char *file, const char *text) {
    char path[300], content[64] = "";
    snprintf(path, sizeof path, "/proc/%s/%s", process, file);
    FILE *stream = fopen(path, "r");
    bool same = stream && fgets(content, sizeof content, stream) && strcmp(content, text) == 0;
    if (stream) fclose(stream);
    return same;
}

static bool is_here(const char *process) {
    char path[300], there[256], here[256];
    snprintf(path, sizeof path, "/proc/%s/cwd", process);
    ssize_t length = readlink(path, there, sizeof there), own = readlink("/proc/self/cwd", here, sizeof here);
    return length > 0 && length == own && memcmp(there, here, (size_t)length) == 0;
}

// The ingot-codegen that works in our directory; -1 if there is none or this system cannot find out.
static pid_t find_process(void) {
    DIR *processes = opendir("/proc");
    struct dirent *item;
    pid_t found = -1;
    while (processes && (item = readdir(processes)))
        if (reads(item->d_name, "comm", "ingot-codegen\n") && is_here(item->d_name)) found = (pid_t)atoi(item->d_name);
    if (processes) closedir(processes);
    return found;
}

static void a_killed_process_is_started_again(void **state) {
    (void)state;
    char directory[] = "/tmp/ingot-codegen-XXXXXX", before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(directory));  // a directory that only our process uses
    assert_int_equal(chdir(directory), 0);
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = ""});
    assert_ok(make(fresh, simple, 0, NULL));
    pid_t process = find_process();
    if (process > 0) kill(process, SIGKILL);
    assert_ok(make(fresh, "kernel void k(device uint *a) { a[0] = 9; }", 0, NULL));
    ig_device_release(fresh);
    assert_int_equal(chdir(before), 0);
    rmdir(directory);
    if (process <= 0) skip();
}

static void the_host_gets_no_child_to_wait_for(void **state) {
    (void)state;
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = ""});
    assert_ok(make(fresh, simple, 0, NULL));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    ig_device_release(fresh);
}

static void a_host_that_ignores_its_children_can_compile(void **state) {
    (void)state;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    assert_ok(make_fresh(simple, NULL));
    signal(SIGCHLD, before);
}

// ---- Many at once ----

static void *compile_some(void *argument) {
    size_t *failures = argument;
    for (int i = 0; i < 3; i++) {
        char source[200];
        snprintf(source, sizeof source, "kernel void k(device uint *a) { a[%d] = %zu; }", i,
                 (size_t)(uintptr_t)failures % 997);
        *failures += make(device, source, 0, NULL) != IG_STATUS_OK;
    }
    return NULL;
}

static void threads_compile_at_once(void **state) {
    (void)state;
    pthread_t threads[6];
    size_t failures[6] = {0};
    for (int i = 0; i < 6; i++) pthread_create(&threads[i], NULL, compile_some, &failures[i]);
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_compiles_for_ever_is_stopped),
        cmocka_unit_test(a_missing_process_is_named),
        cmocka_unit_test(it_can_be_left_out),
        cmocka_unit_test(a_process_that_misbehaves_is_an_error),
        cmocka_unit_test(a_killed_process_is_started_again),
        cmocka_unit_test(the_host_gets_no_child_to_wait_for),
        cmocka_unit_test(a_host_that_ignores_its_children_can_compile),
        cmocka_unit_test(threads_compile_at_once),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
