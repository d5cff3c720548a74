// SPDX-License-Identifier: Apache-2.0
// The published regular expressions, written by hand: the first alternative that matches wins, and takes as much as it
// can.
#include <string.h>

#include "llm/pretokenize.h"
#include "llm/unicode.h"

static bool in_ranges(const igi_llm_char_range *ranges, uint32_t code) {
    for (; ranges && ranges->last; ranges++)
        if (code <= ranges->last) return code >= ranges->first;
    return false;
}

static bool is_newline(igi_llm_char c) {
    return c.code == '\n' || c.code == '\r';
}

static const uint8_t *skip(const uint8_t *at, const uint8_t *end, uint8_t classes) {
    for (igi_llm_char c; (c = igi_llm_char_at(at, end)).class & classes;) at += c.length;
    return at;
}

static const uint8_t *skip_others(const uint8_t *at, const uint8_t *end, uint8_t classes) {
    for (igi_llm_char c; (c = igi_llm_char_at(at, end)).length && !(c.class & classes);) at += c.length;
    return at;
}

static const uint8_t *skip_tail(const igi_llm_stage *stage, const uint8_t *at, const uint8_t *end) {
    while (at < end && *at && strchr(stage->tail, *at)) at++;
    return at;
}

// ---- Runs ----

static const uint8_t *run(const igi_llm_stage *stage, const uint8_t *at, const uint8_t *end) {
    uint32_t count = 0;
    for (igi_llm_char c; at < end && (!stage->most || count < stage->most); at += c.length, count++) {
        c = igi_llm_char_at(at, end);
        if (!(c.class & stage->classes) && !in_ranges(stage->ranges, c.code)) break;
    }
    return count && count >= stage->least ? at : NULL;
}

const uint8_t *igi_llm_match_run(const igi_llm_stage *stage, const uint8_t *from, const uint8_t *at,
                                 const uint8_t *end) {
    (void)from;
    igi_llm_char c = igi_llm_char_at(at, end);
    if (stage->after_space && c.class & IGI_SPACE) {
        const uint8_t *match = run(stage, at + c.length, end);
        if (match) return match;
    }
    return run(stage, at, end);
}

static bool follows_space(const uint8_t *from, const uint8_t *at) {
    const uint8_t *before = at;
    while (before > from && at - before < 4)
        if ((*--before & 0xC0) != 0x80) break;
    return before < at && igi_llm_char_at(before, at).class & IGI_SPACE;
}

const uint8_t *igi_llm_match_trailing_space(const igi_llm_stage *stage, const uint8_t *from, const uint8_t *at,
                                            const uint8_t *end) {
    (void)stage;
    // Inside a run that did not match from its beginning. Scanning the rest of it at every position would take
    // quadratic time.
    if (follows_space(from, at)) return NULL;
    const uint8_t *match = skip(at, end, IGI_SPACE);
    return match > at && match == end ? match : NULL;
}

// ---- Parts of words ----

// A letter of a contraction, 0 for others. If case is ignored, the long s counts as an s.
static char contraction_letter(const uint8_t **at, const uint8_t *end, bool any_case) {
    igi_llm_char c = igi_llm_char_at(*at, end);
    *at += c.length;
    if (c.code >= 'a' && c.code <= 'z') return (char)c.code;
    if (any_case && c.code >= 'A' && c.code <= 'Z') return (char)(c.code - 'A' + 'a');
    return any_case && c.code == 0x17F ? 's' : 0;
}

// 's, 't, 'm, 'd, 're, 've, 'll
static const uint8_t *contraction(const uint8_t *at, const uint8_t *end, bool any_case) {
    if (at == end || *at != '\'') return NULL;
    at++;
    char first = contraction_letter(&at, end, any_case);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return at;
    char second = contraction_letter(&at, end, any_case);
    bool found = second == 'e' ? first == 'r' || first == 'v' : second == 'l' && first == 'l';
    return found ? at : NULL;
}

// `\s+(?!\S)|\s+`: the last space is left for what follows; with `lines`, `\s*[\r\n]+` is tried first.
static const uint8_t *spaces(const uint8_t *at, const uint8_t *end, bool lines) {
    const uint8_t *last = at, *line = NULL, *next = at;
    for (igi_llm_char c; (c = igi_llm_char_at(next, end)).class & IGI_SPACE; next += c.length) {
        last = next;
        if (is_newline(c)) line = next + 1;
    }
    if (lines && line) return line;
    if (next == at) return NULL;
    return next == end || last == at ? next : last;
}

// ` ?[^\s...]+` and the tail
static const uint8_t *punctuation(const igi_llm_stage *stage, const uint8_t *at, const uint8_t *end) {
    const uint8_t *begin = at + (*at == ' ');  // NOLINT(clang-analyzer-core.NullDereference): `at` is never NULL
    const uint8_t *match = skip_others(begin, end, IGI_SPACE | IGI_NUMBER | stage->classes);
    return match > begin ? skip_tail(stage, match, end) : NULL;
}

