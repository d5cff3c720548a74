// SPDX-License-Identifier: Apache-2.0
// Chat formats.
#ifndef INGOT_LLM_CHAT_H
#define INGOT_LLM_CHAT_H

#include "llm/gguf.h"

#define IGI_CHAT_FIRST "\1"  // placeholders for the texts of the BOS and EOS tokens
#define IGI_CHAT_LAST "\2"

typedef struct igi_llm_chat_turn {
    char before[128], after[32];
} igi_llm_chat_turn;

typedef struct igi_llm_chat_style {
    igi_llm_chat_turn system, user, assistant;
    bool inside;       // the system message is put before the text of the first user message
    bool inside_last;  // or of the last one
    bool trim_user, trim_assistant;
    bool trim_together;  // where something is put before a text, only the end of the text is trimmed
    bool always;         // there is always a system turn
    ig_text unasked;     // its default text when no message is given for it
    bool unmarked;       // answers begin without a marker
} igi_llm_chat_style;

// Finds the format of the file's template. errors: UNSUPPORTED.
ig_status igi_llm_chat_style_find(const ig_gguf *file, igi_llm_chat_style *style);

static inline ig_text igi_llm_chat_after(ig_text text, const char *at) {
    return (ig_text){at, (uint64_t)(text.data + text.length - at)};
}
// The length of a line break at the start of the text, as a character or as Jinja's escape in a string; 0: none.
uint64_t igi_llm_chat_line_end(ig_text text);

#endif
