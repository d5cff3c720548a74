// SPDX-License-Identifier: Apache-2.0
// `ingot info TRACE.json`: what kernels cost, from a trace.
#ifndef INGOT_CLI_INFO_TRACE_H
#define INGOT_CLI_INFO_TRACE_H

// Returns the exit code, after having shown the table or said what is wrong.
int info_trace(const char *path);

#endif
