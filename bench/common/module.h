// SPDX-License-Identifier: Apache-2.0
// Peers in separate modules, compiled for the machine that builds them, and again for each level of level.h.
#ifndef INGOT_BENCH_COMMON_MODULE_H
#define INGOT_BENCH_COMMON_MODULE_H

// The module of that name next to this program, for bench_level(). NULL: there is none.
void *bench_load_module(const char *name);

#endif
