// SPDX-License-Identifier: Apache-2.0
// Sites: where a checked kernel does something that may be wrong. The instrumented code identifies a site by its
// number; the table of sites is in the object file, as the symbol "ig.sites", so that it stays with the code.
#ifndef INGOT_SIMT_CHECKED_SITES_H
#define INGOT_SIMT_CHECKED_SITES_H

#include <stddef.h>
#include <stdint.h>

// What happens at a site.
typedef enum igi_simt_checked_act {
    IGI_ACT_READ,
    IGI_ACT_WRITE,
    IGI_ACT_ATOMIC_READ,
    IGI_ACT_ATOMIC_WRITE,  // stores, exchanges, additions...
    IGI_ACT_BARRIER,
    IGI_ACT_LANES,    // an operation among lanes
    IGI_ACT_BRANCH,   // depends on a value
    IGI_ACT_ADDRESS,  // depends on a value
    IGI_ACT_RESULT,   // a value is stored where the host or other threadgroups see it
    IGI_ACT_MAKE,     // a NaN or an infinity comes of finite numbers
    IGI_ACT_COUNT
} igi_simt_checked_act;

// Which memory is accessed, as far as the code shows.
typedef enum igi_simt_checked_space {
    IGI_SPACE_UNKNOWN,   // a pointer that was read from memory
    IGI_SPACE_BUFFER,    // a buffer argument
    IGI_SPACE_ARGUMENT,  // a threadgroup argument
    IGI_SPACE_VARIABLE,  // a threadgroup variable
    IGI_SPACE_PRIVATE,
    IGI_SPACE_CONSTANT,  // of the program
    IGI_SPACE_PART,      // a part of a buffer that __ig_part was called for
    IGI_SPACE_COUNT
} igi_simt_checked_space;

// What __ig_part is called for: numbers that src/msl/include/ring uses too.
typedef enum igi_simt_checked_part {
    IGI_PART_PAYLOAD,  // of the message that a ring kernel handles
    IGI_PART_STATE,    // of a ring kernel
    IGI_PART_OPENED,   // the payload of a message that it is about to send
    IGI_PART_COUNT
} igi_simt_checked_part;

typedef struct igi_simt_checked_site {
    uint32_t path;  // of strings: as clang was told; "" when not known
    uint32_t line, column;
    uint32_t object;  // of strings: name of the variable; "" for arguments
    uint32_t act;     // igi_simt_checked_act
    uint32_t space;   // igi_simt_checked_space
    uint32_t bytes;   // that are accessed
    uint32_t index;   // of the argument; of a threadgroup variable, where it begins in the threadgroup's memory; of a
                      // part, an igi_simt_checked_part
    uint32_t alignment;
} igi_simt_checked_site;

typedef struct igi_simt_checked_table {
    uint32_t count, string_bytes;
    igi_simt_checked_site sites[];  // then the strings, each with its NUL
} igi_simt_checked_table;

static inline const char *igi_simt_checked_string(const igi_simt_checked_table *table, uint32_t offset) {
    return (const char *)(table->sites + table->count) + (offset < table->string_bytes ? offset : 0);
}

#endif
