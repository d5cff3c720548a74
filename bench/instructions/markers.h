// SPDX-License-Identifier: Apache-2.0
// Instructions of 64-bit ARM that do nothing, and that no compiler generates.
#ifndef INGOT_BENCH_INSTRUCTIONS_MARKERS_H
#define INGOT_BENCH_INSTRUCTIONS_MARKERS_H

#define MARKER_BEGIN 100
#define MARKER_END 101
#define MARKER_WORD(number) (0xD503201Fu | (uint32_t)(number) << 5)

#if defined(__aarch64__)
#define MARKER(number) __asm__ volatile("hint %0" : : "i"(number) : "memory")
#else
#define MARKER(number) __asm__ volatile("" : : : "memory")
#endif

#endif
