// SPDX-License-Identifier: Apache-2.0
// Peers in Python, each in a child process that answers lines with numbers.
#include "bench/common/python.h"

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/common/sources.h"
#include "console/output.h"
#include "core/descriptors.h"
#include "core/process.h"

enum { PATIENCE_SECONDS = 120, MOST_ARGUMENTS = 4 };

struct bench_python {
    pid_t child;
    int socket;
    FILE *answers;
};

static pid_t spawn(int socket, const char *script, const char *const *arguments) {
    const char *named = getenv("INGOT_PYTHON"), *python = named && *named ? named : "python3";
    char *all[4 + MOST_ARGUMENTS] = {(char *)python, "-c", (char *)bench_source(script)};
    for (size_t i = 0; i < MOST_ARGUMENTS && arguments[i]; i++) all[3 + i] = (char *)arguments[i];
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    if (posix_spawn_file_actions_init(&actions) != 0) return 0;
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);  // warnings at import
    if (posix_spawnp(&child, python, &actions, NULL, all, *igi_process_environment()) != 0) child = 0;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

static bool next_answer(bench_python *python, char *line, size_t size) {
    if (fgets(line, (int)size, python->answers)) return true;
    kill(python->child, SIGKILL);  // it is late, or gone
    return false;
}

bench_python *bench_python_start(const char *script, const char *const *arguments) {
    int sockets[2];
    char line[160];
    if (!igi_socket_pair(sockets)) return NULL;
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    bench_python *python = cli_alloc(sizeof *python);
    *python = (bench_python){
        .child = spawn(sockets[1], script, arguments), .socket = sockets[0], .answers = fdopen(sockets[0], "r")};
    close(sockets[1]);
    if (python->child > 0 && python->answers && next_answer(python, line, sizeof line)) {
        kill(python->child, SIGSTOP);
        return python;
    }
    bench_python_end(python);
    return NULL;
}

double bench_python_ask(bench_python *python, const char *line) {
    char answer[160];
    size_t length = strlen(line);
    if (send(python->socket, line, length, IGI_SEND_FLAGS) != (ssize_t)length) return -1;
    kill(python->child, SIGCONT);
    bool answered = next_answer(python, answer, sizeof answer);
    if (answered) kill(python->child, SIGSTOP);
    return answered ? strtod(answer, NULL) : -1;
}

void bench_python_end(bench_python *python) {
    if (!python) return;
    if (python->answers) fclose(python->answers);
    if (python->child > 0) kill(python->child, SIGCONT);
    if (python->child > 0) waitpid(python->child, NULL, 0);
    free(python);
}
