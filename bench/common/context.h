// SPDX-License-Identifier: Apache-2.0
// What the command line asked of the suites.
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

// Whether -k names it, or nothing.
bool bench_chosen(const bench_context *context, const char *name);
// CLI_CONTINUE, or the exit code after having said which name of -k is not a `noun` of the suite.
int bench_check_chosen(const bench_context *context, const char *noun, const char *const *names, size_t count);

bool bench_contains(const char *const *names, size_t count, const char *name);

#endif
