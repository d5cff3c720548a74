// SPDX-License-Identifier: Apache-2.0
// Text from outside, made safe to display: control characters, and bytes that are not UTF-8, are escaped like "\x1b". A
// file name, source file or model can therefore not send escape sequences to a terminal.
#ifndef INGOT_CORE_VISIBLE_H
#define INGOT_CORE_VISIBLE_H

#include "core/memory.h"

// The length of the UTF-8 sequence at `text`, or 0 if there is none: overlong forms, surrogates and values past
// U+10FFFF are refused. pre: available > 0.
size_t igi_utf8_sequence(const char *text, size_t available);
// Writes the sequence of a code point and returns its length. pre: code <= 0x10FFFF.
size_t igi_utf8_put(uint32_t code, char to[4]);

// Whether all of it may be displayed on a line unchanged. Tabs may; newlines may not.
bool igi_is_visible(const char *bytes, size_t length);
// Appends the bytes; those that may not be displayed become \xHH.
void igi_text_add_visible(igi_text *text, const char *bytes, size_t length);
// The number of columns when displayed: a character or a tab counts one, an escape four.
size_t igi_visible_columns(const char *bytes, size_t length);

#endif
