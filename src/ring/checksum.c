// SPDX-License-Identifier: Apache-2.0
#include "ring/checksum.h"

#include <ingot/ring.h>
#include <pthread.h>
#include <string.h>

static igi_crc_tables tables;

static void fill_tables(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        tables[0][i] = crc;
    }
    for (int t = 1; t < IGI_CRC_TABLES; t++)
        for (uint32_t i = 0; i < 256; i++) tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 255];
}

const igi_crc_tables *igi_crc_get_tables(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_tables);
    return (const igi_crc_tables *)&tables;
}

static uint32_t add_eight(const igi_crc_tables *t, uint32_t crc, const unsigned char *bytes) {
    uint32_t low, high;
    memcpy(&low, bytes, 4), memcpy(&high, bytes + 4, 4);
    low ^= crc;
    return (*t)[7][low & 255] ^ (*t)[6][low >> 8 & 255] ^ (*t)[5][low >> 16 & 255] ^ (*t)[4][low >> 24] ^
           (*t)[3][high & 255] ^ (*t)[2][high >> 8 & 255] ^ (*t)[1][high >> 16 & 255] ^ (*t)[0][high >> 24];
}

uint32_t igi_crc32(const void *bytes, uint64_t count) {
    const igi_crc_tables *t = igi_crc_get_tables();
    const unsigned char *at = bytes;
    uint32_t crc = ~0u;
    for (; count >= 8; count -= 8, at += 8) crc = add_eight(t, crc, at);
    for (; count; count--, at++) crc = (*t)[0][(crc ^ *at) & 255] ^ crc >> 8;
    return ~crc;
}

uint32_t ig_message_checksum(const void *payload, uint64_t bytes) {
    return igi_crc32(payload, bytes);
}
