// SPDX-License-Identifier: Apache-2.0
// The kernels and programs of the suites that are compiled or started when they run: they are part of ingot-bench.
#ifndef INGOT_BENCH_COMMON_SOURCES_H
#define INGOT_BENCH_COMMON_SOURCES_H

// By the name of the file, without its folder. pre: bench/meson.build lists it.
const char *bench_source(const char *name);

#endif
