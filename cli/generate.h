// SPDX-License-Identifier: Apache-2.0
// ingot generate: a language model that writes.
#ifndef INGOT_CLI_GENERATE_H
#define INGOT_CLI_GENERATE_H

#include <ingot/llm.h>

#include "core/memory.h"
#include "options.h"
#include "output.h"

typedef struct generation {
    // As given by the options:
    const char *model_path, *prompt, *prompt_file, *system, *backend;
    uint64_t most;  // tokens of an answer; 0: until it ends
    uint64_t context, threads, seed, top_k, repeat_last;
    double temperature, top_p, min_p, repeat_penalty;
    bool chat, hides_prompt;
    // Opened:
    ig_device *device;
    ig_gguf *file;
    ig_tokenizer *tokenizer;
    ig_model *model;
    ig_session *session;
    ig_sampler *sampler;
    // Tokens that are in the session.
    int32_t *past;
    uint64_t past_count, past_capacity;
} generation;

typedef struct answer {
    igi_text text;
    const char *end;  // why it ended: "end", "length" or "context"
    uint64_t prompt_tokens, known_tokens, tokens;
    uint64_t prompt_ns, ns;
} answer;

// All return CLI_CONTINUE, or the exit code after having said what is wrong.

// generate-text.c: goes on from `text`, and prints as it comes unless --json. What of the text is in the session
// already is not computed again.
int generate_answer(generation *g, const char *text, uint64_t length, bool special, answer *a);
void generate_report(const generation *g, const answer *a);
void generate_free_answer(answer *a);

// generate-chat.c: answers --prompt, or each line of stdin.
int generate_chat(generation *g);

#endif
