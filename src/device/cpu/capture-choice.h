// SPDX-License-Identifier: Apache-2.0
// Which dispatches are captured: names of kernels with wildcards, and numbers.
#ifndef INGOT_DEVICE_CPU_CAPTURE_CHOICE_H
#define INGOT_DEVICE_CPU_CAPTURE_CHOICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status-internal.h"

// PATTERN[:FIRST[-LAST]] or FIRST[-LAST], which is of any kernel. Dispatches that match the pattern are counted from 0.
typedef struct cpu_capture_rule {
    char *pattern;
    uint64_t first, last;
    atomic_uint_fast64_t seen;
} cpu_capture_rule;

typedef struct cpu_capture_choice {
    cpu_capture_rule *rules;
    size_t count;
} cpu_capture_choice;

// Rules separated by commas; NULL or "": none. errors: INVALID_ARGUMENT, OUT_OF_MEMORY.
ig_status igi_cpu_capture_choice_parse(const char *text, cpu_capture_choice *choice, ig_error *error);
void igi_cpu_capture_choice_free(cpu_capture_choice *choice);
// Counts a dispatch of this kernel; true when it is to be captured.
bool igi_cpu_capture_choose(cpu_capture_choice *choice, const char *kernel);

#endif
