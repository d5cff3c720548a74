// SPDX-License-Identifier: Apache-2.0
// ingot selftest: one check after the other on one device. A failed check leaves its reason.
#ifndef INGOT_CLI_SELFTEST_H
#define INGOT_CLI_SELFTEST_H

#include <ingot/ingot.h>

typedef enum selftest_result { SELFTEST_PASSED, SELFTEST_FAILED, SELFTEST_SKIPPED } selftest_result;

typedef struct selftest {
    ig_device *device;
    ig_queue *queue;
    ig_library *library;  // of selftest.metal
    char text[400];       // what was measured; why it failed or was skipped
} selftest;

typedef struct selftest_check {
    const char *name;
    selftest_result (*run)(selftest *test);
} selftest_check;

// Each ends with an entry without name.
extern const selftest_check selftest_device_checks[];
extern const selftest_check selftest_kernel_checks[];
extern const selftest_check selftest_layer_checks[];

__attribute__((format(printf, 2, 3))) selftest_result selftest_pass(selftest *test, const char *format, ...);
__attribute__((format(printf, 2, 3))) selftest_result selftest_fail(selftest *test, const char *format, ...);
__attribute__((format(printf, 2, 3))) selftest_result selftest_skip(selftest *test, const char *format, ...);
// A call that failed, with its error if there is one; frees the error.
selftest_result selftest_call_failed(selftest *test, const char *call, ig_status status, ig_error *error);

// One dispatch of a kernel of selftest.metal with buffers in slots 0, 1, ..., run to completion.
typedef struct selftest_run {
    const char *kernel;
    const ig_function_constant *constants;
    size_t constant_count;
    ig_buffer *buffers[4];
    const void *bytes;  // in the slot after the buffers
    size_t byte_count;
    uint64_t threadgroup_bytes;
    ig_size grid, group;
    ig_buffer *indirect;  // instead of the grid
} selftest_run;
ig_status selftest_dispatch(selftest *test, const selftest_run *run, ig_error *error);
// A shared buffer of zeros. Ends the process if there is no memory.
ig_buffer *selftest_buffer(selftest *test, uint64_t length);

#endif
