// SPDX-License-Identifier: Apache-2.0
// Formats of chats.
#ifndef INGOT_LLM_CHAT_H
#define INGOT_LLM_CHAT_H

#include "llm/gguf.h"

#define IGI_CHAT_FIRST "\1"  // placeholders for the text of the tokens that begin and end texts
#define IGI_CHAT_LAST "\2"

typedef struct igi_llm_chat_turn {
    char before[128], after[32];
} igi_llm_chat_turn;

typedef struct igi_llm_chat_style {
    igi_llm_chat_turn system, user, assistant;
    bool inside;       // what the system says stands before the text of the first message of the user
    bool inside_last;  // or of the last
    bool trim_user, trim_assistant;
    bool trim_together;  // only the end of a text that has something before it
    bool always;         // there is always something from the system
    ig_text unasked;     // which it says when there is no such message
    bool unmarked;       // answers begin without a mark
} igi_llm_chat_style;

// As the file's template has it. errors: UNSUPPORTED.
ig_status igi_llm_chat_style_find(const ig_gguf *file, igi_llm_chat_style *style);

static inline ig_text igi_llm_chat_after(ig_text text, const char *at) {
    return (ig_text){at, (uint64_t)(text.data + text.length - at)};
}
// Bytes of the line's end that the text starts with, as itself or as Jinja writes it in strings; 0: none.
uint64_t igi_llm_chat_line_end(ig_text text);

#endif
