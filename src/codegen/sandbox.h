// SPDX-License-Identifier: Apache-2.0
// A process that compiles kernels: what it may use, and how its end is reported.
#ifndef INGOT_CODEGEN_SANDBOX_H
#define INGOT_CODEGEN_SANDBOX_H

#include "codegen/message.h"

// From here on this process opens no file or socket and, on Linux, starts no program. If LLVM gives up or crashes, or a
// limit ends the process, a reply that says so is sent to `channel` first.
// pre: called once, on the only thread.
void igi_codegen_sandbox_enter(int channel);
// Called around the work on one kernel, whose name must stay valid until the end. The process ends when a limit is
// reached.
void igi_codegen_sandbox_begin(const char *kernel, const igi_codegen_limits *limits);
void igi_codegen_sandbox_end(void);
// Whether the process has grown so large that a new one should replace it.
bool igi_codegen_sandbox_is_bloated(void);

#endif
