// SPDX-License-Identifier: Apache-2.0
// A child process with captured output, within limits.
#ifndef INGOT_CORE_PROCESS_H
#define INGOT_CORE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"

typedef enum igi_exit {
    IGI_EXIT_CODE,
    IGI_EXIT_SIGNAL,
    IGI_EXIT_TIMEOUT,
    IGI_EXIT_TOO_MUCH_OUTPUT,
    IGI_EXIT_NOT_FOUND,
    IGI_EXIT_SYSTEM
} igi_exit;

// Zero: no limit.
typedef struct igi_process_limits {
    uint64_t memory_bytes;  // of address space
    uint64_t output_bytes;  // of each stream, and of each file that the child writes
    uint32_t open_files;
} igi_process_limits;

typedef struct igi_process {
    char *const *arguments;    // [0] is looked up in PATH; ends with NULL
    char *const *environment;  // ends with NULL; NULL: that of this process
    // CPU time, and wall-clock time for a child that does not use the CPU. A child that works on a busy machine is not
    // stopped because it had to wait.
    uint64_t timeout_ns;
    igi_process_limits limits;
    const struct igi_sandbox *sandbox;  // NULL: the child may do what this process may
    // Filled:
    igi_exit exit;
    int code;  // exit code or signal number
    igi_text output, errors;
} igi_process;

// Runs the child to its end, or kills it and its children at a limit. The caller frees output and errors.
void igi_process_run(igi_process *process);

// The variables of this process, to give to children or to replace.
char ***igi_process_environment(void);

#endif
