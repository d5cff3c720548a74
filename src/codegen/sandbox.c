// SPDX-License-Identifier: Apache-2.0
// Limits, and the reply of a process that is ended by one.
#include "codegen/sandbox.h"

#include <assert.h>
#include <errno.h>
#include <llvm-c/ErrorHandling.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#if __has_include(<sys/prctl.h>)
#include <sys/prctl.h>
#endif

#include "codegen/channel.h"
#include "core/host.h"
#include "core/sandbox.h"

enum { BLOATED_BYTES = 512 << 20 };

static int answer_to = -1;
static const char *kernel_name = "";
static uint64_t seconds_allowed;

// ---- Last words ----

// For functions that end the process: the address sanitizer would open a file to find the stack.
#ifdef __GNUC__
#define LAST_WORDS __attribute__((no_sanitize_address, no_sanitize_thread))
#else
#define LAST_WORDS
#endif

static size_t put_bytes(char *target, size_t at, const void *bytes, size_t length) {
    memcpy(target + at, bytes, length);
    return at + length;
}

// A reply without output, in the format of igi_codegen_write_reply, but without allocating: nothing else is safe where
// this is called.
LAST_WORDS static _Noreturn void end_with(ig_status status, const char *message) {
    static char reply[4096];
    uint32_t number = status, length = (uint32_t)strnlen(message, sizeof reply - 4 * sizeof number), none = 0;
    size_t at = put_bytes(reply, 0, &number, sizeof number);
    at = put_bytes(reply, at, &length, sizeof length);
    at = put_bytes(reply, at, message, length);
    at = put_bytes(reply, at, &none, sizeof none);  // output
    at = put_bytes(reply, at, &none, sizeof none);  // remarks
    igi_codegen_channel_write(answer_to, reply, at, UINT64_MAX);
    _exit(1);
}

// LLVM aborts when an allocation fails; a large allocation shows whether that was the reason.
static bool is_memory_short(void) {
    size_t much = (size_t)256 << 20;
    void *memory = mmap(NULL, much, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return true;
    munmap(memory, much);
    return false;
}

LAST_WORDS static void ran_out_of_time(int number) {
    (void)number;
    char message[512];
    snprintf(message, sizeof message, IGI_CODEGEN_TOO_LONG, kernel_name, (unsigned long long)seconds_allowed);
    end_with(IG_STATUS_COMPILER_TIMEOUT, message);
}

LAST_WORDS static void crashed(int number) {
    char message[512];
    if (is_memory_short()) {
        snprintf(message, sizeof message, "compiling kernel '%.200s' needs more memory than it may use; simplify it",
                 kernel_name);
        end_with(IG_STATUS_OUT_OF_MEMORY, message);
    }
    snprintf(message, sizeof message, "LLVM crashed (signal %d) while it compiled kernel '%.200s'; try to simplify it",
             number, kernel_name);
    end_with(IG_STATUS_COMPILER_CRASHED, message);
}

LAST_WORDS static void gave_up(const char *reason) {
    static char message[2048];
    if (is_memory_short()) crashed(SIGABRT);
    snprintf(message, sizeof message, "LLVM cannot compile kernel '%.200s': %.1500s", kernel_name, reason);
    end_with(IG_STATUS_COMPILER_CRASHED, message);
}

static void handle_signals(void) {
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    static char stack[64 << 10];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) sigaction(fatal[i], &action, NULL);
    action.sa_handler = ran_out_of_time;
    sigaction(SIGXCPU, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    LLVMInstallFatalErrorHandler(gave_up);
}

// ---- Limits ----

#if defined(__has_feature)
#define BUILT_WITH(feature) __has_feature(feature)
#else
#define BUILT_WITH(feature) 0
#endif
#if BUILT_WITH(address_sanitizer) || BUILT_WITH(thread_sanitizer) || defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };  // reserves terabytes of address space
#else
enum { SANITIZED = 0 };
#endif

static void limit(int resource, uint64_t most) {
    struct rlimit now;
    if (getrlimit(resource, &now) != 0) return;
    now.rlim_cur = most < now.rlim_max ? most : now.rlim_max;
    setrlimit(resource, &now);
}

// Rounded up, so that no kernel gets less time than its limit.
static uint64_t seconds_used(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    struct timeval total;
    timeradd(&usage.ru_utime, &usage.ru_stime, &total);
    return (uint64_t)total.tv_sec + 1;
}

static void set_alarm(uint64_t seconds) {
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void igi_codegen_sandbox_begin(const char *kernel, const igi_codegen_limits *limits) {
    kernel_name = kernel;
    seconds_allowed = limits->cpu_seconds;
    limit(RLIMIT_CPU, seconds_used() + limits->cpu_seconds);
    if (limits->memory_bytes && !SANITIZED) limit(RLIMIT_AS, limits->memory_bytes);
    set_alarm(limits->wall_seconds);
}

void igi_codegen_sandbox_end(void) {
    set_alarm(0);
}

bool igi_codegen_sandbox_is_bloated(void) {
    return igi_host_peak_bytes() > BLOATED_BYTES;
}

void igi_codegen_sandbox_enter(int channel) {
    assert(answer_to < 0);
    answer_to = channel;
    handle_signals();
    igi_sandbox_seal();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NOFILE, 1);  // open descriptors stay usable; no new ones, and poll needs one
#ifdef PR_SET_PDEATHSIG
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}
