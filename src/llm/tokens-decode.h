// SPDX-License-Identifier: Apache-2.0
// From the texts of tokens in files to the bytes they stand for, and back.
#ifndef INGOT_LLM_TOKENS_DECODE_H
#define INGOT_LLM_TOKENS_DECODE_H

#include "llm/tokenizer.h"

// Both return false when memory is short. pre: the types of all tokens are known.
bool igi_llm_tokens_decode(ig_tokenizer *tokenizer, const ig_text *texts);
bool igi_llm_tokens_index(ig_tokenizer *tokenizer);
void igi_llm_tokens_find_bytes(ig_tokenizer *tokenizer, const igi_llm_text_index *by_text);
void igi_llm_tokens_find_spaces(ig_tokenizer *tokenizer);

#endif
