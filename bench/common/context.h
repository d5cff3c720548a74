// SPDX-License-Identifier: Apache-2.0
// Options of the command line that suites use.
#ifndef INGOT_BENCH_COMMON_CONTEXT_H
#define INGOT_BENCH_COMMON_CONTEXT_H

#include <stdint.h>

#include "console/options.h"

typedef struct bench_context {
    uint64_t repeats;
    cli_list kernels;       // of the suites simt, ops, ring and halo; empty: all
    bool tune;              // the suite ops measures thresholds first
    uint64_t sustained_ns;  // of the suite ring
    const char *model;      // of the suite llm; NULL: INGOT_MODEL
} bench_context;

// Whether -k names it, or was not given.
bool bench_chosen(const bench_context *context, const char *name);
// Returns CLI_CONTINUE, or the exit code after reporting a name of -k that is not a `noun` of the suite.
int bench_check_chosen(const bench_context *context, const char *noun, const char *const *names, size_t count);

bool bench_contains(const char *const *names, size_t count, const char *name);

#endif
