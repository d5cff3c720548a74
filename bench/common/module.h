// SPDX-License-Identifier: Apache-2.0
// Peers in modules of their own, compiled for the machine that builds them.
#ifndef INGOT_BENCH_COMMON_MODULE_H
#define INGOT_BENCH_COMMON_MODULE_H

// Beside this program in a build directory, else where it was installed. NULL: there is none.
void *bench_load_module(const char *name);

#endif
