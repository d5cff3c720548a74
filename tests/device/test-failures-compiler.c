// SPDX-License-Identifier: Apache-2.0
// A clang that is missing, crashes, hangs or prints nonsense is a distinct error, and the next one may work.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helpers.h"
#include "msl/clang-path.h"

static const char source[] = "kernel void k(device uint *a [[buffer(0)]]) { a[0] = 1; }\n";
static char *directory, *found_clang;

static int make_directory(void **state) {
    (void)state;
    directory = make_temp_dir();
    found_clang = igi_msl_find_clang();
    return found_clang ? 0 : -1;
}

static int forget_clang(void **state) {
    (void)state;
    unsetenv("INGOT_CLANG");
    remove_temp_dir(directory);
    free(found_clang);
    return 0;
}

// Compiles on a new device with a new cache and this compiler.
static ig_status compile_with(const char *compiler, uint64_t timeout_ns, ig_error *error) {
    setenv("INGOT_CLANG", compiler, 1);
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = path_of("%s/cache", directory)});
    ig_library *library = NULL;
    ig_library_desc desc = {.source = source, .timeout_ns = timeout_ns};
    ig_status status = ig_library_create(fresh, &desc, &library, error);
    assert_true((status == IG_STATUS_OK) == (library != NULL));
    ig_library_release(library);
    ig_device_release(fresh);
    unsetenv("INGOT_CLANG");
    return status;
}

static ig_status compile_with_script(const char *body, uint64_t timeout_ns, ig_error *error) {
    const char *path = path_of("%s/clang", directory);
    write_script(path, body);
    return compile_with(path, timeout_ns, error);
}

static void a_missing_clang_is_said_to_be_missing(void **state) {
    (void)state;
    ig_error error = {0};
    assert_status(compile_with("/nonexistent/clang", 0, &error), IG_STATUS_COMPILER_MISSING);
    assert_contains(error.message, "/nonexistent/clang");
    assert_status(compile_with("no-such-clang", 0, &error), IG_STATUS_COMPILER_MISSING);
    assert_status(compile_with("/etc", 0, &error), IG_STATUS_COMPILER_MISSING);
    assert_status(compile_with("/etc/passwd", 0, &error), IG_STATUS_COMPILER_MISSING);
    ig_error_clear(&error);
}

static void a_path_without_clang_says_how_to_get_it(void **state) {
    (void)state;
    const char *before = getenv("PATH");
    char *path = strdup(before ? before : "/usr/bin");
    ig_error error = {0};
    setenv("PATH", directory, 1);
    char *elsewhere = igi_msl_find_clang();
    ig_status status = compile_with("", 0, &error);
    setenv("PATH", path, 1);
    free(path);
    if (elsewhere) {
        assert_ok(status);
    } else {
        assert_status(status, IG_STATUS_COMPILER_MISSING);
        assert_contains(error.message, "install");
    }
    free(elsewhere);
    ig_error_clear(&error);
}

static void a_program_that_is_no_executable_is_said_to_be_missing(void **state) {
    (void)state;
    ig_error error = {0};
    write_script(path_of("%s/clang", directory), "");
    write_text(path_of("%s/clang", directory), "this is no program");
    ig_status status = compile_with(path_of("%s/clang", directory), 0, &error);
    // Depending on the C library, execvp passes such a file to the shell, which then does not know the command.
    assert_true(status == IG_STATUS_COMPILER_MISSING || status == IG_STATUS_COMPILER_CRASHED);
    ig_error_clear(&error);
}

static void a_crashing_clang_is_named_by_its_signal(void **state) {
    (void)state;
    ig_error error = {0};
    assert_status(compile_with_script("kill -SEGV $$", 0, &error), IG_STATUS_COMPILER_CRASHED);
    assert_contains(error.message, "signal 11");
    assert_status(compile_with_script("echo half; kill -KILL $$", 0, &error), IG_STATUS_COMPILER_CRASHED);
    assert_contains(error.message, "signal 9");
    ig_error_clear(&error);
}

