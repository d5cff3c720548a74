// SPDX-License-Identifier: Apache-2.0
// What a child process may access: some directories, and no network. Without support in the kernel, nothing is
// restricted.
#ifndef INGOT_CORE_SANDBOX_H
#define INGOT_CORE_SANDBOX_H

typedef struct igi_sandbox {
    int rules;  // a descriptor; -1: files are not restricted
} igi_sandbox;

// Both lists end with NULL, and names that do not exist are ignored. They name files and directories, with everything
// below, that may be read and executed, or also written. Linux with Landlock only; elsewhere nothing is restricted.
igi_sandbox igi_sandbox_create(const char *const *readable, const char *const *writable);
void igi_sandbox_destroy(igi_sandbox *sandbox);

// Restricts this process and its children for good, as far as the kernel supports it. Safe between fork and exec.
void igi_sandbox_enter(const igi_sandbox *sandbox);
// For a process that only computes from now on: no file, no program, no network, no signal to others.
void igi_sandbox_seal(void);

#endif
