// SPDX-License-Identifier: Apache-2.0
// Child processes: output, exit codes, signals, time and memory limits, and what is left in the parent.
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "../emulated.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/process.h"
#include "core/sandbox.h"

static const uint64_t second = 1000000000u;

static igi_process run_arguments(const char *const *arguments, uint64_t timeout_ns, uint64_t memory_limit) {
    igi_process process = {
        .arguments = (char *const *)arguments, .timeout_ns = timeout_ns, .limits.memory_bytes = memory_limit};
    igi_process_run(&process);
    return process;
}

static igi_process run_shell(const char *command, uint64_t timeout_ns) {
    const char *const arguments[] = {"sh", "-c", command, NULL};
    return run_arguments(arguments, timeout_ns, 0);
}

static void end(igi_process *process) {
    igi_text_free(&process->output), igi_text_free(&process->errors);
}

static void both_streams_are_captured(void **state) {
    (void)state;
    igi_process process = run_shell("echo out; echo err >&2; printf more", 10 * second);
    assert_int_equal(process.exit, IGI_EXIT_CODE);
    assert_int_equal(process.code, 0);
    assert_string_equal(process.output.data, "out\nmore");
    assert_string_equal(process.errors.data, "err\n");
    end(&process);
}

static void a_silent_child_gives_empty_streams(void **state) {
    (void)state;
    igi_process process = run_shell("true", 10 * second);
    assert_int_equal(process.exit, IGI_EXIT_CODE);
    assert_int_equal(process.output.length, 0);
    assert_int_equal(process.errors.length, 0);
    end(&process);
}

static void floods_on_both_streams_do_not_block(void **state) {
    (void)state;
    igi_process process =
        run_shell("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2; head -c 5 /dev/zero", 30 * second);
    assert_int_equal(process.exit, IGI_EXIT_CODE);
    assert_int_equal(process.output.length, 3000005);
    assert_int_equal(process.errors.length, 2000000);
    end(&process);
}

static void exit_codes_are_passed_on(void **state) {
    (void)state;
    static const int codes[] = {0, 1, 2, 42, 126, 255};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char command[20];
        snprintf(command, sizeof command, "exit %d", codes[i]);
        igi_process process = run_shell(command, 10 * second);
        assert_int_equal(process.exit, IGI_EXIT_CODE);
        assert_int_equal(process.code, codes[i]);
        end(&process);
    }
}

static void signals_are_told_from_exits(void **state) {
    (void)state;
    static const int signals[] = {SIGSEGV, SIGABRT, SIGKILL, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        char command[40];
        snprintf(command, sizeof command, "echo before; kill -%d $$", signals[i]);
        igi_process process = run_shell(command, 10 * second);
        assert_int_equal(process.exit, IGI_EXIT_SIGNAL);
        assert_int_equal(process.code, signals[i]);
        assert_string_equal(process.output.data, "before\n");
        end(&process);
    }
}

static void a_program_that_is_not_there_is_not_found(void **state) {
    (void)state;
    static const char *const names[] = {"/nonexistent/program", "no-such-program-anywhere", "/etc", "/etc/passwd"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const arguments[] = {names[i], NULL};
        igi_process process = run_arguments(arguments, 10 * second, 0);
        assert_int_equal(process.exit, IGI_EXIT_NOT_FOUND);
        end(&process);
    }
}

static void the_time_limit_is_kept(void **state) {
    (void)state;
    uint64_t start = igi_now_ns();
    igi_process process = run_shell("echo first; exec sleep 20", second / 5);
    uint64_t elapsed = igi_now_ns() - start;
    assert_int_equal(process.exit, IGI_EXIT_TIMEOUT);
    assert_string_equal(process.output.data, "first\n");
    assert_true(elapsed >= second / 5 && elapsed < 15 * second);
    end(&process);
}

static void a_child_that_closes_its_streams_is_still_timed(void **state) {
    (void)state;
    uint64_t start = igi_now_ns();
    igi_process process = run_shell("exec >&- 2>&-; exec sleep 20", second / 5);
    assert_int_equal(process.exit, IGI_EXIT_TIMEOUT);
    assert_true(igi_now_ns() - start < 15 * second);
    end(&process);
}

