// SPDX-License-Identifier: Apache-2.0
// A trace of a process in Chrome's trace-event format, which Perfetto and chrome://tracing open: a JSON array with an event
// on each line. The file is whole after every flush.
#ifndef INGOT_CORE_TRACE_H
#define INGOT_CORE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status-internal.h"

typedef struct igi_trace igi_trace;

// The trace at this path, in which "%p" stands for the process id. Calls with the same path share one trace, which stays
// open until the process ends. errors: IO, OUT_OF_MEMORY.
ig_status igi_trace_open(const char *path, igi_trace **trace, ig_error *error);

// A new track, which viewers show as a row. Its events must be nested or disjoint.
uint32_t igi_trace_new_track(igi_trace *trace, const char *name);
// The track of the calling thread, made when it is first asked for.
uint32_t igi_trace_thread_track(igi_trace *trace);

typedef struct igi_trace_detail {
    const char *key;
    uint64_t number;
    const char *text;  // NULL: the number is meant
} igi_trace_detail;

// Something that began and ended, in nanoseconds of igi_now_ns.
typedef struct igi_trace_event {
    const char *name, *category;  // the category needs no escapes
    uint32_t track;
    uint64_t start_ns, end_ns;
    const igi_trace_detail *details;
    size_t detail_count;
} igi_trace_event;
// Past the first two million, events are left out; this is logged.
void igi_trace_add(igi_trace *trace, const igi_trace_event *event);
// Another limit, for tests.
void igi_trace_set_limit(igi_trace *trace, uint64_t events);
// Writes the events so far if the last write was a while ago, or if `now` is set. The end of the process writes them too.
void igi_trace_flush(igi_trace *trace, bool now);

#endif
