// SPDX-License-Identifier: Apache-2.0
// The kernels and programs that suites compile or start at run time: they are embedded in ingot-bench.
#ifndef INGOT_BENCH_COMMON_SOURCES_H
#define INGOT_BENCH_COMMON_SOURCES_H

// By the name of the file, without its folder. pre: bench/meson.build lists it.
const char *bench_source(const char *name);

#endif
