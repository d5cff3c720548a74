// SPDX-License-Identifier: Apache-2.0
#include "llm/unicode.h"

#include <stdbool.h>

uint8_t igi_llm_class_of(uint32_t code) {
    if (code > 0x10FFFF) return 0;
    uint32_t low = igi_llm_char_pages[code >> 8], high = igi_llm_char_pages[(code >> 8) + 1] + 1u;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (igi_llm_char_ranges[middle] >> 8 <= code)
            low = middle;
        else
            high = middle;
    }
    return igi_llm_char_ranges[low] & 0xFF;
}

// Surrogates, codes past the last one and overlong forms are not UTF-8.
static bool is_valid(uint32_t code, uint32_t length) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    return code >= least[length] && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
}

static uint32_t length_by_lead(uint8_t lead) {
    return lead >= 0xF0 ? lead < 0xF8 ? 4 : 0 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 0;
}

igi_llm_char igi_llm_wide_char_at(const uint8_t *at, const uint8_t *end) {
    if (at >= end) return (igi_llm_char){IGI_NO_CODE, 0, 0};
    const igi_llm_char byte = {IGI_NO_CODE, 1, 0};
    uint32_t length = length_by_lead(*at);
    if (!length || (size_t)(end - at) < length) return byte;
    uint32_t code = *at & (0x7Fu >> length);
    for (uint32_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return byte;
        code = code << 6 | (at[i] & 0x3F);
    }
    return is_valid(code, length) ? (igi_llm_char){code, (uint8_t)length, igi_llm_class_of(code)} : byte;
}