static void a_clang_that_fails_without_a_diagnostic_has_crashed(void **state) {
    (void)state;
    ig_error error = {0};
    assert_status(compile_with_script("echo 'LLVM ERROR: out of luck' >&2; exit 1", 0, &error),
                  IG_STATUS_COMPILER_CRASHED);
    assert_contains(error.message, "out of luck");
    assert_status(compile_with_script("exit 3", 0, &error), IG_STATUS_COMPILER_CRASHED);
    assert_contains(error.message, "3");
    ig_error_clear(&error);
}

static void a_clang_that_never_ends_is_stopped_in_time(void **state) {
    (void)state;
    ig_error error = {0};
    uint64_t start = now_ns();
    // The precompiled header is made at once; only the actual compilation sleeps.
    assert_status(
        compile_with_script("case \"$*\" in *c++-header*) exit 1;; esac; exec sleep 20", SECONDS(0.3), &error),
        IG_STATUS_COMPILER_TIMEOUT);
    assert_contains(error.message, "timeout_ns");
    assert_true(now_ns() - start < SECONDS(15));
    ig_error_clear(&error);
}

static void a_clang_that_hangs_on_the_headers_is_stopped_in_time(void **state) {
    (void)state;
    ig_error error = {0};
    uint64_t start = now_ns();
    assert_status(compile_with_script("exec sleep 20", SECONDS(0.3), &error), IG_STATUS_COMPILER_TIMEOUT);
    assert_true(now_ns() - start < SECONDS(15));
    ig_error_clear(&error);
}

// Whether a process that was started with this argument is running.
static bool is_running(const char *argument) {
    return system(path_of(
               "if [ -r /proc/self/cmdline ]; then cat /proc/[0-9]*/cmdline 2>/dev/null; else ps -A -o args=; fi"
               " | grep -a '%s' >/dev/null",
               argument)) == 0;
}

static void what_a_stopped_clang_started_is_stopped_too(void **state) {
    (void)state;
    ig_error error = {0};
    char argument[64];
    snprintf(argument, sizeof argument, "20.%d4711", (int)getpid());
    const char *body = path_of("case \"$*\" in *c++-header*) exit 1;; esac; sleep %s & wait", argument);
    assert_status(compile_with_script(body, SECONDS(0.3), &error), IG_STATUS_COMPILER_TIMEOUT);
    ig_error_clear(&error);
    char pattern[80];
    snprintf(pattern, sizeof pattern, "[s]leep.%s", argument);
    for (int i = 0; i < 100 && is_running(pattern); i++) sleep_ms(10);
    assert_false(is_running(pattern));
}

static void a_clang_that_prints_garbage_is_found_out(void **state) {
    (void)state;
    ig_error error = {0};
    static const char *const bodies[] = {
        "echo garbage",
        "head -c 100000 /dev/urandom",
        "printf 'BC\\300\\336 and then nonsense'",
        "exit 0",
    };
    for (size_t i = 0; i < LENGTH(bodies); i++) {
        ig_status status = compile_with_script(bodies[i], 0, &error);
        if (status != IG_STATUS_BAD_FORMAT && status != IG_STATUS_COMPILER_CRASHED)
            fail_msg("%s: %s", bodies[i], ig_status_name(status));
        assert_true(strlen(error.message) > 10);
        ig_error_clear(&error);
    }
}

static void a_clang_that_floods_its_messages_does_no_harm(void **state) {
    (void)state;
    ig_error error = {0};
    assert_status(compile_with_script("i=0; while [ $i -lt 20000 ]; do echo \"x.metal:$i:1: error: no $i\" >&2; "
                                      "i=$((i+1)); done; exit 1",
                                      0, &error),
                  IG_STATUS_COMPILE_FAILED);
    assert_contains(error.message, "no 0");
    ig_error_clear(&error);
}

static void a_clang_that_never_stops_writing_is_stopped(void **state) {
    (void)state;
    ig_error error = {0};
    assert_status(compile_with_script("exec cat /dev/zero", 0, &error), IG_STATUS_OVERFLOW);
    assert_contains(error.message, "256 MiB");
    ig_error_clear(&error);
}

