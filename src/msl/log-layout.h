// SPDX-License-Identifier: Apache-2.0
// The memory into which kernels write messages, as words of 32 bits. src/msl/stdlib/metal_logging writes it,
// src/device/messages.c reads it, and trusts nothing in it: a kernel can write anything there.
//
// First the header. Then records, one after the other: its length in words (0: nothing more was written), level and number
// of arguments << 8, the texts of subsystem, category and format, the arguments.
// A text is its length in bytes, then the bytes, padded to whole words.
// An argument is kind | bytes of an element << 8 | elements << 16, then two words for each element (the lower first); a float
// has its bits in the first. An argument of kind TEXT is a text instead of elements.
#ifndef INGOT_MSL_LOG_LAYOUT_H
#define INGOT_MSL_LOG_LAYOUT_H

enum {
    IGI_LOG_USED = 0,      // words of records, also of those that found no room
    IGI_LOG_LOST = 1,      // messages that found no room
    IGI_LOG_CAPACITY = 2,  // words of records that fit
    IGI_LOG_HEADER = 4,    // words
    IGI_LOG_LONGEST_TEXT = 1024,
};

typedef enum igi_log_kind {
    IGI_LOG_SIGNED = 1,
    IGI_LOG_UNSIGNED = 2,
    IGI_LOG_FLOAT = 3,
    IGI_LOG_POINTER = 4,
    IGI_LOG_TEXT = 5,
} igi_log_kind;

#endif