// Not gone, nor merely waiting to be reaped.
static bool is_alive(int process) {
    bool has_proc = access("/proc/self/stat", R_OK) == 0;
    char *source = has_proc ? igi_format("/proc/%d/stat", process) : igi_format("ps -o state= -p %d", process);
    FILE *file = has_proc ? fopen(source, "r") : popen(source, "r");
    char its_state = 'Z';
    bool known = file && fscanf(file, has_proc ? "%*d %*s %c" : " %c", &its_state) == 1;
    if (file && has_proc) fclose(file);
    if (file && !has_proc) pclose(file);
    free(source);
    return known && its_state != 'Z';
}

static void grandchildren_end_with_the_child_at_the_limit(void **state) {
    (void)state;
    igi_process process = run_shell("sleep 20 & echo $!; wait", second / 5);
    assert_int_equal(process.exit, IGI_EXIT_TIMEOUT);
    int grandchild = atoi(process.output.data);
    for (int i = 0; i < 200 && is_alive(grandchild); i++) usleep(10000);
    assert_false(is_alive(grandchild));
    end(&process);
}

static void ignore_alarm(int number) {
    (void)number;
}

static void signals_to_the_parent_do_not_stretch_the_limit(void **state) {
    (void)state;
    if (is_emulated()) skip();
    struct sigaction action = {.sa_handler = ignore_alarm, .sa_flags = SA_RESTART}, kept;
    sigaction(SIGALRM, &action, &kept);
    struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    uint64_t start = igi_now_ns();
    igi_process process = run_shell("echo first; exec sleep 5", second / 3);
    uint64_t elapsed = igi_now_ns() - start;
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &kept, NULL);
    assert_int_equal(process.exit, IGI_EXIT_TIMEOUT);
    assert_true(elapsed < 3 * second);
    end(&process);
}

// A compiler may assume that a loop ends if its condition is not constant.
static _Noreturn void keep_busy(void) {
    alarm(60);  // in case the parent is killed
    for (volatile unsigned i = 0;; i++) continue;
}

// CPU time counts for a child that works: beside other load it gets less of it, but has the same work to do.
static void a_child_that_works_is_given_its_time(void **state) {
    (void)state;
    enum { RIVALS = 16 };
    pid_t rivals[RIVALS];
    for (int i = 0; i < RIVALS; i++)
        if ((rivals[i] = fork()) == 0) keep_busy();
    // About a tenth of a second of work, which now takes many times as long.
    igi_process process = run_shell("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; echo done", second / 2);
    for (int i = 0; i < RIVALS; i++) kill(rivals[i], SIGKILL), waitpid(rivals[i], NULL, 0);
    assert_int_equal(process.exit, IGI_EXIT_CODE);
    assert_string_equal(process.output.data, "done\n");
    end(&process);
}

// With the least weight that there is, beside two others on its core, the child gets nothing for a second or two at a time.
static void a_child_that_gets_no_core_is_not_idle(void **state) {
    (void)state;
#ifdef __linux__
    enum { RIVALS = 2 };
    pid_t rivals[RIVALS];
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < RIVALS; i++)
        if ((rivals[i] = fork()) == 0) keep_busy();
    igi_process process =
        run_shell("chrt --idle --pid 0 $$; i=0; while [ $i -lt 4000 ]; do i=$((i+1)); done; echo done", second / 10);
    for (int i = 0; i < RIVALS; i++) kill(rivals[i], SIGKILL), waitpid(rivals[i], NULL, 0);
    sched_setaffinity(0, sizeof all, &all);
    assert_int_equal(process.exit, IGI_EXIT_CODE);
    assert_string_equal(process.output.data, "done\n");
    end(&process);
#endif
}

static void a_child_that_works_for_ever_is_stopped(void **state) {
    (void)state;
    uint64_t start = igi_now_ns();
    igi_process process = run_shell("while :; do :; done", second / 5);
    assert_int_equal(process.exit, IGI_EXIT_TIMEOUT);
    assert_true(igi_now_ns() - start < 60 * second);
    end(&process);
}

