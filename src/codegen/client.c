// SPDX-License-Identifier: Apache-2.0
// Starts ingot-codegen and sends it requests.
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
#include "codegen/work.h"
#include "core/clock.h"
#include "core/descriptors.h"
#include "core/settings.h"
#include "simt/target.h"

enum { DEFAULT_SECONDS = 60, SLOWEST_SHARE = 8, GRACE_SECONDS = 2 };
static const uint64_t memory_limit = 16ull << 30, most_reply_bytes = 1ull << 30, second_ns = 1000000000u;

// Idle workers that are kept: more than this are rarely needed at once.
enum { MOST_IDLE = 16 };

struct igi_codegen {
    pthread_mutex_t lock;  // guards what follows
    int control;           // to ingot-codegen; -1 when it does not run
    int idle[MOST_IDLE];   // channels of workers without work
    size_t idle_count;
    struct conversation *busy;  // with workers that work
    bool cancelled;
};

// On the stack of the thread that waits for the answer.
typedef struct conversation {
    int channel;
    struct conversation *next;
} conversation;

ig_status igi_codegen_create(igi_codegen **codegen) {
    igi_codegen *made = igi_calloc(1, sizeof *made);
    if (!made) return IG_STATUS_OUT_OF_MEMORY;
    pthread_mutex_init(&made->lock, NULL);
    made->control = -1;
    *codegen = made;
    return IG_STATUS_OK;
}

