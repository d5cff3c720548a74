// SPDX-License-Identifier: Apache-2.0
// Splitting text into pieces before byte pairs are merged: no token extends across the end of a piece. Every family of
// models has its own rules, published as regular expressions; here they are tables of stages.
#ifndef INGOT_LLM_PRETOKENIZE_H
#define INGOT_LLM_PRETOKENIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct igi_llm_char_range {
    uint32_t first, last;
} igi_llm_char_range;

struct igi_llm_stage;
// The end of the match that begins at `at`; NULL: none does. pre: from <= at < end; nothing matches between `from` and
// `at`.
typedef const uint8_t *igi_llm_matcher(const struct igi_llm_stage *stage, const uint8_t *from, const uint8_t *at,
                                       const uint8_t *end);

// A stage splits the pieces of the previous stage at both ends of everything that it matches.
typedef struct igi_llm_stage {
    igi_llm_matcher *match;            // NULL: there are no more stages
    const igi_llm_char_range *ranges;  // characters of runs or words, ascending, {0, 0} after the last
    const char *tail;                  // characters that follow punctuation in its token
    uint32_t least, most;              // length of a run, or digits per number; most 0: no limit
    uint8_t classes;                   // characters of these classes, in addition to the ranges
    bool after_space;                  // one space before the run belongs to it
    bool contractions;                 // words include contractions that follow them ("'s")
} igi_llm_stage;

igi_llm_matcher igi_llm_match_run;             // `[...]{least,most}`, `\s?[...]+`
igi_llm_matcher igi_llm_match_trailing_space;  // `\s+$`
igi_llm_matcher igi_llm_match_gpt2_word;
igi_llm_matcher igi_llm_match_word;           // Llama 3 and its relatives
igi_llm_matcher igi_llm_match_cased_word;     // splits where lower case ends and upper case begins
igi_llm_matcher igi_llm_match_deepseek_word;  // of version 3

typedef struct igi_llm_splitter {
    const char *names;  // as in tokenizer.ggml.pre, with spaces between them
    const igi_llm_stage *stages;
    bool whole_pieces;  // a piece that is a token becomes that token, however its bytes would merge
    bool adds_first;    // texts begin with the BOS token unless the file says otherwise
} igi_llm_splitter;

// NULL: unknown.
const igi_llm_splitter *igi_llm_splitter_find(const char *name, size_t length);

// Returns false to end the splitting.
typedef bool igi_llm_take_piece(void *context, const char *piece, size_t length);
// Passes all bytes of the text to `take`, in order. Returns false if `take` stopped it.
bool igi_llm_split(const igi_llm_splitter *splitter, const char *text, size_t length, igi_llm_take_piece *take,
                   void *context);

#endif
