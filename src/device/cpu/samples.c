// SPDX-License-Identifier: Apache-2.0
// Timers, the handler, and its table of addresses.
#include "device/cpu/samples.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "device/line-profile.h"
#include "msl/diagnostic.h"
#include "simt/lines.h"

#if defined(SIGEV_THREAD_ID)
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

// Addresses that were seen. There are few, because loops are: a full table loses samples, and counts them as elsewhere.
enum { PLACES = 4096, TRIES = 64, INTERVAL_NS = 1000000 };

typedef struct place {
    uint64_t address, count;
} place;

typedef struct sampled_thread {
    cpu_samples *of;
    pid_t id;
    timer_t timer;
    uint64_t noted, lost;  // since it entered
    place places[PLACES];
    struct sampled_thread *next;
} sampled_thread;

struct cpu_samples {
    pthread_mutex_t lock;
    sampled_thread *threads;
};

// The thread, while it is in a kernel. initial-exec: a signal handler must not allocate thread-local storage.
static _Thread_local sampled_thread *inside __attribute__((tls_model("initial-exec")));

// ---- The handler ----

static uint64_t address_of(const void *context) {
    const ucontext_t *u = context;
#if defined(__x86_64__)
    return (uint64_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return u->uc_mcontext.pc;
#else
    (void)u;
    return 0;
#endif
}

static void count_sample(sampled_thread *t, uint64_t address, uint64_t count) {
    t->noted += count;
    for (uint64_t i = 0, at = address * 0x9e3779b97f4a7c15u >> 52; i < TRIES; i++, at = (at + 1) % PLACES) {
        place *p = &t->places[at];
        if (p->count && p->address != address) continue;
        p->address = address;
        p->count += count;
        return;
    }
    t->lost += count;
}

static void on_signal(int number, siginfo_t *info, void *context) {
    (void)number;
    sampled_thread *t = inside;
    if (!t || info->si_code != SI_TIMER || info->si_value.sival_ptr != t) return;
    count_sample(t, address_of(context), 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0));
}

// ---- The signal ----

static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;

static bool is_ours(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_signal;
}

static bool is_free(const struct sigaction *action) {
    return !(action->sa_flags & SA_SIGINFO) && (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
}

static bool take_signal(void) {
    struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, now;
    sigemptyset(&ours.sa_mask);
    pthread_mutex_lock(&users_lock);
    bool taken = sigaction(SIGPROF, NULL, &now) == 0 && (is_ours(&now) || is_free(&now));
    taken = taken && sigaction(SIGPROF, &ours, NULL) == 0;
    users += taken;
    pthread_mutex_unlock(&users_lock);
    return taken;
}

// A signal that is still on its way must not end the program, as it would by default.
static void give_signal_back(void) {
    struct sigaction ignore = {.sa_handler = SIG_IGN}, now;
    pthread_mutex_lock(&users_lock);
    if (--users == 0 && sigaction(SIGPROF, NULL, &now) == 0 && is_ours(&now)) sigaction(SIGPROF, &ignore, NULL);
    pthread_mutex_unlock(&users_lock);
}

// ---- Threads ----

static bool start_timer(sampled_thread *t) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF, .sigev_value.sival_ptr = t};
    struct itimerspec every = {.it_interval.tv_nsec = INTERVAL_NS, .it_value.tv_nsec = INTERVAL_NS};
    sigset_t profile;
    event.sigev_notify_thread_id = t->id;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &t->timer) != 0) return false;
    sigemptyset(&profile), sigaddset(&profile, SIGPROF);
    pthread_sigmask(SIG_UNBLOCK, &profile, NULL);
    if (timer_settime(t->timer, 0, &every, NULL) == 0) return true;
    timer_delete(t->timer);
    return false;
}

static sampled_thread *add_thread(cpu_samples *samples, pid_t id) {
    sampled_thread *made = igi_calloc(1, sizeof *made);
    if (!made) return NULL;
    made->of = samples;
    made->id = id;
    if (!start_timer(made)) {
        free(made);
        return NULL;
    }
    made->next = samples->threads;
    samples->threads = made;
    return made;
}

static sampled_thread *this_thread(cpu_samples *samples) {
    pid_t id = (pid_t)syscall(SYS_gettid);
    pthread_mutex_lock(&samples->lock);
    sampled_thread *t = samples->threads;
    while (t && t->id != id) t = t->next;
    if (!t) t = add_thread(samples, id);
    pthread_mutex_unlock(&samples->lock);
    return t;
}

void igi_cpu_samples_enter(cpu_samples *samples) {
    if (!samples || inside) return;
    inside = this_thread(samples);
}

// ---- From addresses to lines ----

// Leaves path and line as they are if no code of the program is there.
static void find_line(const cpu_program *program, uint64_t address, const char **path, uint32_t *line) {
    for (const cpu_variant *v = program->variants; v; v = v->next)
        if (v->code.lines && igi_simt_lines_find(v->code.lines, address, path, line)) return;
}

static void add_place(ig_device *device, const cpu_program *program, const place *p) {
    const char *path = "", *text = NULL;
    uint32_t line = 0;
    find_line(program, p->address, &path, &line);
    const igi_msl_source *source = line ? igi_msl_sources_find(&program->module->sources, path) : NULL;
    size_t length = 0;
    if (source) text = igi_msl_source_line(source, line, &length);
    igi_device_line_profile_add(device->line_profile, program->name, source ? source->display : path, line,
                                text ? text : "", length, p->count);
}

void igi_cpu_samples_leave(cpu_samples *samples, ig_device *device, cpu_program *program) {
    sampled_thread *t = inside;
    if (!samples || !t || t->of != samples) return;
    inside = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    if (!t->noted) return;
    pthread_mutex_lock(&program->lock);
    for (size_t i = 0; i < PLACES; i++)
        if (t->places[i].count) add_place(device, program, &t->places[i]);
    if (t->lost) add_place(device, program, &(place){0, t->lost});
    pthread_mutex_unlock(&program->lock);
    memset(t->places, 0, sizeof t->places);
    t->noted = t->lost = 0;
}

// ---- Life ----

ig_status igi_cpu_samples_create(cpu_samples **samples, ig_error *error) {
    cpu_samples *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    if (!take_signal()) {
        free(made);
        return igi_error_set(
            error, IG_STATUS_WRONG_STATE,
            "cannot count source lines: the program has its own handler for SIGPROF, which this needs");
    }
    pthread_mutex_init(&made->lock, NULL);
    *samples = made;
    return IG_STATUS_OK;
}

void igi_cpu_samples_destroy(cpu_samples *samples) {
    if (!samples) return;
    for (sampled_thread *t = samples->threads; t; t = t->next) timer_delete(t->timer);
    give_signal_back();
    for (sampled_thread *t = samples->threads, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    pthread_mutex_destroy(&samples->lock);
    free(samples);
}

#else
ig_status igi_cpu_samples_create(cpu_samples **samples, ig_error *error) {
    (void)samples;
    return igi_error_set(error, IG_STATUS_UNSUPPORTED,
                         "source lines are not counted here: the system has no timers for single threads");
}

void igi_cpu_samples_destroy(cpu_samples *samples) {
    (void)samples;
}

void igi_cpu_samples_enter(cpu_samples *samples) {
    (void)samples;
}

void igi_cpu_samples_leave(cpu_samples *samples, ig_device *device, cpu_program *program) {
    (void)samples, (void)device, (void)program;
}
#endif