// The processes end when they find their sockets closed.
static void stop(igi_codegen *codegen) {
    if (codegen->control >= 0) close(codegen->control);
    codegen->control = -1;
    while (codegen->idle_count) close(codegen->idle[--codegen->idle_count]);
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
static void exec_codegen(const char *path, igi_simt_target target, int control) {
    int null = open("/dev/null", O_RDWR);
    int kept = fcntl(control, F_DUPFD, IGI_CODEGEN_CONTROL + 1);
    if (null < 0 || kept < 0) _exit(1);
    for (int standard = 0; standard < 3; standard++) dup2(null, standard);
    dup2(kept, IGI_CODEGEN_CONTROL);
    close_from(IGI_CODEGEN_CONTROL + 1);
    setsid();  // signals of the host's terminal are not for it
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    char *arguments[] = {(char *)path, (char *)target.triple, (char *)target.cpu, (char *)target.features, NULL};
    execv(path, arguments);
    _exit(1);
}

// A grandchild, so that the host does not get a child to wait for that it never started.
static bool spawn(const char *path, int control) {
    igi_simt_target target = igi_simt_chosen_target();
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) exec_codegen(path, target, control);
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
    bool made = igi_socket_pair(ends), started = made && spawn(path, ends[1]);
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

// ---- Workers ----

// An ingot-codegen that was killed is started again, once.
static ig_status connect_worker(igi_codegen *codegen, int descriptor, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    pthread_mutex_lock(&codegen->lock);
    bool sent = codegen->control >= 0 && igi_codegen_channel_send_descriptor(codegen->control, descriptor);
    if (!sent) {
        stop(codegen);
        status = start(codegen, error);
        if (status == IG_STATUS_OK && !igi_codegen_channel_send_descriptor(codegen->control, descriptor))
            status = igi_error_set(error, IG_STATUS_COMPILER_CRASHED, "ingot-codegen ended as soon as it was started");
    }
    pthread_mutex_unlock(&codegen->lock);
    return status;
}

static ig_status open_worker(igi_codegen *codegen, int *channel, ig_error *error) {
    int ends[2];
    if (!igi_socket_pair(ends))
        return igi_error_set(error, IG_STATUS_SYSTEM, "cannot make a socket for ingot-codegen: %s", strerror(errno));
    ig_status status = connect_worker(codegen, ends[1], error);
    close(ends[1]);
    if (status == IG_STATUS_OK)
        *channel = ends[0];
    else
        close(ends[0]);
    return status;
}

// -1 if all are busy.
static int take_idle(igi_codegen *codegen) {
    pthread_mutex_lock(&codegen->lock);
    int channel = codegen->idle_count ? codegen->idle[--codegen->idle_count] : -1;
    pthread_mutex_unlock(&codegen->lock);
    return channel;
}

static void give_back(igi_codegen *codegen, int channel) {
    pthread_mutex_lock(&codegen->lock);
    bool kept = codegen->control >= 0 && codegen->idle_count < MOST_IDLE;
    if (kept) codegen->idle[codegen->idle_count++] = channel;
    pthread_mutex_unlock(&codegen->lock);
    if (!kept) close(channel);
}

// ---- Asking ----

static ig_status took_too_long(const igi_simt_request *request, uint64_t seconds, ig_error *error) {
    return igi_error_set(error, IG_STATUS_COMPILER_TIMEOUT, IGI_CODEGEN_TOO_LONG, request->name,
                         (unsigned long long)seconds);
}

static igi_codegen_channel_end exchange(int channel, const igi_text *question, igi_codegen_limits limits,
                                        igi_text *answer) {
    // A worker ends itself in time; this is for one that cannot do so.
    uint64_t deadline = igi_deadline_ns((limits.wall_seconds + GRACE_SECONDS) * second_ns);
    // If the worker closes the connection during a request, the reply that it sent before says why.
    igi_codegen_channel_write(channel, question->data, question->length, deadline);
    return igi_codegen_channel_read(channel, most_reply_bytes, deadline, answer);
}

static ig_status status_of_end(igi_codegen_channel_end end, const igi_simt_request *request, igi_codegen_limits limits,
                               const igi_text *answer, ig_error *error) {
    switch (end) {
        case IGI_CHANNEL_MESSAGE: return IG_STATUS_OK;
        case IGI_CHANNEL_LATE: return took_too_long(request, limits.wall_seconds, error);
        case IGI_CHANNEL_BROKEN:
            if (answer->failed) return igi_error_no_memory(error);
            return igi_error_set(error, IG_STATUS_BAD_FORMAT, "the reply of ingot-codegen is damaged");
        case IGI_CHANNEL_CLOSED: break;
    }
    return igi_error_set(error, IG_STATUS_COMPILER_CRASHED,
                         "compiling kernel '%s' ended without an answer: ingot-codegen was killed", request->name);
}

// Returns false if there are to be no more.
static bool begin_conversation(igi_codegen *codegen, conversation *c) {
    pthread_mutex_lock(&codegen->lock);
    bool allowed = !codegen->cancelled;
    if (allowed) {
        c->next = codegen->busy;
        codegen->busy = c;
    }
    pthread_mutex_unlock(&codegen->lock);
    return allowed;
}

static void end_conversation(igi_codegen *codegen, const conversation *c) {
    pthread_mutex_lock(&codegen->lock);
    conversation **link = &codegen->busy;
    while (*link != c) link = &(*link)->next;
    *link = c->next;
    pthread_mutex_unlock(&codegen->lock);
}

// The worker ends with ingot-codegen, which ends when the igi_codegen is destroyed.
void igi_codegen_cancel(igi_codegen *codegen) {
    if (!codegen) return;
    pthread_mutex_lock(&codegen->lock);
    codegen->cancelled = true;
    for (const conversation *c = codegen->busy; c; c = c->next) shutdown(c->channel, SHUT_RDWR);
    pthread_mutex_unlock(&codegen->lock);
}

static bool is_cancelled(igi_codegen *codegen) {
    pthread_mutex_lock(&codegen->lock);
    bool cancelled = codegen->cancelled;
    pthread_mutex_unlock(&codegen->lock);
    return cancelled;
}

static igi_codegen_channel_end converse(igi_codegen *codegen, int channel, const igi_text *question,
                                        igi_codegen_limits limits, igi_text *answer) {
    conversation c = {.channel = channel};
    if (!begin_conversation(codegen, &c)) return IGI_CHANNEL_CLOSED;
    igi_codegen_channel_end end = exchange(channel, question, limits, answer);
    end_conversation(codegen, &c);
    return end;
}

// An idle worker may have ended since its last request, and a new one may be killed while it works: the request then
// goes to another.
static ig_status send_request(igi_codegen *codegen, const igi_simt_request *request, const igi_text *question,
                              igi_codegen_limits limits, igi_text *answer, ig_error *error) {
    igi_codegen_channel_end end;
    int opened = 0;
    do {
        int channel = take_idle(codegen);
        bool fresh = channel < 0;
        ig_status status = fresh ? open_worker(codegen, &channel, error) : IG_STATUS_OK;
        if (status != IG_STATUS_OK) return status;
        opened += fresh;
        answer->length = 0;
        end = converse(codegen, channel, question, limits, answer);
        if (end == IGI_CHANNEL_MESSAGE)
            give_back(codegen, channel);
        else
            close(channel);
    } while (end == IGI_CHANNEL_CLOSED && opened < 2 && !is_cancelled(codegen));
    return status_of_end(end, request, limits, answer, error);
}

static igi_codegen_limits limits_for(uint64_t timeout_ns) {
    uint64_t seconds = timeout_ns ? timeout_ns / second_ns + (timeout_ns % second_ns != 0) : DEFAULT_SECONDS;
    uint64_t longest = UINT64_MAX / second_ns / SLOWEST_SHARE - GRACE_SECONDS;
    if (seconds > longest) seconds = longest;
    // On a busy machine a second of processor time takes longer than a second.
    return (igi_codegen_limits){seconds, seconds * SLOWEST_SHARE, memory_limit};
}

// INGOT_CODEGEN=in-process: for debugging the compiler. A kernel that crashes it crashes the host.
static bool is_wanted_here(void) {
    return igi_setting_is(IGI_SETTING_CODEGEN, "in-process");
}

ig_status igi_codegen_compile(igi_codegen *codegen, const igi_simt_request *request, igi_simt_stage stage,
                              uint64_t timeout_ns, char **output, size_t *length, ig_error *error) {
    if (is_wanted_here()) return igi_codegen_work(request, stage, output, length, error);
    igi_text question = {0}, answer = {0};
    igi_codegen_limits limits = limits_for(timeout_ns);
    igi_codegen_write_job(request, stage, limits, &question);
    ig_status status = question.failed ? igi_error_no_memory(error)
                                       : send_request(codegen, request, &question, limits, &answer, error);
    if (status == IG_STATUS_OK)
        status = igi_codegen_read_reply(answer.data, answer.length, request->remarks, output, length, error);
    igi_text_free(&question), igi_text_free(&answer);
    return status;
}