static const uint8_t *numbers(const igi_llm_stage *stage, const uint8_t *at, const uint8_t *end) {
    for (uint32_t i = 0; i < stage->most; i++) {
        igi_llm_char c = igi_llm_char_at(at, end);
        if (!(c.class & IGI_NUMBER)) break;
        at += c.length;
    }
    return at;
}

static const uint8_t *no_word(const igi_llm_stage *stage, const uint8_t *at, const uint8_t *end) {
    const uint8_t *match = numbers(stage, at, end);
    if (match > at) return match;
    match = punctuation(stage, at, end);
    return match ? match : spaces(at, end, true);
}

// ---- Words ----

// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
const uint8_t *igi_llm_match_gpt2_word(const igi_llm_stage *stage, const uint8_t *from, const uint8_t *at,
                                       const uint8_t *end) {
    (void)stage, (void)from;
    const uint8_t *match = contraction(at, end, false);
    if (match) return match;
    const uint8_t *begin = at + (*at == ' ');
    igi_llm_char c = igi_llm_char_at(begin, end);
    if (!c.length || c.class & IGI_SPACE) return spaces(at, end, false);
    uint8_t same = c.class & IGI_LETTER ? IGI_LETTER : c.class & IGI_NUMBER;
    return same ? skip(begin, end, same) : skip_others(begin, end, IGI_SPACE | IGI_LETTER | IGI_NUMBER);
}

// Where a word may begin: after one character that is in none of the classes and not a newline, or without it.
static int word_starts(const uint8_t *at, const uint8_t *end, uint8_t classes, const uint8_t *starts[2]) {
    igi_llm_char c = igi_llm_char_at(at, end);
    int count = 0;
    if (!is_newline(c) && !(c.class & classes)) starts[count++] = at + c.length;
    starts[count++] = at;
    return count;
}

// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|...`
const uint8_t *igi_llm_match_word(const igi_llm_stage *stage, const uint8_t *from, const uint8_t *at,
                                  const uint8_t *end) {
    (void)from;
    const uint8_t *match = contraction(at, end, true), *starts[2];
    if (match) return match;
    int count = word_starts(at, end, IGI_LETTER | IGI_NUMBER, starts);
    for (int i = 0; i < count; i++) {
        match = skip(starts[i], end, stage->classes);
        if (match > starts[i]) return match;
    }
    return no_word(stage, at, end);
}

enum { CAN_BEGIN = IGI_UPPER | IGI_UNCASED | IGI_MARK, CAN_END = IGI_LOWER | IGI_UNCASED | IGI_MARK };

// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`: if no lower case follows, it ends after the last letter
// without case.
static const uint8_t *word_to_lower(const uint8_t *at, const uint8_t *end) {
    const uint8_t *uncased = NULL;
    for (igi_llm_char c; (c = igi_llm_char_at(at, end)).class & CAN_BEGIN;) {
        at += c.length;
        if (c.class & CAN_END) uncased = at;
    }
    const uint8_t *match = skip(at, end, CAN_END);
    return match > at ? match : uncased;
}

// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
static const uint8_t *word_from_upper(const uint8_t *at, const uint8_t *end) {
    const uint8_t *match = skip(at, end, CAN_BEGIN);
    return match > at ? skip(match, end, CAN_END) : NULL;
}

const uint8_t *igi_llm_match_cased_word(const igi_llm_stage *stage, const uint8_t *from, const uint8_t *at,
                                        const uint8_t *end) {
    (void)from;
    const uint8_t *starts[2], *match = NULL;
    int count = word_starts(at, end, IGI_LETTER | IGI_NUMBER, starts);
    for (int i = 0; i < count && !match; i++) match = word_to_lower(starts[i], end);
    for (int i = 0; i < count && !match; i++) match = word_from_upper(starts[i], end);
    if (!match) return no_word(stage, at, end);
    const uint8_t *longer = stage->contractions ? contraction(match, end, true) : NULL;
    return longer ? longer : match;
}

static const uint8_t *skip_ascii_letters(const uint8_t *at, const uint8_t *end) {
    while (at < end && *at < 0x80 && igi_llm_ascii_classes[*at] & IGI_LETTER) at++;
    return at;
}

// `[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
const uint8_t *igi_llm_match_deepseek_word(const igi_llm_stage *stage, const uint8_t *from, const uint8_t *at,
                                           const uint8_t *end) {
    (void)from;
    const uint8_t signs = IGI_PUNCTUATION | IGI_SYMBOL, *starts[2], *match;
    if (*at < 0x80 && igi_llm_ascii_classes[*at] & signs) {
        match = skip_ascii_letters(at + 1, end);
        if (match > at + 1) return match;
    }
    int count = word_starts(at, end, IGI_LETTER | signs, starts);
    for (int i = 0; i < count; i++) {
        match = skip(starts[i], end, IGI_LETTER | IGI_MARK);
        if (match > starts[i]) return match;
    }
    const uint8_t *begin = at + (*at == ' ');
    match = skip(begin, end, signs);
    return match > begin ? skip_tail(stage, match, end) : spaces(at, end, true);
}
