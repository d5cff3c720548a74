// SPDX-License-Identifier: Apache-2.0
// The sections of a Mach-O program or library of 64 bits, for one processor or for several. Nothing in it is trusted.
#ifndef INGOT_AIR_MACHO_H
#define INGOT_AIR_MACHO_H

#include "air/container.h"
#include "core/bytes.h"

bool igi_air_is_macho(const char *bytes, size_t length);

typedef struct igi_air_macho {
    const char *bytes;  // for one processor
    size_t length;
    igi_reader commands, sections;
    uint32_t commands_left, sections_left;
    bool failed;  // it is damaged
} igi_air_macho;

// Of a file for several processors, the first is used: their data are the same.
igi_air_macho igi_air_macho_open(const char *bytes, size_t length);
// The next section that has bytes in the file: its name and place. False after the last one, and when it is damaged.
bool igi_air_macho_next(igi_air_macho *macho, igi_air_part *section);

#endif
