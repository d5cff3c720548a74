// SPDX-License-Identifier: Apache-2.0
// Status names and texts, ig_error, the log callback.
#include "core/status-internal.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

static const char *const names[] = {
#define NAME(name, text) "IG_STATUS_" #name,
    IG_STATUS_LIST(NAME)
#undef NAME
};

static const char *const texts[] = {
#define TEXT(name, text) text,
    IG_STATUS_LIST(TEXT)
#undef TEXT
};

static bool known(ig_status status) {
    return (unsigned)status < IG_STATUS_COUNT;
}

const char *ig_status_name(ig_status status) {
    return known(status) ? names[status] : "IG_STATUS_UNKNOWN";
}

const char *ig_status_text(ig_status status) {
    return known(status) ? texts[status] : "an unknown status";
}

const char *ig_version(void) {
    return INGOT_VERSION;
}

void ig_error_clear(ig_error *error) {
    if (!error) return;
    free(error->file);
    free(error->message);
    free(error->log);
    *error = (ig_error){0};
}

ig_status igi_error_set(ig_error *error, ig_status status, const char *format, ...) {
    if (!error) return status;
    va_list arguments;
    va_start(arguments, format);
    char *message = igi_vformat(format, arguments);
    va_end(arguments);
    ig_error_clear(error);
    error->status = status;
    error->message = message;
    return status;
}

ig_status igi_error_no_memory(ig_error *error) {
    return igi_error_set(error, IG_STATUS_OUT_OF_MEMORY, "not enough memory");
}

ig_status igi_error_copy(ig_error *target, const ig_error *source) {
    if (!target || target == source) return source->status;
    ig_error copy = *source;
    copy.file = igi_strdup(source->file);
    copy.message = igi_strdup(source->message);
    copy.log = igi_strdup(source->log);
    ig_error_clear(target);
    *target = copy;
    return source->status;
}

// ---- The last failure of a thread ----

static atomic_uint_fast64_t failures;

static _Thread_local struct {
    ig_status status;
    const char *literal;  // the sentence; NULL: it is in `text`
    uint64_t serial;      // within the process: comparable between threads
    char text[512];
} last;

ig_status igi_fail(ig_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last.text, sizeof last.text, format, arguments);
    va_end(arguments);
    return igi_fail_with(status, NULL);
}

ig_status igi_fail_with(ig_status status, const char *literal) {
    last.status = status;
    last.literal = literal;
    last.serial = atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed) + 1;
    return status;
}

ig_status igi_fail_no_memory(void) {
    return igi_fail_with(IG_STATUS_OUT_OF_MEMORY, "not enough memory");
}

ig_status igi_fail_as(const ig_error *error) {
    return igi_fail(error->status, "%s", error->message ? error->message : ig_status_text(error->status));
}

uint64_t igi_failure_serial(void) {
    return last.serial;
}

ig_status ig_last_error(ig_error *error) {
    if (last.status == IG_STATUS_OK)
        ig_error_clear(error);
    else
        igi_error_set(error, last.status, "%s", last.literal ? last.literal : last.text);
    return last.status;
}

// ---- Log ----

static _Atomic(ig_log_callback) log_callback;
static _Atomic(void *) log_user;

void ig_set_log(ig_log_callback callback, void *user) {
    atomic_store(&log_user, user);
    atomic_store(&log_callback, callback);
}

void igi_log(ig_log_level level, const char *format, ...) {
    ig_log_callback callback = atomic_load(&log_callback);
    if (!callback) return;
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    callback(level, message, atomic_load(&log_user));
}
