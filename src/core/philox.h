// SPDX-License-Identifier: Apache-2.0
// Random numbers by position: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, 2011).
//
// Element i of a tensor is word i % 4 of the block whose counter is i / 4. src/kernels has the same in MSL.
#ifndef INGOT_CORE_PHILOX_H
#define INGOT_CORE_PHILOX_H

#include <math.h>
#include <stdint.h>

typedef struct igi_philox_block {
    uint32_t word[4];
} igi_philox_block;

static inline igi_philox_block igi_philox(uint64_t seed, uint64_t counter) {
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    igi_philox_block b = {{(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0}};
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)b.word[0] * 0xd2511f53u, p1 = (uint64_t)b.word[2] * 0xcd9e8d57u;
        b = (igi_philox_block){{(uint32_t)(p1 >> 32) ^ b.word[1] ^ key0, (uint32_t)p1,
                                (uint32_t)(p0 >> 32) ^ b.word[3] ^ key1, (uint32_t)p0}};
        key0 += 0x9e3779b9u, key1 += 0xbb67ae85u;
    }
    return b;
}

// In [0, 1), with as many bits as the type of the result holds exactly: 24, 11 or 8.
static inline float igi_uniform(uint32_t word, uint32_t bits) {
    return ldexpf((float)(word >> (32 - bits)), -(int)bits);
}

// In (0, 1], for the logarithm of Box and Muller.
static inline float igi_uniform_above_zero(uint32_t word) {
    return (float)((word >> 8) + 1) * 0x1p-24F;
}

#endif
