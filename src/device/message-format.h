// SPDX-License-Identifier: Apache-2.0
// Messages of kernels as text. The format comes from a kernel and is not trusted: it is read here, directive by directive,
// and what is printed depends on the arguments that there are, not on those it asks for.
#ifndef INGOT_DEVICE_MESSAGE_FORMAT_H
#define INGOT_DEVICE_MESSAGE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "core/memory.h"
#include "msl/log-layout.h"

enum { IGI_MESSAGE_MOST_ARGUMENTS = 32, IGI_MESSAGE_MOST_ELEMENTS = 4, IGI_MESSAGE_LONGEST = 4096 };

typedef struct igi_device_message_argument {
    igi_log_kind kind;
    uint32_t element_bytes, count;
    uint64_t elements[IGI_MESSAGE_MOST_ELEMENTS];
    const char *text;  // of kind TEXT
    size_t text_length;
} igi_device_message_argument;

// %[-+ #0][width][.precision][v2|v3|v4][hh|h|hl|l|ll] and one of d i u o x X c p s f F e E g G a A; %%. Elements of vectors
// are separated by commas. Arguments are converted to what the directive prints. A directive without an argument, or of
// another form, is copied as it is. At most IGI_MESSAGE_LONGEST bytes.
void igi_device_message_format(igi_text *text, const char *format, size_t length,
                               const igi_device_message_argument *arguments, size_t count);

#endif
