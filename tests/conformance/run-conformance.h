// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of the runner.
#ifndef INGOT_TESTS_RUN_CONFORMANCE_H
#define INGOT_TESTS_RUN_CONFORMANCE_H

#include <ingot/device.h>

// In memory shared with the child process that runs a file, so that a crash loses one case and nothing else.
typedef struct session {
    ig_device *device;
    ig_queue *queue;
    const char *only;  // part of a case's name; NULL: all
    bool verbose;
    bool deadline;         // for every command buffer
    bool tiers;            // every case runs in both tiers, which must agree in every bit
    unsigned every, seen;  // run one of this many cases, 0: all; cases of all files so far
    unsigned passed, failed, skipped;
    int after;         // cases up to this line have run
    int line;          // of the case that runs
    char broken[200];  // why the case that runs is known to fail
} session;

// One line for each failed case, "file:line: what". Each adds to the session's counts.
void run_expect_file(session *s, const char *path);
void run_error_file(session *s, const char *path);

// Whether to run the case at this line; records it as the running one.
bool begin_case(session *s, const char *path, int line, const char *name, const char *broken);
// Counts the case as failed and prints why, once per call.
__attribute__((format(printf, 4, 5))) void report(session *s, const char *path, int line, const char *format, ...);

#endif
