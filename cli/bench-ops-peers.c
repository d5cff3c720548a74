// SPDX-License-Identifier: Apache-2.0
// ingot bench ops: peers in child processes: STREAM, as in the suite simt; NumPy and PyTorch, each in a python3 of its
// own.
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench-ops.h"
#include "bench-simt.h"
#include "output.h"

// ---- STREAM ----

typedef struct stream_runner {
    ops_runner base;
    simt_exchange exchange;
    simt_runner *triad;
} stream_runner;

static const simt_case *a_streaming_case(void) {
    for (size_t i = 0; i < simt_case_count; i++)
        if (simt_cases[i].streams) return &simt_cases[i];
    return NULL;
}

static bool begin_stream(ops_runner *base, const ops_case *test, double *check) {
    stream_runner *runner = (stream_runner *)base;
    *check = NAN;
    if (test->group != OPS_LARGE && test->group != OPS_ROWS) return false;
    return runner->triad->ops->prepare(runner->triad, a_streaming_case(), NULL);
}

// As long as a case that moves as many bytes as the triad would take, so that figures compare.
static double run_stream(ops_runner *base, const ops_case *test, uint64_t calls, uint64_t batches) {
    stream_runner *runner = (stream_runner *)base;
    double seconds[OPS_MAX_BATCHES], moved = 3e-9 * sizeof(double) * SIMT_STREAM;
    uint64_t runs = calls * batches < OPS_MAX_BATCHES ? calls * batches : OPS_MAX_BATCHES;
    for (uint64_t i = 0; i < runs; i++) {
        seconds[i] = runner->triad->ops->run(runner->triad);
        if (seconds[i] < 0) return -1;
    }
    return ops_case_figure(test, 1) / (moved / ops_median(seconds, runs));
}

static void finish_stream(ops_runner *base) {
    stream_runner *runner = (stream_runner *)base;
    runner->triad->ops->finish(runner->triad);
}

static void close_stream(ops_runner *base) {
    stream_runner *runner = (stream_runner *)base;
    runner->triad->ops->close(runner->triad);
    simt_exchange_free(&runner->exchange);
    free(runner);
}

ops_runner *ops_open_stream(void) {
    stream_runner *runner = cli_alloc(sizeof *runner);
    *runner = (stream_runner){.base = {.name = "stream",
                                       .spins = true,
                                       .begin = begin_stream,
                                       .run = run_stream,
                                       .finish = finish_stream,
                                       .close = close_stream}};
    bool ready = a_streaming_case() && simt_exchange_create(&runner->exchange);
    if (ready) runner->triad = simt_open_remote("stream", &runner->exchange);
    if (runner->triad) return &runner->base;
    if (ready) simt_exchange_free(&runner->exchange);
    free(runner);
    return NULL;
}

// ---- Python ----

enum { PATIENCE_SECONDS = 120 };

typedef struct python_runner {
    ops_runner base;
    pid_t child;
    int socket;
    FILE *answers;
} python_runner;

static pid_t spawn(int socket, uint32_t threads, const char *library) {
    extern char **environ;
    const char *named = getenv("INGOT_PYTHON"), *python = named && *named ? named : "python3";
    char count[16];
    snprintf(count, sizeof count, "%u", threads);
    char *const arguments[] = {(char *)python,  "-c", (char *)bench_source("ops-peers.py"), count,
                               (char *)library, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    if (posix_spawn_file_actions_init(&actions) != 0) return 0;
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);  // warnings at import
    if (posix_spawnp(&child, python, &actions, NULL, arguments, environ) != 0) child = 0;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

static bool next_answer(python_runner *runner, char *line, size_t size) {
    if (fgets(line, (int)size, runner->answers)) return true;
    kill(runner->child, SIGKILL);  // it is late, or gone
    return false;
}

// One line there, one number back; negative when it has no such thing. Its threads would go on spinning for longer than
// anybody wants to wait, so it is stopped as soon as it has answered.
static double ask(python_runner *runner, const char *what, const ops_case *test, uint64_t calls, uint64_t batches) {
    char line[160];
    int length =
        snprintf(line, sizeof line, "%s %s %llu %llu %llu %llu\n", what, test->op, (unsigned long long)test->rows,
                 (unsigned long long)test->columns, (unsigned long long)calls, (unsigned long long)batches);
    if (send(runner->socket, line, (size_t)length, MSG_NOSIGNAL) != length) return -1;
    kill(runner->child, SIGCONT);
    bool answered = next_answer(runner, line, sizeof line);
    if (answered) kill(runner->child, SIGSTOP);
    return answered ? strtod(line, NULL) : -1;
}

static bool begin_python(ops_runner *base, const ops_case *test, double *check) {
    *check = ask((python_runner *)base, "check", test, 1, 1);
    return isnan(*check) || *check >= 0;
}

static double run_python(ops_runner *base, const ops_case *test, uint64_t calls, uint64_t batches) {
    return ask((python_runner *)base, "time", test, calls, batches);
}

static void finish_python(ops_runner *base) {}

static void close_python(ops_runner *base) {
    python_runner *runner = (python_runner *)base;
    if (runner->answers) fclose(runner->answers);
    if (runner->child > 0) kill(runner->child, SIGCONT);
    if (runner->child > 0) waitpid(runner->child, NULL, 0);
    free(runner);
}

static python_runner *start_python(uint32_t threads, const char *library) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return NULL;
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    python_runner *runner = cli_alloc(sizeof *runner);
    *runner = (python_runner){
        .base = {.begin = begin_python, .run = run_python, .finish = finish_python, .close = close_python},
        .child = spawn(sockets[1], threads, library),
        .socket = sockets[0],
        .answers = fdopen(sockets[0], "r")};
    snprintf(runner->base.name, sizeof runner->base.name, "%s", library);
    close(sockets[1]);
    return runner;
}

ops_runner *ops_open_python(uint32_t threads, const char *library) {
    char line[160];
    python_runner *runner = start_python(threads, library);
    if (!runner) return NULL;
    if (runner->child > 0 && runner->answers && next_answer(runner, line, sizeof line)) {
        kill(runner->child, SIGSTOP);
        return &runner->base;
    }
    close_python(&runner->base);
    return NULL;
}
