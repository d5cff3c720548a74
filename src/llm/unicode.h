// SPDX-License-Identifier: Apache-2.0
// Characters of UTF-8 and their classes.
#ifndef INGOT_LLM_UNICODE_H
#define INGOT_LLM_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A character is in one of them or in none (controls, unassigned, bytes that are not UTF-8). scripts/make-unicode.py
// has the same numbers.
enum {
    IGI_UPPER = 1,    // Lu, Lt
    IGI_LOWER = 2,    // Ll
    IGI_UNCASED = 4,  // Lm, Lo
    IGI_MARK = 8,
    IGI_NUMBER = 16,
    IGI_PUNCTUATION = 32,
    IGI_SYMBOL = 64,
    IGI_SPACE = 128,  // White_Space
    IGI_LETTER = IGI_UPPER | IGI_LOWER | IGI_UNCASED,
};

#define IGI_NO_CODE UINT32_MAX

typedef struct igi_llm_char {
    uint32_t code;   // IGI_NO_CODE: a byte that is not UTF-8, or the end of the text
    uint8_t length;  // in bytes; 0 at the end
    uint8_t class;
} igi_llm_char;

extern const uint8_t igi_llm_ascii_classes[128];
extern const uint32_t igi_llm_char_ranges[];
extern const uint16_t igi_llm_char_pages[];

uint8_t igi_llm_class_of(uint32_t code);
igi_llm_char igi_llm_wide_char_at(const uint8_t *at, const uint8_t *end);

// ---- Letters without case and accents ----

enum { IGI_MAX_BASES = 3 };

// unicode-folds.c. All are sorted; ranges are the first code point << 8 | how many follow it.
typedef struct igi_llm_base {
    uint32_t code, parts[IGI_MAX_BASES];
} igi_llm_base;

typedef struct igi_llm_case_run {
    uint32_t first, last, step;
    int32_t added;
} igi_llm_case_run;

extern const uint32_t igi_llm_accents[], igi_llm_accents_count;    // nonspacing marks (Mn)
extern const uint32_t igi_llm_controls[], igi_llm_controls_count;  // Cc, Cf
extern const igi_llm_base igi_llm_bases[];
extern const uint32_t igi_llm_base_count;
extern const igi_llm_case_run igi_llm_case_runs[];
extern const uint32_t igi_llm_case_run_count;

bool igi_llm_is_control(uint32_t code);  // also format characters and private use
uint32_t igi_llm_lower_of(uint32_t code);
// The canonical decomposition without accents. Returns how many code points it has: none if `code` is an accent.
uint32_t igi_llm_without_accents(uint32_t code, uint32_t parts[IGI_MAX_BASES]);

static inline igi_llm_char igi_llm_char_at(const uint8_t *at, const uint8_t *end) {
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a match that may be NULL is not dereferenced
    if (at < end && *at < 0x80) return (igi_llm_char){*at, 1, igi_llm_ascii_classes[*at]};
    return igi_llm_wide_char_at(at, end);
}

#endif