static void a_child_that_never_stops_writing_is_stopped(void **state) {
    (void)state;
    const char *const arguments[] = {"cat", "/dev/zero", NULL};
    igi_process process = {
        .arguments = (char *const *)arguments, .timeout_ns = 60 * second, .limits.output_bytes = 1 << 20};
    igi_process_run(&process);
    assert_int_equal(process.exit, IGI_EXIT_TOO_MUCH_OUTPUT);
    assert_true(process.output.length < 2 << 20);
    end(&process);
}

static void files_of_the_host_stay_with_the_host(void **state) {
    (void)state;
    int file = open("/dev/null", O_RDONLY);  // not close-on-exec
    const char *command = "ls /dev/fd/ | wc -l";
    igi_process process = run_shell(command, 10 * second);
    assert_int_equal(atoi(process.output.data), 4);  // the three streams, and the directory that ls reads
    close(file);
    end(&process);
}

static void the_limit_on_open_files_is_kept(void **state) {
    (void)state;
    const char *const arguments[] = {"sh", "-c", "ulimit -n; ulimit -c; ulimit -f; ulimit -t", NULL};
    igi_process process = {.arguments = (char *const *)arguments,
                           .timeout_ns = 10 * second,
                           .limits = {.output_bytes = 1 << 20, .open_files = 77}};
    igi_process_run(&process);
    assert_string_equal(process.output.data, "77\n0\n2048\n12\n");
    end(&process);
}

static void the_environment_is_the_one_given(void **state) {
    (void)state;
    const char *const arguments[] = {"env", NULL};
    char *const environment[] = {"PATH=/usr/bin:/bin", "ONE=1", NULL};
    igi_process process = {
        .arguments = (char *const *)arguments, .environment = environment, .timeout_ns = 10 * second};
    igi_process_run(&process);
    assert_string_equal(process.output.data, "PATH=/usr/bin:/bin\nONE=1\n");
    end(&process);
}

// ---- Sandboxes ----

static igi_process run_shell_in(const char *readable, const char *writable, const char *command) {
    const char *const reads[] = {"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/null", readable, NULL};
    const char *const writes[] = {writable, NULL};
    const char *const arguments[] = {"sh", "-c", command, NULL};
    igi_sandbox sandbox = igi_sandbox_create(reads, writes);
    igi_process process = {.arguments = (char *const *)arguments, .timeout_ns = 20 * second, .sandbox = &sandbox};
    igi_process_run(&process);
    igi_sandbox_destroy(&sandbox);
    return process;
}

static bool has_landlock(void) {
    const char *const none[] = {NULL};
    igi_sandbox sandbox = igi_sandbox_create(none, none);
    bool there = sandbox.rules >= 0;
    igi_sandbox_destroy(&sandbox);
    return there;
}

static void a_sandbox_hides_files(void **state) {
    (void)state;
    if (!has_landlock()) skip();
    char *inside = igi_make_temp_dir(), *outside = igi_make_temp_dir();
    char *command = igi_format(
        "echo x > %s/made && cat %s/made; cat /etc/passwd || echo hidden; ls %s || echo hidden; "
        "echo x > %s/made || echo kept",
        inside, inside, outside, outside);
    igi_process process = run_shell_in(NULL, inside, command);
    assert_string_equal(process.output.data, "x\nhidden\nhidden\nkept\n");
    end(&process);
    free(command);
    command = igi_format("ls %s && echo seen; echo x > %s/made || echo kept", outside, outside);
    process = run_shell_in(outside, NULL, command);
    assert_string_equal(process.output.data, "seen\nkept\n");
    end(&process);
    igi_remove_tree(inside), igi_remove_tree(outside);
    free(inside), free(outside), free(command);
}

static void a_sandbox_has_no_network(void **state) {
    (void)state;
    if (is_emulated()) skip();
    static const char program[] =
        "/usr/bin/python3 -c 'import socket\n"
        "for kind in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):\n"
        "    try: socket.socket(kind); print(\"open\")\n"
        "    except PermissionError: print(\"none\")'";
    if (system("/usr/bin/python3 -c 'import socket' 2>/dev/null") != 0) skip();
    igi_process process = run_shell_in("/etc", NULL, program);
    assert_non_null(process.output.data);
    assert_string_equal(process.output.data, "none\nnone\nnone\n");
    end(&process);
}

