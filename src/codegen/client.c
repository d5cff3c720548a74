// SPDX-License-Identifier: Apache-2.0
// Starting ingot-codegen and asking it.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/channel.h"
#include "codegen/codegen.h"
#include "codegen/message.h"
#include "core/clock.h"

enum { DEFAULT_SECONDS = 60, SLOWEST_SHARE = 8, GRACE_SECONDS = 2 };
static const uint64_t memory_limit = 16ull << 30, most_reply_bytes = 1ull << 30, second_ns = 1000000000u;

struct igi_codegen {
    pthread_mutex_t lock;  // guards what follows
    int control;           // to the process; -1 when none runs
};

ig_status igi_codegen_create(igi_codegen **codegen) {
    igi_codegen *made = igi_calloc(1, sizeof *made);
    if (!made) return IG_STATUS_OUT_OF_MEMORY;
    pthread_mutex_init(&made->lock, NULL);
    made->control = -1;
    *codegen = made;
    return IG_STATUS_OK;
}

// The process ends when it finds its socket closed.
static void stop(igi_codegen *codegen) {
    if (codegen->control >= 0) close(codegen->control);
    codegen->control = -1;
}

void igi_codegen_destroy(igi_codegen *codegen) {
    if (!codegen) return;
    stop(codegen);
    pthread_mutex_destroy(&codegen->lock);
    free(codegen);
}

// ---- Starting ----

// Descriptors of the host that are not close-on-exec would otherwise stay open as long as the process lives.
static void close_from(int first) {
#ifdef CLOSE_RANGE_CLOEXEC
    if (close_range((unsigned)first, ~0u, 0) == 0) return;
#endif
    struct rlimit limit;
    int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int descriptor = first; descriptor < end; descriptor++) close(descriptor);
}

// Between fork and exec only async-signal-safe calls are allowed.
static void become(const char *path, int control) {
    int null = open("/dev/null", O_RDWR);
    int kept = fcntl(control, F_DUPFD, IGI_CODEGEN_CONTROL + 1);
    if (null < 0 || kept < 0) _exit(1);
    for (int standard = 0; standard < 3; standard++) dup2(null, standard);
    dup2(kept, IGI_CODEGEN_CONTROL);
    close_from(IGI_CODEGEN_CONTROL + 1);
    setsid();  // no signal of the host's terminal is meant for it
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    char *arguments[] = {(char *)path, NULL};
    execv(path, arguments);
    _exit(1);
}

// A grandchild, so that the host has no child it never started to wait for.
static bool spawn(const char *path, int control) {
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) become(path, control);
        _exit(grandchild < 0);
    }
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return errno == ECHILD;  // the host ignores SIGCHLD, or waits for all children itself
    return child > 0 && status == 0;
}

// With the lock held.
static ig_status start(igi_codegen *codegen, ig_error *error) {
    int ends[2];
    char path[PATH_MAX];
    if (!igi_codegen_find(path))
        return igi_error_set(error, IG_STATUS_COMPILER_MISSING,
                             "ingot-codegen was not found; it is installed with Ingot, and INGOT_CODEGEN may name it");
    bool made = igi_channel_pair(ends), started = made && spawn(path, ends[1]);
    if (made) close(ends[1]);
    if (started)
        codegen->control = ends[0];
    else if (made)
        close(ends[0]);
    if (!started) igi_error_set(error, IG_STATUS_SYSTEM, "cannot start %s: %s", path, strerror(errno));
    return started ? IG_STATUS_OK : IG_STATUS_SYSTEM;
}

void igi_codegen_start(igi_codegen *codegen) {
    pthread_mutex_lock(&codegen->lock);
    if (codegen->control < 0) start(codegen, NULL);
    pthread_mutex_unlock(&codegen->lock);
}

// ---- Asking ----

// A process that somebody has killed is started again, once.
static ig_status hand_over(igi_codegen *codegen, int descriptor, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    pthread_mutex_lock(&codegen->lock);
    bool sent = codegen->control >= 0 && igi_channel_send_descriptor(codegen->control, descriptor);
    if (!sent) {
        stop(codegen);
        status = start(codegen, error);
        if (status == IG_STATUS_OK && !igi_channel_send_descriptor(codegen->control, descriptor))
            status = igi_error_set(error, IG_STATUS_SYSTEM, "ingot-codegen ended as soon as it was started");
    }
    pthread_mutex_unlock(&codegen->lock);
    return status;
}

