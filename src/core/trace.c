// SPDX-License-Identifier: Apache-2.0
// Writing traces.
#include "core/trace.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/forked.h"
#include "core/json.h"

enum { MOST_EVENTS = 2000000, BUFFER_BYTES = 256 << 10, FLUSH_NS = 100000000 };

struct igi_trace {
    char *path;
    int file;
    long pid;
    uint32_t process;  // igi_process_number of who opened it
    uint64_t start_ns;
    pthread_mutex_t lock;  // guards what follows
    igi_json json;         // events that are not written yet
    off_t written;         // bytes of the file, without the closing bracket
    uint64_t events, most_events, flushed_ns;
    uint32_t tracks, threads;
    bool broken;  // writing failed
    igi_trace *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static igi_trace *traces;  // guarded by the lock

// ---- Writing ----

static bool write_at(int file, const char *bytes, size_t length, off_t offset) {
    while (length) {
        ssize_t wrote = pwrite(file, bytes, length, offset);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        bytes += wrote, offset += wrote, length -= (size_t)wrote;
    }
    return true;
}

// The next write begins where the closing bracket is now. Call with the trace's lock held.
static void write_out(igi_trace *trace) {
    static const char end[] = "\n]\n";
    igi_text *text = &trace->json.text;
    bool ok = !trace->broken && !trace->json.failed && !text->failed;
    ok = ok && write_at(trace->file, text->data, text->length, trace->written);
    ok = ok && write_at(trace->file, end, sizeof end - 1, trace->written + (off_t)text->length);
    if (ok) trace->written += (off_t)text->length;
    if (!ok && !trace->broken) igi_log(IG_LOG_WARNING, "INGOT_TRACE: cannot write %s", trace->path);
    trace->broken = !ok;
    text->length = 0;
    trace->flushed_ns = igi_now_ns();
}

void igi_trace_flush(igi_trace *trace, bool now) {
    if (igi_was_inherited(trace->process)) return;
    pthread_mutex_lock(&trace->lock);
    bool due = now || igi_now_ns() - trace->flushed_ns >= FLUSH_NS;
    if (due && trace->json.text.length) write_out(trace);
    pthread_mutex_unlock(&trace->lock);
}

// Programs often end without releasing their devices.
__attribute__((destructor)) static void flush_all(void) {
    for (igi_trace *trace = traces; trace; trace = trace->next) igi_trace_flush(trace, true);
}

// ---- Events ----

// Call with the trace's lock held. False: there is no room for more.
static bool begin_event(igi_trace *trace, const char *name, const char *phase, uint32_t track) {
    if (trace->broken) return false;
    if (trace->events == trace->most_events)
        igi_log(IG_LOG_WARNING, "INGOT_TRACE: %s has %llu events; later ones are left out", trace->path,
                (unsigned long long)trace->events);
    if (trace->events++ >= trace->most_events) return false;
    if (trace->written + (off_t)trace->json.text.length > 2) igi_text_add(&trace->json.text, ",\n");
    igi_text_add(&trace->json.text, "{\"name\":");
    igi_json_string(&trace->json, name);
    igi_text_addf(&trace->json.text, ",\"ph\":\"%s\",\"pid\":%ld,\"tid\":%u", phase, trace->pid, track);
    return true;
}

static void end_event(igi_trace *trace) {
    igi_text_add(&trace->json.text, "}}");
    if (trace->json.text.length >= BUFFER_BYTES) write_out(trace);
}

// pre: the key needs no escapes.
static void put_detail(igi_trace *trace, const igi_trace_detail *detail) {
    assert(!strpbrk(detail->key, "\"\\"));
    igi_text_addf(&trace->json.text, "\"%s\":", detail->key);
    if (detail->text)
        igi_json_string(&trace->json, detail->text);
    else
        igi_text_addf(&trace->json.text, "%llu", (unsigned long long)detail->number);
}

// In microseconds.
static void put_time(igi_trace *trace, const char *key, uint64_t ns) {
    igi_text_addf(&trace->json.text, ",\"%s\":%llu.%03u", key, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

// Call with the trace's lock held.
static void name_track(igi_trace *trace, const char *kind, uint32_t track, const char *name) {
    if (!begin_event(trace, kind, "M", track)) return;
    igi_text_add(&trace->json.text, ",\"args\":{");
    put_detail(trace, &(igi_trace_detail){.key = "name", .text = name});
    end_event(trace);
}

void igi_trace_add(igi_trace *trace, const igi_trace_event *event) {
    if (igi_was_inherited(trace->process)) return;
    pthread_mutex_lock(&trace->lock);
    if (begin_event(trace, event->name, "X", event->track)) {
        uint64_t start = event->start_ns > trace->start_ns ? event->start_ns - trace->start_ns : 0;
        igi_text_addf(&trace->json.text, ",\"cat\":\"%s\"", event->category);
        put_time(trace, "ts", start);
        put_time(trace, "dur", event->end_ns - event->start_ns);
        igi_text_add(&trace->json.text, ",\"args\":{");
        for (size_t i = 0; i < event->detail_count; i++) {
            if (i) igi_text_add(&trace->json.text, ",");
            put_detail(trace, &event->details[i]);
        }
        end_event(trace);
    }
    pthread_mutex_unlock(&trace->lock);
}

void igi_trace_set_limit(igi_trace *trace, uint64_t events) {
    pthread_mutex_lock(&trace->lock);
    trace->most_events = events;
    pthread_mutex_unlock(&trace->lock);
}

// ---- Tracks ----

uint32_t igi_trace_new_track(igi_trace *trace, const char *name) {
    pthread_mutex_lock(&trace->lock);
    uint32_t track = ++trace->tracks;
    name_track(trace, "thread_name", track, name);
    pthread_mutex_unlock(&trace->lock);
    return track;
}

uint32_t igi_trace_thread_track(igi_trace *trace) {
    static _Thread_local struct {
        const igi_trace *trace;
        uint32_t process, track;
    } mine;
    if (mine.trace == trace && mine.process == trace->process) return mine.track;
    char name[32];
    pthread_mutex_lock(&trace->lock);
    snprintf(name, sizeof name, "thread %u", ++trace->threads);
    pthread_mutex_unlock(&trace->lock);
    mine.track = igi_trace_new_track(trace, name);
    mine.trace = trace, mine.process = trace->process;
    return mine.track;
}

// ---- Opening ----

// "%p" becomes the number of the process.
static char *expand(const char *path) {
    const char *mark = strstr(path, "%p");
    if (!mark) return igi_strdup(path);
    return igi_format("%.*s%ld%s", (int)(mark - path), path, (long)getpid(), mark + 2);
}

// Takes over the path.
static ig_status create(char *path, igi_trace **trace, ig_error *error) {
    igi_trace *made = igi_calloc(1, sizeof *made);
    int file = made ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (file < 0) {
        ig_status status = made ? igi_error_set(error, IG_STATUS_IO, "cannot write the trace '%s' (INGOT_TRACE): %s",
                                                path, strerror(errno))
                                : igi_error_no_memory(error);
        free(made), free(path);
        return status;
    }
    *made = (igi_trace){.path = path,
                        .file = file,
                        .process = igi_process_number(),
                        .start_ns = igi_now_ns(),
                        .pid = (long)getpid(),
                        .most_events = MOST_EVENTS};
    pthread_mutex_init(&made->lock, NULL);
    igi_text_add(&made->json.text, "[\n");
    name_track(made, "process_name", 0, "Ingot");
    made->next = traces;
    traces = *trace = made;
    return IG_STATUS_OK;
}

ig_status igi_trace_open(const char *path, igi_trace **trace, ig_error *error) {
    char *name = expand(path);
    if (!name) return igi_error_no_memory(error);
    pthread_mutex_lock(&lock);
    igi_trace *found = traces;
    while (found && (igi_was_inherited(found->process) || strcmp(found->path, name) != 0)) found = found->next;
    ig_status status = IG_STATUS_OK;
    if (found) {
        free(name);
        *trace = found;
    } else {
        status = create(name, trace, error);
    }
    pthread_mutex_unlock(&lock);
    return status;
}
