// SPDX-License-Identifier: Apache-2.0
// Filling ig_error and logging, from inside the library.
#ifndef INGOT_CORE_STATUS_INTERNAL_H
#define INGOT_CORE_STATUS_INTERNAL_H

#include <ingot/status.h>
#include <stdarg.h>

// All return `status`, so that a failing function can return their result. `error` may be NULL.
__attribute__((format(printf, 3, 4))) ig_status igi_error_set(ig_error *error, ig_status status, const char *format,
                                                              ...);
// Fills the error for an allocation that failed.
ig_status igi_error_no_memory(ig_error *error);
ig_status igi_error_copy(ig_error *target, const ig_error *source);

// For ig_last_error: failures of public calls that take no ig_error. Each returns `status`. Nothing is allocated, so
// that lack of memory can be reported; a sentence that is too long is cut.
__attribute__((format(printf, 2, 3))) ig_status igi_fail(ig_status status, const char *format, ...);
// The same for a string literal, which takes nanoseconds: for failures that may be frequent, such as a full queue.
ig_status igi_fail_with(ig_status status, const char *literal);
ig_status igi_fail_no_memory(void);
// Makes the message of `error`, which must hold a failure, the thread's last failure.
ig_status igi_fail_as(const ig_error *error);
// The number of this thread's last failure; numbers increase with every failure in the process. 0 before the first.
uint64_t igi_failure_serial(void);

__attribute__((format(printf, 2, 3))) void igi_log(ig_log_level level, const char *format, ...);

#endif
