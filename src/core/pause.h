// SPDX-License-Identifier: Apache-2.0
// A pause inside a loop that waits for another core.
#ifndef INGOT_CORE_PAUSE_H
#define INGOT_CORE_PAUSE_H

static inline void igi_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
