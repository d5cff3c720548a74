// SPDX-License-Identifier: Apache-2.0
#include "ring/checksum.h"

#include <assert.h>
#include <ingot/ring.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>

#include "core/host.h"
#endif

static igi_ring_crc_tables tables;

static void fill_tables(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        tables[0][i] = crc;
    }
    for (int t = 1; t < IGI_CRC_TABLES; t++)
        for (uint32_t i = 0; i < 256; i++) tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 255];
}

const igi_ring_crc_tables *igi_ring_crc_get_tables(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_tables);
    return (const igi_ring_crc_tables *)&tables;
}

static uint32_t add_eight(const igi_ring_crc_tables *t, uint32_t crc, const unsigned char *bytes) {
    uint32_t low, high;
    memcpy(&low, bytes, 4), memcpy(&high, bytes + 4, 4);
    low ^= crc;
    return (*t)[7][low & 255] ^ (*t)[6][low >> 8 & 255] ^ (*t)[5][low >> 16 & 255] ^ (*t)[4][low >> 24] ^
           (*t)[3][high & 255] ^ (*t)[2][high >> 8 & 255] ^ (*t)[1][high >> 16 & 255] ^ (*t)[0][high >> 24];
}

static uint32_t add_by_tables(uint32_t crc, const unsigned char *at, uint64_t count) {
    const igi_ring_crc_tables *t = igi_ring_crc_get_tables();
    for (; count >= 8; count -= 8, at += 8) crc = add_eight(t, crc, at);
    for (; count; count--, at++) crc = (*t)[0][(crc ^ *at) & 255] ^ crc >> 8;
    return crc;
}

// ---- By instructions ----
// ARM has one for this polynomial. x86-64 has carry-less multiplication, sixteen bytes at a time, as in Gopal et al.,
// Fast CRC Computation Using PCLMULQDQ (2009): constants are powers of x modulo the polynomial, bits reversed.

#if defined(__x86_64__)
#define WITH_PCLMUL __attribute__((target("pclmul,sse4.1")))

static const uint64_t fold_by_128[2] = {0x1751997d0, 0x0ccaa009e};
static const uint64_t fold_by_64 = 0x163cd6124;
static const uint64_t barrett[2] = {0x1db710641, 0x1f7011641};

WITH_PCLMUL static __m128i fold(__m128i sum, __m128i next, __m128i by) {
    __m128i low = _mm_clmulepi64_si128(sum, by, 0x00), high = _mm_clmulepi64_si128(sum, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

WITH_PCLMUL static uint32_t reduce(__m128i sum, __m128i by) {
    const __m128i low_word = _mm_setr_epi32(-1, 0, 0, 0), poly = _mm_loadu_si128((const __m128i *)barrett);
    sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, by, 0x10));
    sum = _mm_xor_si128(_mm_srli_si128(sum, 4), _mm_clmulepi64_si128(_mm_and_si128(sum, low_word),
                                                                     _mm_cvtsi64_si128((long long)fold_by_64), 0x00));
    __m128i quotient = _mm_and_si128(_mm_clmulepi64_si128(_mm_and_si128(sum, low_word), poly, 0x10), low_word);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(sum, _mm_clmulepi64_si128(quotient, poly, 0x00)), 1);
}

// pre: count is a multiple of 16 and not 0.
WITH_PCLMUL static uint32_t add_in_hardware(uint32_t crc, const unsigned char *at, uint64_t count) {
    assert(count && count % 16 == 0);
    const __m128i by = _mm_loadu_si128((const __m128i *)fold_by_128);
    __m128i sum = _mm_xor_si128(_mm_loadu_si128((const __m128i *)at), _mm_cvtsi32_si128((int)crc));
    for (uint64_t i = 16; i < count; i += 16) sum = fold(sum, _mm_loadu_si128((const __m128i *)(at + i)), by);
    return reduce(sum, by);
}

static bool has_hardware(void) {
    return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}
#elif defined(__aarch64__)
// pre: count is a multiple of 16
__attribute__((target("+crc"))) static uint32_t add_in_hardware(uint32_t crc, const unsigned char *at, uint64_t count) {
    assert(count % 16 == 0);
    for (uint64_t i = 0; i < count; i += 8) {
        uint64_t eight;
        memcpy(&eight, at + i, sizeof eight);
        crc = __crc32d(crc, eight);
    }
    return crc;
}

static bool has_hardware(void) {
    return igi_host_has_feature(IGI_HOST_CRC32);
}
#else
static uint32_t add_in_hardware(uint32_t crc, const unsigned char *at, uint64_t count) {
    return add_by_tables(crc, at, count);
}

static bool has_hardware(void) {
    return false;
}
#endif

uint32_t igi_ring_crc32(const void *bytes, uint64_t count) {
    const unsigned char *at = bytes;
    uint64_t whole = count & ~15ull;
    uint32_t crc = ~0u;
    if (!whole || !has_hardware()) return ~add_by_tables(crc, at, count);
    crc = add_in_hardware(crc, at, whole);
    return ~(count == whole ? crc : add_by_tables(crc, at + whole, count - whole));
}

uint32_t ig_message_checksum(const void *payload, uint64_t bytes) {
    return igi_ring_crc32(payload, bytes);
}