static void clang_sees_no_files_but_its_own(void **state) {
    (void)state;
    ig_error error = {0};
    const char *secret = path_of("%s/secret/file", directory);
    mkdir(path_of("%s/secret", directory), 0700);
    write_text(secret, "never to be seen");
    mkdir(path_of("%s/bin", directory), 0700);
    const char *clang = path_of("%s/bin/clang", directory);
    write_script(clang, path_of("cat %s /etc/passwd >&2; echo $CPATH $HOST_SECRET >&2; exit 1", secret));
    setenv("HOST_SECRET", "in the environment", 1);
    assert_status(compile_with(clang, 0, &error), IG_STATUS_COMPILER_CRASHED);
    unsetenv("HOST_SECRET");
    assert_null(strstr(error.message, "in the environment"));
    if (strstr(error.message, "ermission denied") == NULL) skip();  // a kernel without Landlock
    assert_null(strstr(error.message, "never to be seen"));
    assert_null(strstr(error.message, "root:"));
    ig_error_clear(&error);
}

static void after_a_failure_the_same_device_compiles_again(void **state) {
    (void)state;
    const char *path = path_of("%s/clang", directory);
    ig_library *library = NULL;
    ig_error error = {0};
    write_script(path, "kill -SEGV $$");
    setenv("INGOT_CLANG", path, 1);
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = path_of("%s/cache", directory)});
    assert_status(ig_library_create(fresh, &(ig_library_desc){.source = source}, &library, &error),
                  IG_STATUS_COMPILER_CRASHED);
    unlink(path);
    assert_int_equal(symlink(found_clang, path), 0);
    library = compile_on(fresh, &(ig_library_desc){.source = source});
    assert_int_equal(ig_library_kernel_count(library), 1);
    ig_error_clear(&error);
    ig_library_release(library);
    ig_device_release(fresh);
}

static void a_clang_installed_later_is_found(void **state) {
    (void)state;
    ig_library *library = NULL;
    setenv("INGOT_CLANG", path_of("%s/later", directory), 1);
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = path_of("%s/cache", directory)});
    assert_status(ig_library_create(fresh, &(ig_library_desc){.source = source}, &library, NULL),
                  IG_STATUS_COMPILER_MISSING);
    assert_int_equal(symlink(found_clang, path_of("%s/later", directory)), 0);
    library = compile_on(fresh, &(ig_library_desc){.source = source});
    ig_library_release(library);
    ig_device_release(fresh);
}

static void a_missing_temporary_directory_is_an_io_error(void **state) {
    (void)state;
    ig_library *library = NULL;
    ig_error error = {0};
    const char *given = getenv("TMPDIR");
    char *before = given ? strdup(given) : NULL;
    ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = path_of("%s/cache", directory)});
    setenv("TMPDIR", "/nonexistent", 1);
    ig_status status = ig_library_create(fresh, &(ig_library_desc){.source = source}, &library, &error);
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    assert_status(status, IG_STATUS_IO);
    assert_contains(error.message, "TMPDIR");
    ig_error_clear(&error);
    free(before);
    ig_device_release(fresh);
}

#define compiler_test(name) cmocka_unit_test_setup_teardown(name, make_directory, forget_clang)

int main(void) {
    const struct CMUnitTest tests[] = {
        compiler_test(a_missing_clang_is_said_to_be_missing),
        compiler_test(a_path_without_clang_says_how_to_get_it),
        compiler_test(a_program_that_is_no_executable_is_said_to_be_missing),
        compiler_test(a_crashing_clang_is_named_by_its_signal),
        compiler_test(a_clang_that_fails_without_a_diagnostic_has_crashed),
        compiler_test(a_clang_that_never_ends_is_stopped_in_time),
        compiler_test(a_clang_that_hangs_on_the_headers_is_stopped_in_time),
        compiler_test(what_a_stopped_clang_started_is_stopped_too),
        compiler_test(a_clang_that_prints_garbage_is_found_out),
        compiler_test(a_clang_that_floods_its_messages_does_no_harm),
        compiler_test(a_clang_that_never_stops_writing_is_stopped),
        compiler_test(clang_sees_no_files_but_its_own),
        compiler_test(after_a_failure_the_same_device_compiles_again),
        compiler_test(a_clang_installed_later_is_found),
        compiler_test(a_missing_temporary_directory_is_an_io_error),
    };
    return cmocka_run_group_tests_name("failures-compiler", tests, open_test_device, close_test_device);
}
