// SPDX-License-Identifier: Apache-2.0
// Status codes and errors. Every fallible call returns an ig_status; its output is untouched on failure.
#ifndef INGOT_STATUS_H
#define INGOT_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// Every status: its name and its text. The enum, ig_status_name and ig_status_text are made from this list.
#define IG_STATUS_LIST(X)                                                                  \
    X(OK, "success")                                                                       \
    X(INVALID_ARGUMENT, "an argument is not valid")                                        \
    X(OUT_OF_MEMORY, "not enough memory")                                                  \
    X(OVERFLOW, "a size is too large to be represented")                                   \
    X(OUT_OF_RANGE, "an offset or length is outside its object")                           \
    X(NOT_FOUND, "not found")                                                              \
    X(UNSUPPORTED, "this is not supported here")                                           \
    X(DEVICE_UNAVAILABLE, "the device is not available on this machine")                   \
    X(COMPILE_FAILED, "the source does not compile")                                       \
    X(COMPILER_MISSING, "clang was not found")                                             \
    X(COMPILER_CRASHED, "the compiler stopped without an answer")                          \
    X(COMPILER_TIMEOUT, "the compiler took too long")                                      \
    X(WRONG_CONSTANT, "a function constant is missing, unknown or of another type")        \
    X(UNBOUND_ARGUMENT, "a kernel argument was not set")                                   \
    X(BUFFER_TOO_SMALL, "a buffer is too small for its argument")                          \
    X(THREADGROUP_TOO_LARGE, "the threadgroup has more threads or memory than the device") \
    X(WRONG_STATE, "the object is not in a state that allows this call")                   \
    X(TIMEOUT, "the time given was not enough")                                            \
    X(QUEUE_FULL, "the queue is full")                                                     \
    X(CLOCK_SKEW, "a clock is too far ahead")                                              \
    X(KERNEL_FAULT, "a kernel touched memory it does not own")                             \
    X(IO, "reading or writing a file failed")                                              \
    X(BAD_FORMAT, "the data is not in the expected format")                                \
    X(SYSTEM, "the operating system refused a request")                                    \
    X(INTERNAL, "a bug in Ingot: please report it")                                        \
    X(FORKED, "the object was made before fork(), by the parent process")                  \
    X(CHECK_FAILED, "checking found an error in a kernel")

// The result of a call. 0 is success, so that `if (call())` tests for failure.
typedef enum ig_status {
#define IG_STATUS_ENUM(name, text) IG_STATUS_##name,
    IG_STATUS_LIST(IG_STATUS_ENUM)
#undef IG_STATUS_ENUM
        IG_STATUS_COUNT
} ig_status;

// The name of a status, "IG_STATUS_TIMEOUT". Never NULL, for any value.
const char *ig_status_name(ig_status status);
// What a status means in general, "the time given was not enough". Never NULL, for any value.
const char *ig_status_text(ig_status status);

// Why a call failed. Start from a zeroed struct; a call that fails fills it, replacing what it held. Free its strings
// with ig_error_clear. Where a call takes an ig_error, NULL is allowed.
typedef struct ig_error {
    ig_status status;
    uint32_t line;    // 1-based; 0 when the error is not at a place in a file
    uint32_t column;  // 1-based, in bytes
    char *file;       // as the user named it; NULL when there is none
    char *message;    // one sentence saying what is wrong and, where known, what to do
    char *log;        // all diagnostics, with source lines and carets; NULL when there is only the message
} ig_error;

// Frees the strings of an error and sets all of it to zero, ready for the next call. NULL does nothing.
void ig_error_clear(ig_error *error);

// Why the most recent failed call on this thread failed, for calls that take no ig_error. Fills `error`, if it is not
// NULL, and returns its status; OK if nothing has failed yet. Ask right after the failure: as with errno, a later
// failure replaces the reason, and a success may leave it in place.
ig_status ig_last_error(ig_error *error);

// How important a log message is.
typedef enum ig_log_level {
    IG_LOG_DEBUG,    // details for developers of Ingot
    IG_LOG_INFO,     // normal events
    IG_LOG_WARNING,  // something was worked around, such as a cache directory that cannot be used
    IG_LOG_ERROR,    // something went wrong that no call can report
} ig_log_level;
// Receives log messages; `message` is valid during the call only.
typedef void (*ig_log_callback)(ig_log_level level, const char *message, void *user);
// Sets the callback that receives all log messages; `user` is passed on to it. NULL, the default, drops them: the library
// itself never prints. threads: the callback may be called from any thread, and from several at once. Set it before
// other calls.
void ig_set_log(ig_log_callback callback, void *user);

// The version of the library, "MAJOR.MINOR.PATCH".
const char *ig_version(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
