// SPDX-License-Identifier: Apache-2.0
// Apple's log, written to stderr: a line for each message. Debug and info messages, which a Mac does not show either, are
// dropped unless OS_ACTIVITY_MODE is debug.
#ifndef INGOT_OS_LOG_H
#define INGOT_OS_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t os_log_type_t;
enum {
    OS_LOG_TYPE_DEFAULT = 0x00,
    OS_LOG_TYPE_INFO = 0x01,
    OS_LOG_TYPE_DEBUG = 0x02,
    OS_LOG_TYPE_ERROR = 0x10,
    OS_LOG_TYPE_FAULT = 0x11
};

// The subsystem, or NULL. Never freed, as on a Mac.
typedef const char *os_log_t;
#define OS_LOG_DEFAULT ((os_log_t)0)
#define OS_LOG_DISABLED ((os_log_t)1)

static inline os_log_t os_log_create(const char *subsystem, const char *category) {
    (void)category;
    return subsystem;
}

static inline bool os_log_type_enabled(os_log_t log, os_log_type_t type) {
    bool detail = type == OS_LOG_TYPE_INFO || type == OS_LOG_TYPE_DEBUG;
    return log != OS_LOG_DISABLED &&
           (!detail || (getenv("OS_ACTIVITY_MODE") && strcmp(getenv("OS_ACTIVITY_MODE"), "debug") == 0));
}

#define os_log_with_type(log, type, format, ...)                                                       \
    do {                                                                                               \
        if (os_log_type_enabled((log), (type)))                                                        \
            fprintf(stderr, "%s%s" format "\n", (log) ? (log) : "", (log) ? ": " : "", ##__VA_ARGS__); \
    } while (0)
#define os_log(log, format, ...) os_log_with_type(log, OS_LOG_TYPE_DEFAULT, format, ##__VA_ARGS__)
#define os_log_info(log, format, ...) os_log_with_type(log, OS_LOG_TYPE_INFO, format, ##__VA_ARGS__)
#define os_log_debug(log, format, ...) os_log_with_type(log, OS_LOG_TYPE_DEBUG, format, ##__VA_ARGS__)
#define os_log_error(log, format, ...) os_log_with_type(log, OS_LOG_TYPE_ERROR, format, ##__VA_ARGS__)
#define os_log_fault(log, format, ...) os_log_with_type(log, OS_LOG_TYPE_FAULT, format, ##__VA_ARGS__)

#endif
