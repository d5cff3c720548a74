// SPDX-License-Identifier: Apache-2.0
// fork, exec, poll: compilers run as children so that their crash is our error, not our crash.
#include "core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"

extern char **environ;

enum { EXEC_FAILED = 127 };

// A host without standard streams gets its pipes in their places, where the moves of become would lose them.
static int above_standard(int file) {
    return file > STDERR_FILENO ? file : fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

// Between fork and exec only async-signal-safe calls are allowed.
static void become(const igi_process *process, int output, int errors) {
    setpgid(0, 0);
    output = above_standard(output), errors = above_standard(errors);
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(output, 1);
    dup2(errors, 2);
    if (process->memory_limit) {
        struct rlimit limit = {process->memory_limit, process->memory_limit};
        setrlimit(RLIMIT_AS, &limit);
    }
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (process->environment) environ = (char **)process->environment;
    execvp(process->arguments[0], process->arguments);
    _exit(EXEC_FAILED);
}

// False once the stream has ended.
static bool drain(int stream, igi_text *text) {
    char bytes[65536];
    ssize_t got = read(stream, bytes, sizeof bytes);
    if (got > 0) igi_text_append(text, bytes, (size_t)got);
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

// False when the deadline passed first.
static bool collect(igi_process *process, int output, int errors, uint64_t deadline) {
    struct pollfd streams[2] = {{.fd = output, .events = POLLIN}, {.fd = errors, .events = POLLIN}};
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
        uint64_t now = igi_now_ns();
        if (now >= deadline) return false;
        uint64_t left_ms = (deadline - now) / 1000000 + 1;
        poll(streams, 2, left_ms > 1000 ? 1000 : (int)left_ms);
        if (streams[0].revents && !drain(output, &process->output)) streams[0].fd = -1;
        if (streams[1].revents && !drain(errors, &process->errors)) streams[1].fd = -1;
    }
    return true;
}

// False when the deadline passed first. A child that has closed its streams is about to end, but need not.
static bool ended(pid_t child, uint64_t deadline, int *status) {
    static const struct timespec pause = {.tv_nsec = 100000};
    for (;;) {
        pid_t found = waitpid(child, status, WNOHANG);
        if (found == child || (found < 0 && errno != EINTR)) return true;
        if (igi_now_ns() >= deadline) return false;
        nanosleep(&pause, NULL);
    }
}

static void judge(igi_process *process, int status) {
    if (WIFSIGNALED(status)) {
        process->exit = IGI_EXIT_SIGNAL;
        process->code = WTERMSIG(status);
    } else {
        process->code = WEXITSTATUS(status);
        process->exit = process->code == EXEC_FAILED ? IGI_EXIT_NOT_FOUND : IGI_EXIT_CODE;
    }
}

static void stop(igi_process *process, pid_t child) {
    // Its group: a compiler may be a script that started the real one.
    if (kill(-child, SIGKILL) != 0) kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    process->exit = IGI_EXIT_TIMEOUT;
}

static void follow(igi_process *process, pid_t child, int output, int errors) {
    uint64_t deadline = igi_deadline_ns(process->timeout_ns);
    int status = 0;
    if (collect(process, output, errors, deadline) && ended(child, deadline, &status))
        judge(process, status);
    else
        stop(process, child);
}

static bool make_pipe(int ends[2]) {
#ifdef __APPLE__
    if (pipe(ends) != 0) return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
#else
    return pipe2(ends, O_CLOEXEC) == 0;
#endif
}

void igi_process_run(igi_process *process) {
    int output[2], errors[2];
    process->exit = IGI_EXIT_SYSTEM;
    if (!make_pipe(output)) return;
    if (!make_pipe(errors)) {
        close(output[0]), close(output[1]);
        return;
    }
    pid_t child = fork();
    if (child == 0) become(process, output[1], errors[1]);
    close(output[1]), close(errors[1]);
    if (child > 0) follow(process, child, output[0], errors[0]);
    close(output[0]), close(errors[0]);
}