// A socket on which this request, and nothing else, is answered.
static ig_status open_channel(igi_codegen *codegen, int *channel, ig_error *error) {
    int ends[2];
    if (!igi_channel_pair(ends))
        return igi_error_set(error, IG_STATUS_SYSTEM, "cannot make a socket for ingot-codegen: %s", strerror(errno));
    ig_status status = hand_over(codegen, ends[1], error);
    close(ends[1]);
    if (status == IG_STATUS_OK)
        *channel = ends[0];
    else
        close(ends[0]);
    return status;
}

static ig_status took_too_long(const igi_simt_request *request, uint64_t seconds, ig_error *error) {
    return igi_error_set(error, IG_STATUS_COMPILER_TIMEOUT, IGI_CODEGEN_TOO_LONG, request->name,
                         (unsigned long long)seconds);
}

// An answer without bytes: the process went away without a word.
static ig_status exchange(igi_codegen *codegen, const igi_simt_request *request, const igi_text *question,
                          igi_codegen_limits limits, igi_text *answer, ig_error *error) {
    int channel = -1;
    ig_status status = open_channel(codegen, &channel, error);
    if (status != IG_STATUS_OK) return status;
    // The process ends itself in time; this is for one that cannot.
    uint64_t deadline = igi_deadline_ns((limits.wall_seconds + GRACE_SECONDS) * second_ns);
    bool sent = igi_channel_write(channel, question->data, question->length, deadline);
    if (sent) shutdown(channel, SHUT_WR);
    // What it said before it hung up, if anything, tells why it did.
    bool received = igi_channel_read(channel, most_reply_bytes, deadline, answer);
    close(channel);
    if (answer->failed) return igi_error_no_memory(error);
    if (received) return IG_STATUS_OK;
    return igi_now_ns() >= deadline
               ? took_too_long(request, limits.wall_seconds, error)
               : igi_error_set(error, IG_STATUS_BAD_FORMAT, "the answer of ingot-codegen is damaged");
}

static igi_codegen_limits limits_for(uint64_t timeout_ns) {
    uint64_t seconds = timeout_ns ? timeout_ns / second_ns + (timeout_ns % second_ns != 0) : DEFAULT_SECONDS;
    uint64_t longest = UINT64_MAX / second_ns / SLOWEST_SHARE - GRACE_SECONDS;
    if (seconds > longest) seconds = longest;
    // On a busy machine a second of processor time takes longer than a second.
    return (igi_codegen_limits){seconds, seconds * SLOWEST_SHARE, memory_limit};
}

static ig_status ask(igi_codegen *codegen, const igi_simt_request *request, const igi_text *question,
                     igi_codegen_limits limits, igi_text *answer, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    // Twice, for a process that was killed while the request was on its way.
    for (int attempt = 0; attempt < 2 && status == IG_STATUS_OK && !answer->length; attempt++)
        status = exchange(codegen, request, question, limits, answer, error);
    if (status != IG_STATUS_OK || answer->length) return status;
    return igi_error_set(error, IG_STATUS_COMPILER_CRASHED,
                         "compiling kernel '%s' ended without an answer: ingot-codegen was killed", request->name);
}

// INGOT_CODEGEN=in-process: for debugging the compiler. A kernel that crashes it crashes the host.
static bool is_wanted_here(void) {
    const char *named = getenv("INGOT_CODEGEN");
    return named && strcmp(named, "in-process") == 0;
}

ig_status igi_codegen_compile(igi_codegen *codegen, const igi_simt_request *request, igi_simt_stage stage,
                              uint64_t timeout_ns, char **output, size_t *length, ig_error *error) {
    if (is_wanted_here()) return igi_simt_compile(request, stage, output, length, error);
    igi_text question = {0}, answer = {0};
    igi_codegen_limits limits = limits_for(timeout_ns);
    igi_codegen_write_job(request, stage, limits, &question);
    ig_status status =
        question.failed ? igi_error_no_memory(error) : ask(codegen, request, &question, limits, &answer, error);
    if (status == IG_STATUS_OK)
        status = igi_codegen_read_reply(answer.data, answer.length, request->remarks, output, length, error);
    igi_text_free(&question), igi_text_free(&answer);
    return status;
}
