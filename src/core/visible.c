// SPDX-License-Identifier: Apache-2.0
// Text from outside, made safe to display.
#include "core/visible.h"

#include <assert.h>
#include <string.h>

size_t igi_utf8_sequence(const char *bytes, size_t available) {
    static const struct {
        unsigned char first_low, first_high, second_low, second_high, length;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    const unsigned char *text = (const unsigned char *)bytes;
    assert(available > 0);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (text[0] < forms[i].first_low || text[0] > forms[i].first_high) continue;
        size_t length = forms[i].length;
        if (length > available) return 0;
        if (length > 1 && (text[1] < forms[i].second_low || text[1] > forms[i].second_high)) return 0;
        for (size_t k = 2; k < length; k++)
            if ((text[k] & 0xc0) != 0x80) return 0;
        return length;
    }
    return 0;
}

size_t igi_utf8_put(uint32_t code, char to[4]) {
    assert(code <= 0x10FFFF);
    if (code < 0x80) return to[0] = (char)code, 1;
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6) to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)((length == 2 ? 0xc0 : length == 3 ? 0xe0 : 0xf0) | code);
    return length;
}

// The length of the character at `bytes` if it may be displayed, else 0. U+0080 to U+009F are control characters too.
static size_t visible_character(const char *bytes, size_t available) {
    unsigned char first = (unsigned char)bytes[0];
    if (first == '\t') return 1;
    if (first < 0x20 || first == 0x7f) return 0;
    size_t length = igi_utf8_sequence(bytes, available);
    bool control = length == 2 && first == 0xc2 && (unsigned char)bytes[1] < 0xa0;
    return control ? 0 : length;
}

bool igi_is_visible(const char *bytes, size_t length) {
    for (size_t i = 0, character; i < length; i += character) {
        character = visible_character(bytes + i, length - i);
        if (character == 0) return false;
    }
    return true;
}

void igi_text_add_visible(igi_text *text, const char *bytes, size_t length) {
    for (size_t i = 0; i < length;) {
        size_t character = visible_character(bytes + i, length - i);
        if (character)
            igi_text_append(text, bytes + i, character);
        else
            igi_text_addf(text, "\\x%02x", (unsigned char)bytes[i]);
        i += character ? character : 1;
    }
}

size_t igi_visible_columns(const char *bytes, size_t length) {
    size_t columns = 0;
    for (size_t i = 0; i < length;) {
        size_t character = visible_character(bytes + i, length - i);
        columns += character ? 1 : strlen("\\xHH");
        i += character ? character : 1;
    }
    return columns;
}
