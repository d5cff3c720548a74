// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: a runner in a child process, which is this program again, controlled over a socket.
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "console/output.h"
#include "core/descriptors.h"
#include "core/process.h"
#include "core/program.h"
#include "simt.h"

enum { CHILD_SOCKET = STDIN_FILENO, CHILD_EXCHANGE = 100 };
enum { PATIENCE_SECONDS = 120 };

typedef struct request {
    enum { PREPARE, RUN, READ, FINISH } what;
    uint32_t test;
} request;

typedef struct reply {
    bool ok;
    double seconds;
    char name[32], error[256];
} reply;

static bool send_all(int to, const void *message, size_t length) {
    return send(to, message, length, IGI_SEND_FLAGS) == (ssize_t)length;
}

// A message may arrive in parts.
static bool receive(int from, void *message, size_t length) {
    errno = 0;
    for (size_t have = 0; have < length;) {
        ssize_t got = recv(from, (char *)message + have, length - have, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        have += (size_t)got;
    }
    return true;
}

// ---- The parent's side ----

typedef struct remote_runner {
    simt_runner base;
    const simt_exchange *exchange;
    const simt_case *test;
    pid_t child;
    int socket;
} remote_runner;

static void describe_end(remote_runner *runner) {
    int status = 0;
    bool late = errno == EAGAIN;
    if (late && runner->child > 0) kill(runner->child, SIGKILL);
    if (runner->child <= 0 || waitpid(runner->child, &status, 0) < 0) return;
    runner->child = 0;
    if (late)
        simt_fail(&runner->base, "did not answer in %d s", PATIENCE_SECONDS);
    else if (WIFSIGNALED(status))
        simt_fail(&runner->base, "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        simt_fail(&runner->base, "ended with code %d", WEXITSTATUS(status));
}

static reply ask(remote_runner *runner, int what) {
    request question = {.what = what, .test = (uint32_t)(runner->test - simt_cases)};
    reply answer = {0};
    if (runner->child == 0) return answer;
    if (send_all(runner->socket, &question, sizeof question) && receive(runner->socket, &answer, sizeof answer)) {
        memcpy(runner->base.error, answer.error, sizeof answer.error);
        return answer;
    }
    describe_end(runner);
    return (reply){0};
}

static bool remote_prepare(simt_runner *base, const simt_case *test, void *const *inputs) {
    remote_runner *runner = (remote_runner *)base;
    runner->test = test;
    return ask(runner, PREPARE).ok;
}

static double remote_run(simt_runner *base) {
    reply answer = ask((remote_runner *)base, RUN);
    return answer.ok ? answer.seconds : -1;
}

static bool remote_read(simt_runner *base, void *result) {
    remote_runner *runner = (remote_runner *)base;
    if (!ask(runner, READ).ok) return false;
    const void *shared = simt_exchange_result(runner->exchange, runner->test);
    if (result != shared) memcpy(result, shared, runner->test->result_bytes);
    return true;
}

static void remote_finish(simt_runner *base) {
    ask((remote_runner *)base, FINISH);
}

static void remote_close(simt_runner *base) {
    remote_runner *runner = (remote_runner *)base;
    close(runner->socket);
    if (runner->child > 0) waitpid(runner->child, NULL, 0);
    free(runner);
}

// Output of the child, of which OpenCL compilers produce much, goes where our messages go.
static pid_t spawn(const char *peer, int socket, int exchange) {
    char *const arguments[] = {"ingot-bench", "--peer", (char *)peer, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    char self[PATH_MAX];
    if (!igi_program_self(self) || posix_spawn_file_actions_init(&actions) != 0) return 0;
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, CHILD_SOCKET);
    posix_spawn_file_actions_adddup2(&actions, exchange, CHILD_EXCHANGE);
    if (posix_spawn(&child, self, &actions, NULL, arguments, *igi_process_environment()) != 0) child = 0;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

simt_runner *simt_open_remote(const char *peer, const simt_exchange *exchange) {
    static const simt_runner_ops ops = {remote_prepare, remote_run, remote_read, remote_finish, remote_close};
    int sockets[2];
    if (!igi_socket_pair(sockets)) return NULL;
    remote_runner *runner = cli_alloc(sizeof *runner);
    *runner = (remote_runner){.base.ops = &ops, .exchange = exchange, .socket = sockets[0]};
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    runner->child = spawn(peer, sockets[1], exchange->file);
    close(sockets[1]);
    reply hello = {0};
    bool answered = runner->child && receive(runner->socket, &hello, sizeof hello);
    if (answered && hello.ok) {
        memcpy(runner->base.name, hello.name, sizeof hello.name);
        return &runner->base;
    }
    if (!answered) {
        describe_end(runner);
        cli_note("peer %s: %s", peer, runner->base.error[0] ? runner->base.error : "cannot be started");
    }
    remote_close(&runner->base);
    return NULL;
}

// ---- The child's side ----

static simt_runner *open_local(const char *peer) {
    if (strcmp(peer, "w1") == 0) {
        setenv("INGOT_SIMT_WIDTH", "1", 1);
        return simt_open_ingot("w1");
    }
    if (strcmp(peer, "openmp") == 0 || strcmp(peer, "stream") == 0) return simt_open_openmp(peer);
    if (strcmp(peer, "openblas") == 0) return simt_open_openblas();
    if (strncmp(peer, "opencl:", 7) == 0) return simt_open_opencl(peer + 7);
    if (strncmp(peer, "oclgrind:", 9) == 0) return simt_open_oclgrind(peer + 9);
    return NULL;
}

static reply serve_request(simt_runner *runner, const simt_exchange *exchange, const request *question) {
    const simt_case *test = &simt_cases[question->test];
    void *buffers[SIMT_MAX_BUFFERS];
    reply answer = {0};
    simt_exchange_buffers(exchange, test, buffers);
    runner->error[0] = 0;
    switch (question->what) {
        case PREPARE: answer.ok = runner->ops->prepare(runner, test, buffers); break;
        case RUN:
            answer.seconds = runner->ops->run(runner);
            answer.ok = answer.seconds >= 0;
            break;
        case READ: answer.ok = runner->ops->read(runner, simt_exchange_result(exchange, test)); break;
        case FINISH: runner->ops->finish(runner); break;
    }
    memcpy(answer.error, runner->error, sizeof answer.error);
    return answer;
}

int simt_serve(const char *peer) {
    simt_exchange exchange = {0};
    simt_runner *runner = open_local(peer);
    reply hello = {.ok = runner && !runner->error[0]};
    if (runner) memcpy(hello.name, runner->name, sizeof hello.name);
    if (!send_all(CHILD_SOCKET, &hello, sizeof hello) || !hello.ok) return CLI_OK;
    if (!simt_exchange_attach(&exchange, CHILD_EXCHANGE)) return CLI_FAILED;
    request question;
    while (receive(CHILD_SOCKET, &question, sizeof question) && question.test < simt_case_count) {
        reply answer = serve_request(runner, &exchange, &question);
        if (!send_all(CHILD_SOCKET, &answer, sizeof answer)) break;
    }
    // Some OpenCL runtimes crash while unloading; nothing is lost by skipping it.
    _exit(CLI_OK);
}
