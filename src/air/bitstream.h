// SPDX-License-Identifier: Apache-2.0
// LLVM's bitstreams: walks the records of bitcode, and changes numbers in place. Bytes are hostile.
#ifndef INGOT_AIR_BITSTREAM_H
#define INGOT_AIR_BITSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The numbers of a record that are looked at; later ones are skipped.
enum { IGI_AIR_RECORD_NUMBERS = 24 };

typedef struct igi_air_number {
    uint64_t value;
    uint64_t bit;    // where it begins
    uint32_t width;  // 0: part of an abbreviation, which cannot be changed
    bool in_chunks;  // of `width` bits each, the highest of which says that another one follows
} igi_air_number;

typedef struct igi_air_record {
    uint32_t block, code;
    size_t count;  // of all its numbers
    igi_air_number numbers[IGI_AIR_RECORD_NUMBERS];
} igi_air_record;

typedef struct igi_air_visitor {
    bool (*wants)(uint32_t block);                         // false: it is skipped, with all blocks in it
    bool (*visit)(igi_air_record *record, void *context);  // returns false to stop
    void *context;
} igi_air_visitor;

// Returns false if the visitor stopped, if the bytes are no bitcode or if memory is short.
bool igi_air_walk_records(const char *bitcode, size_t length, const igi_air_visitor *visitor);

// pre: the value is no larger than the number was. Returns false if the number cannot be changed.
bool igi_air_change_number(char *bitcode, const igi_air_number *number, uint64_t value);

#endif
