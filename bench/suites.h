// SPDX-License-Identifier: Apache-2.0
// The suites of `ingot bench`, one folder each.
#ifndef INGOT_BENCH_SUITES_H
#define INGOT_BENCH_SUITES_H

#include "bench/common/context.h"

// Suites return CLI_CONTINUE, or the exit code after printing an error.
int bench_device(const bench_context *context);
int bench_simt(const bench_context *context);
int bench_ops(const bench_context *context);
int bench_ring(const bench_context *context);
int bench_halo(const bench_context *context);
int bench_check(const bench_context *context);
int bench_llm(const bench_context *context);

#endif
