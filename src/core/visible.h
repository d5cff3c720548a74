// SPDX-License-Identifier: Apache-2.0
// Text from outside as it may be shown: control characters, and bytes that are not UTF-8, become "\x1b". A terminal
// never sees an escape sequence that it was sent by a file name, a source file or a model.
#ifndef INGOT_CORE_VISIBLE_H
#define INGOT_CORE_VISIBLE_H

#include "core/memory.h"

// Bytes of the UTF-8 sequence at `text`, or 0 when there is none: no overlong forms, surrogates or values past
// U+10FFFF. pre: available > 0.
size_t igi_utf8_sequence(const char *text, size_t available);

// Whether all of it may be shown on a line as it is. Tabs may; newlines may not.
bool igi_is_visible(const char *bytes, size_t length);
// Appends the bytes, those that may not be shown as \xHH.
void igi_text_add_visible(igi_text *text, const char *bytes, size_t length);
// Columns that it takes when shown: a character or a tab counts one, an escape four.
size_t igi_visible_columns(const char *bytes, size_t length);

#endif
