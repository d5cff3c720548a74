// SPDX-License-Identifier: Apache-2.0
// Filling ig_error and logging, from inside the library.
#ifndef INGOT_CORE_STATUS_INTERNAL_H
#define INGOT_CORE_STATUS_INTERNAL_H

#include <ingot/status.h>
#include <stdarg.h>

// Each returns `status`, so that a failing call can end with it. `error` may be NULL.
__attribute__((format(printf, 3, 4))) ig_status igi_error_set(ig_error *error, ig_status status, const char *format,
                                                              ...);
// Fills the error for memory that could not be had.
ig_status igi_error_no_memory(ig_error *error);
ig_status igi_error_copy(ig_error *target, const ig_error *source);

__attribute__((format(printf, 2, 3))) void igi_log(ig_log_level level, const char *format, ...);

#endif
