// SPDX-License-Identifier: Apache-2.0
// A process that compiles one kernel: what it may use, and how its end is told.
#ifndef INGOT_CODEGEN_SANDBOX_H
#define INGOT_CODEGEN_SANDBOX_H

#include "codegen/message.h"

// From here on this process opens no file or socket, starts no program (on Linux) and ends when a limit is reached. If
// LLVM gives up or crashes, or a limit ends it, a reply that says so goes to `channel` first.
// pre: called once, on the only thread; `kernel` lives as long as the process.
void igi_sandbox_enter(int channel, const char *kernel, const igi_codegen_limits *limits);

#endif
