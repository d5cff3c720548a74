// SPDX-License-Identifier: Apache-2.0
// fork, exec, poll: compilers run as child processes, so that a crash is only an error.
#include "core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<sys/syscall.h>)
#include <sys/syscall.h>
#endif
#if __has_include(<crt_externs.h>)
#include <crt_externs.h>
#else
extern char **environ;
#endif

#include "core/clock.h"
#include "core/descriptors.h"
#include "core/sandbox.h"

enum { EXEC_FAILED = 127 };
#ifdef SYS_close_range
enum { CLOSE_RANGE_CLOEXEC_FLAG = 4 };  // of <linux/close_range.h>
#endif
enum { MOST_DESCRIPTORS = 1 << 16 };

// Libraries of macOS cannot see `environ`.
char ***igi_process_environment(void) {
#if __has_include(<crt_externs.h>)
    return _NSGetEnviron();
#else
    return &environ;
#endif
}

// In a host without standard streams, pipes get their descriptors, which exec_program would overwrite.
static int above_standard(int file) {
    return file > STDERR_FILENO ? file : fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static void limit_to(int resource, uint64_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_max <= value) return;
    limit = (struct rlimit){value, value};
    setrlimit(resource, &limit);
}

// The parent watches the time more closely; this applies if the parent is gone.
static void keep_limits(const igi_process *process) {
    const igi_process_limits *limits = &process->limits;
    uint64_t seconds = process->timeout_ns / 1000000000 + 2;
    if (limits->memory_bytes) limit_to(RLIMIT_AS, limits->memory_bytes);
    if (limits->output_bytes) limit_to(RLIMIT_FSIZE, limits->output_bytes);
    if (limits->open_files) limit_to(RLIMIT_NOFILE, limits->open_files);
    limit_to(RLIMIT_CORE, 0);
    struct rlimit cpu = {seconds, seconds + 5};  // SIGXCPU comes first and tells the reason
    setrlimit(RLIMIT_CPU, &cpu);
}

// The child must not see files that the host did not mark close-on-exec.
static void close_the_rest(void) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC_FLAG) == 0) return;
#endif
    struct rlimit limit;
    bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MOST_DESCRIPTORS;
    int end = known ? (int)limit.rlim_cur : MOST_DESCRIPTORS;
    for (int file = STDERR_FILENO + 1; file < end; file++) fcntl(file, F_SETFD, FD_CLOEXEC);
}

// Between fork and exec only async-signal-safe calls are allowed.
static void exec_program(const igi_process *process, int output, int errors) {
    setpgid(0, 0);
    output = above_standard(output), errors = above_standard(errors);
    int null = open("/dev/null", O_RDONLY);
    if (null >= 0) dup2(null, 0);
    dup2(output, 1);
    dup2(errors, 2);
    close_the_rest();  // before the limit on open files, which bounds the search
    keep_limits(process);
    if (process->sandbox) igi_sandbox_enter(process->sandbox);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (process->environment) *igi_process_environment() = (char **)process->environment;
    execvp(process->arguments[0], process->arguments);
    _exit(EXEC_FAILED);
}

// ---- Reading ----

// Returns false once the stream has ended.
static bool drain(int stream, igi_text *text) {
    char bytes[65536];
    ssize_t got = read(stream, bytes, sizeof bytes);
    if (got > 0) igi_text_append(text, bytes, (size_t)got);
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

// ---- Time ----

// A child that used less CPU time than this in a period is considered idle.
enum { IDLE_NS = 200000, PERIOD_NS = 1000000000 };

typedef struct watch {
    pid_t child;
    uint64_t limit;     // of CPU time
    uint64_t deadline;  // by the clock; extended while the child works
    uint64_t used;      // CPU time at the last check
} watch;

// Of the child itself, not of its children. UINT64_MAX if it is not known.
static uint64_t cpu_time(pid_t child) {
#if _POSIX_CPUTIME >= 0
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &time) != 0) return UINT64_MAX;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
#else
    (void)child;
    return UINT64_MAX;
#endif
}

