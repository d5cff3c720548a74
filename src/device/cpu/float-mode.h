// SPDX-License-Identifier: Apache-2.0
// Rounding and denormals while kernels run; the settings of the host's threads are restored afterwards.
#ifndef INGOT_DEVICE_CPU_FLOAT_MODE_H
#define INGOT_DEVICE_CPU_FLOAT_MODE_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
static inline uint64_t igi_device_float_mode_get(void) {
    return _mm_getcsr();
}
static inline void igi_device_float_mode_set(uint64_t mode) {
    _mm_setcsr((unsigned)mode);
}
// Round to nearest, no traps; flush: denormal operands and results count as zero, as on Apple's GPUs.
static inline uint64_t igi_device_float_mode_kernel(bool flush) {
    return flush ? 0x1f80 | 0x8040 : 0x1f80;
}
#elif defined(__aarch64__)
static inline uint64_t igi_device_float_mode_get(void) {
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
static inline void igi_device_float_mode_set(uint64_t mode) {
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}
static inline uint64_t igi_device_float_mode_kernel(bool flush) {
    return flush ? 1u << 24 : 0;
}
#else
static inline uint64_t igi_device_float_mode_get(void) {
    return 0;
}
static inline void igi_device_float_mode_set(uint64_t mode) {
    (void)mode;
}
static inline uint64_t igi_device_float_mode_kernel(bool flush) {
    return flush;
}
#endif

#endif
