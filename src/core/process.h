// SPDX-License-Identifier: Apache-2.0
// A child process with captured output, a time limit and a memory limit.
#ifndef INGOT_CORE_PROCESS_H
#define INGOT_CORE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"

typedef enum igi_exit {
    IGI_EXIT_CODE,
    IGI_EXIT_SIGNAL,
    IGI_EXIT_TIMEOUT,
    IGI_EXIT_NOT_FOUND,
    IGI_EXIT_SYSTEM
} igi_exit;

typedef struct igi_process {
    char *const *arguments;    // [0] is looked up in PATH; ends with NULL
    char *const *environment;  // ends with NULL; NULL: this process' own
    uint64_t timeout_ns;
    uint64_t memory_limit;  // bytes of address space; 0: none
    // Filled:
    igi_exit exit;
    int code;  // exit code or signal number
    igi_text output, errors;
} igi_process;

// Runs to its end, or kills it at the time limit. The caller frees output and errors.
void igi_process_run(igi_process *process);

#endif