// Whether the child would go on if it were given a core. With little weight on a loaded machine that may take seconds.
// False if it is not known.
static bool is_ready(pid_t child) {
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (length <= 0) return false;
    text[length] = 0;
    const char *name_end = strrchr(text, ')');  // then a space and the state
    return name_end && (name_end[2] == 'R' || name_end[2] == 'D');
}

static watch start_watch(pid_t child, uint64_t timeout_ns) {
    return (watch){child, timeout_ns, igi_deadline_ns(timeout_ns), 0};
}

// Whether the child has used up its time. On a loaded machine that may be later than the clock says.
static bool is_over(watch *w) {
    uint64_t now = igi_now_ns();
    if (now < w->deadline) return false;
    uint64_t used = cpu_time(w->child), before = w->used;
    if (used == UINT64_MAX || used >= w->limit) return true;
    if (used < before + IDLE_NS && !is_ready(w->child)) return true;
    w->used = used;
    w->deadline = now + PERIOD_NS;
    return false;
}

static int milliseconds_left(const watch *w) {
    uint64_t now = igi_now_ns(), left = w->deadline > now ? (w->deadline - now) / 1000000 + 1 : 0;
    return left > 1000 ? 1000 : (int)left;
}

// ---- Following a child ----

static bool is_too_much(const igi_process *process) {
    uint64_t most = process->limits.output_bytes;
    return most && (process->output.length > most || process->errors.length > most);
}

// Returns false if a limit was exceeded first.
static bool collect(igi_process *process, int output, int errors, watch *w) {
    struct pollfd streams[2] = {{.fd = output, .events = POLLIN}, {.fd = errors, .events = POLLIN}};
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
        if (is_over(w) || is_too_much(process)) return false;
        poll(streams, 2, milliseconds_left(w));
        if (streams[0].revents && !drain(output, &process->output)) streams[0].fd = -1;
        if (streams[1].revents && !drain(errors, &process->errors)) streams[1].fd = -1;
    }
    return true;
}

// Returns false if the time limit was exceeded first. A child that has closed its streams is probably about to end, but
// may not be.
static bool ended(watch *w, int *status) {
    static const struct timespec pause = {.tv_nsec = 100000};
    for (;;) {
        pid_t found = waitpid(w->child, status, WNOHANG);
        if (found == w->child || (found < 0 && errno != EINTR)) return true;
        if (is_over(w)) return false;
        nanosleep(&pause, NULL);
    }
}

static void record_exit(igi_process *process, int status) {
    if (WIFSIGNALED(status)) {
        process->exit = WTERMSIG(status) == SIGXCPU ? IGI_EXIT_TIMEOUT : IGI_EXIT_SIGNAL;
        process->code = WTERMSIG(status);
    } else {
        process->code = WEXITSTATUS(status);
        process->exit = process->code == EXEC_FAILED ? IGI_EXIT_NOT_FOUND : IGI_EXIT_CODE;
    }
}

static void stop(igi_process *process, pid_t child) {
    // The whole group, because a compiler may be a script that started the real one.
    if (kill(-child, SIGKILL) != 0) kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    process->exit = is_too_much(process) ? IGI_EXIT_TOO_MUCH_OUTPUT : IGI_EXIT_TIMEOUT;
}

static void follow(igi_process *process, pid_t child, int output, int errors) {
    watch w = start_watch(child, process->timeout_ns);
    int status = 0;
    if (collect(process, output, errors, &w) && ended(&w, &status))
        record_exit(process, status);
    else
        stop(process, child);
}

void igi_process_run(igi_process *process) {
    int output[2], errors[2];
    process->exit = IGI_EXIT_SYSTEM;
    if (!igi_pipe(output)) return;
    if (!igi_pipe(errors)) {
        close(output[0]), close(output[1]);
        return;
    }
    pid_t child = fork();
    if (child == 0) exec_program(process, output[1], errors[1]);
    close(output[1]), close(errors[1]);
    if (child > 0) follow(process, child, output[0], errors[0]);
    close(output[0]), close(errors[0]);
}
