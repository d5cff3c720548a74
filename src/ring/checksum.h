// SPDX-License-Identifier: Apache-2.0
// CRC-32 as in Ethernet and zlib, eight bytes at a time; kernels use the same tables.
#ifndef INGOT_RING_CHECKSUM_H
#define INGOT_RING_CHECKSUM_H

#include <stdint.h>

enum { IGI_CRC_TABLES = 8 };
typedef uint32_t igi_ring_crc_tables[IGI_CRC_TABLES][256];

const igi_ring_crc_tables *igi_ring_crc_get_tables(void);
uint32_t igi_ring_crc32(const void *bytes, uint64_t count);

#endif
