// SPDX-License-Identifier: Apache-2.0
// What a child process may reach: some directories, and no network. Where the kernel has no support for it, nothing is restricted.
#ifndef INGOT_CORE_SANDBOX_H
#define INGOT_CORE_SANDBOX_H

typedef struct igi_sandbox {
    int rules;  // a descriptor; -1: files are not restricted
} igi_sandbox;

// Of each list, NULL-terminated, the names that are there: files and directories with all below them that may be read
// and executed, and that may be written too. Linux with Landlock only; elsewhere nothing is restricted.
igi_sandbox igi_sandbox_create(const char *const *readable, const char *const *writable);
void igi_sandbox_destroy(igi_sandbox *sandbox);

// Restricts this process and all that it starts, for good, as far as the kernel does that. Safe between fork and exec.
void igi_sandbox_enter(const igi_sandbox *sandbox);
// For a process that only computes from now on: no file, no program, no network, no signal to others.
void igi_sandbox_seal(void);

#endif