static void the_memory_limit_is_kept(void **state) {
    (void)state;
    if (is_emulated()) skip();
    const char *const arguments[] = {"sh", "-c", "x=0123456789; while :; do x=$x$x$x$x; done", NULL};
    igi_process process = run_arguments(arguments, 60 * second, 200u << 20);
    assert_true(process.exit == IGI_EXIT_SIGNAL || (process.exit == IGI_EXIT_CODE && process.code != 0));
    end(&process);
}

static void the_child_reads_nothing_and_starts_clean(void **state) {
    (void)state;
    sigset_t blocked, kept;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &kept);
    igi_process process = run_shell("cat; kill -TERM $$; echo survived", 10 * second);
    sigprocmask(SIG_SETMASK, &kept, NULL);
    assert_int_equal(process.exit, IGI_EXIT_SIGNAL);
    assert_int_equal(process.code, SIGTERM);
    end(&process);
}

static int open_files(void) {
    int count = 0;
    for (int i = 0; i < 256; i++) count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static void no_file_stays_open(void **state) {
    (void)state;
    int before = open_files();
    for (int i = 0; i < 20; i++) {
        igi_process process = run_shell(i % 2 ? "exit 1" : "exec sleep 9", second / 50);
        end(&process);
    }
    const char *const missing[] = {"/nonexistent", NULL};
    igi_process process = run_arguments(missing, second, 0);
    end(&process);
    assert_int_equal(open_files(), before);
}

static void a_parent_without_standard_streams_can_have_children(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        close(0), close(1), close(2);
        igi_process process = run_shell("echo out; echo err >&2; cat", 10 * second);
        bool good = process.exit == IGI_EXIT_CODE && process.code == 0 && process.output.data &&
                    strcmp(process.output.data, "out\n") == 0 && process.errors.data &&
                    strcmp(process.errors.data, "err\n") == 0;
        end(&process);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void short_memory_for_the_output_is_noticed(void **state) {
    (void)state;
    igi_alloc_fail_at(1);
    igi_process process = run_shell("echo out", 10 * second);
    igi_alloc_fail_at(0);
    assert_int_equal(process.exit, IGI_EXIT_CODE);
    assert_true(process.output.failed);
    end(&process);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_streams_are_captured),
        cmocka_unit_test(a_silent_child_gives_empty_streams),
        cmocka_unit_test(floods_on_both_streams_do_not_block),
        cmocka_unit_test(exit_codes_are_passed_on),
        cmocka_unit_test(signals_are_told_from_exits),
        cmocka_unit_test(a_program_that_is_not_there_is_not_found),
        cmocka_unit_test(the_time_limit_is_kept),
        cmocka_unit_test(a_child_that_closes_its_streams_is_still_timed),
        cmocka_unit_test(grandchildren_end_with_the_child_at_the_limit),
        cmocka_unit_test(signals_to_the_parent_do_not_stretch_the_limit),
        cmocka_unit_test(the_memory_limit_is_kept),
        cmocka_unit_test(a_child_that_works_is_given_its_time),
        cmocka_unit_test(a_child_that_gets_no_core_is_not_idle),
        cmocka_unit_test(a_child_that_works_for_ever_is_stopped),
        cmocka_unit_test(a_child_that_never_stops_writing_is_stopped),
        cmocka_unit_test(files_of_the_host_stay_with_the_host),
        cmocka_unit_test(the_limit_on_open_files_is_kept),
        cmocka_unit_test(the_environment_is_the_one_given),
        cmocka_unit_test(a_sandbox_hides_files),
        cmocka_unit_test(a_sandbox_has_no_network),
        cmocka_unit_test(the_child_reads_nothing_and_starts_clean),
        cmocka_unit_test(no_file_stays_open),
        cmocka_unit_test(a_parent_without_standard_streams_can_have_children),
        cmocka_unit_test(short_memory_for_the_output_is_noticed),
    };
    return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
