// SPDX-License-Identifier: Apache-2.0
#include "llm/unicode.h"

#include <stdlib.h>
#include <string.h>

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

// ---- Letters without case and accents ----

static int compare_range(const void *code, const void *range) {
    uint32_t wanted = *(const uint32_t *)code, packed = *(const uint32_t *)range, first = packed >> 8;
    return (wanted > first + (packed & 0xFF)) - (wanted < first);
}

static int compare_run(const void *code, const void *run) {
    uint32_t wanted = *(const uint32_t *)code;
    const igi_llm_case_run *there = run;
    return (wanted > there->last) - (wanted < there->first);
}

static int compare_base(const void *code, const void *base) {
    uint32_t wanted = *(const uint32_t *)code, there = ((const igi_llm_base *)base)->code;
    return (wanted > there) - (wanted < there);
}

bool igi_llm_is_control(uint32_t code) {
    bool private_use = (code >= 0xE000 && code <= 0xF8FF) || code >= 0xF0000;
    return private_use ||
           bsearch(&code, igi_llm_controls, igi_llm_controls_count, sizeof *igi_llm_controls, compare_range);
}

uint32_t igi_llm_lower_of(uint32_t code) {
    const igi_llm_case_run *run =
        bsearch(&code, igi_llm_case_runs, igi_llm_case_run_count, sizeof *igi_llm_case_runs, compare_run);
    return run && (code - run->first) % run->step == 0 ? (uint32_t)((int32_t)code + run->added) : code;
}

// Unicode, section 3.12: the syllables are in the order of their parts.
static uint32_t split_syllable(uint32_t index, uint32_t parts[IGI_MAX_BASES]) {
    enum { VOWELS = 21, TAILS = 28 };
    uint32_t tail = index % TAILS;
    parts[0] = 0x1100 + index / (VOWELS * TAILS);
    parts[1] = 0x1161 + index / TAILS % VOWELS;
    if (tail) parts[2] = 0x11A7 + tail;
    return tail ? 3 : 2;
}

uint32_t igi_llm_without_accents(uint32_t code, uint32_t parts[IGI_MAX_BASES]) {
    if (bsearch(&code, igi_llm_accents, igi_llm_accents_count, sizeof *igi_llm_accents, compare_range)) return 0;
    if (code >= 0xAC00 && code < 0xAC00 + 11172) return split_syllable(code - 0xAC00, parts);
    const igi_llm_base *base = bsearch(&code, igi_llm_bases, igi_llm_base_count, sizeof *igi_llm_bases, compare_base);
    parts[0] = code;
    if (!base) return 1;
    memcpy(parts, base->parts, sizeof base->parts);
    return parts[2] ? 3 : parts[1] ? 2 : 1;
}
