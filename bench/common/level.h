// SPDX-License-Identifier: Apache-2.0
// The instructions that Ingot and its peers may use in a benchmark: INGOT_SIMT_ISA, or else INGOT_SIMD.
#ifndef INGOT_BENCH_COMMON_LEVEL_H
#define INGOT_BENCH_COMMON_LEVEL_H

// avx2, sse4.2; NULL: all that the CPU has.
const char *bench_level(void);
// Sets the environment in which OpenBLAS, PyTorch and NumPy use no other instructions. Before any of them is loaded.
void bench_limit_peers(void);

#endif
