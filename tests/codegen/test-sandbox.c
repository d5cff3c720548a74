// SPDX-License-Identifier: Apache-2.0
// A process that compiles a kernel: however it ends, the caller is told why, and it can reach nothing else.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <llvm-c/Core.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "../emulated.h"
#include "codegen/channel.h"
#include "codegen/sandbox.h"
#include "core/clock.h"
#include "core/descriptors.h"

static const igi_codegen_limits plenty = {60, 60, 0};

// Runs `deed` in a sandbox and returns the reply. The message is the caller's.
static ig_status answer_to(void (*deed)(void), igi_codegen_limits limits, char **message) {
    int ends[2];
    assert_true(igi_socket_pair(ends));
    pid_t child = fork();
    if (child == 0) {
        igi_codegen_sandbox_enter(ends[1]);
        igi_codegen_sandbox_begin("k", &limits);
        deed();
        _exit(9);
    }
    close(ends[1]);
    igi_text bytes = {0};
    assert_int_equal(igi_codegen_channel_read(ends[0], 1 << 20, igi_deadline_ns(60000000000u), &bytes),
                     IGI_CHANNEL_MESSAGE);
    close(ends[0]);
    waitpid(child, NULL, 0);
    ig_error error = {0};
    ig_status status = igi_codegen_read_reply(bytes.data, bytes.length, NULL, NULL, NULL, &error);
    igi_text_free(&bytes);
    *message = error.message;
    return status;
}

static void expect(void (*deed)(void), igi_codegen_limits limits, ig_status status, const char *part) {
    char *message = NULL;
    assert_string_equal(ig_status_name(answer_to(deed, limits, &message)), ig_status_name(status));
    assert_non_null(strstr(message, part));
    free(message);
}

static void crash(void) {
    raise(SIGSEGV);
}
static void trap(void) {
    raise(SIGTRAP);
}
static void loop(void) {
    for (volatile bool on = true; on;) continue;
}
static void sleep_long(void) {
    sleep(100);
}

static int fill_stack(int depth) {
    volatile char block[1 << 16];
    block[0] = (char)depth;
    return depth == INT_MAX ? 0 : fill_stack(depth + 1) + block[0];
}
static void overflow_stack(void) {
    fill_stack(0);
}

// Three seconds of work under a limit of one: what was used before does not count.
static void work_often(void) {
    igi_codegen_limits limits = {1, 60, 0};
    for (int i = 0; i < 4; i++) {
        igi_codegen_sandbox_begin("k", &limits);
        for (clock_t end = clock() + CLOCKS_PER_SEC * 3 / 4; clock() < end;) continue;
        igi_codegen_sandbox_end();
    }
    raise(SIGTRAP);
}

static void time_counts_from_the_beginning_of_each_kernel(void **state) {
    (void)state;
    expect(work_often, plenty, IG_STATUS_COMPILER_CRASHED, "signal 5");
}

static void a_crash_is_told(void **state) {
    (void)state;
    expect(crash, plenty, IG_STATUS_COMPILER_CRASHED, "kernel 'k'");
    expect(trap, plenty, IG_STATUS_COMPILER_CRASHED, "kernel 'k'");
    expect(overflow_stack, plenty, IG_STATUS_COMPILER_CRASHED, "kernel 'k'");
}

static void too_much_time_is_told(void **state) {
    (void)state;
    expect(loop, (igi_codegen_limits){1, 60, 0}, IG_STATUS_COMPILER_TIMEOUT, "kernel 'k'");
    expect(sleep_long, (igi_codegen_limits){60, 1, 0}, IG_STATUS_COMPILER_TIMEOUT, "kernel 'k'");
}

// Only the reply may get out: 9 means that everything was refused.
static void reach_out(void) {
    bool refused = open("/etc/passwd", O_RDONLY) < 0 && open("/dev/null", O_RDWR) < 0 &&
                   socket(AF_UNIX, SOCK_STREAM, 0) < 0 && dup(0) < 0;
#if __has_include(<linux/seccomp.h>)
    refused = refused && execl("/bin/true", "true", (char *)NULL) < 0 && errno == EPERM && kill(getppid(), 0) < 0;
#endif
    if (!refused) raise(SIGSEGV);
    raise(SIGXCPU);
}

static void nothing_can_be_opened(void **state) {
    (void)state;
    if (is_emulated()) skip();
    expect(reach_out, plenty, IG_STATUS_COMPILER_TIMEOUT, "kernel 'k'");
}

static void use_all_memory(void) {
    while (malloc(64 << 20)) continue;
    abort();
}

static void too_much_memory_is_told(void **state) {
    (void)state;
    if (is_emulated()) skip();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    skip();
#endif
#endif
    expect(use_all_memory, (igi_codegen_limits){60, 60, 1ull << 30}, IG_STATUS_OUT_OF_MEMORY, "memory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_is_told),
        cmocka_unit_test(too_much_time_is_told),
        cmocka_unit_test(time_counts_from_the_beginning_of_each_kernel),
        cmocka_unit_test(nothing_can_be_opened),
        cmocka_unit_test(too_much_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
