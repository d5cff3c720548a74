// SPDX-License-Identifier: Apache-2.0
// ingot generate: text from a language model.
#ifndef INGOT_CLI_GENERATE_H
#define INGOT_CLI_GENERATE_H

#include <ingot/llm.h>

#include "console/options.h"
#include "console/output.h"
#include "core/memory.h"

typedef struct generation {
    // As given by the options:
    const char *model_path, *prompt, *prompt_file, *system, *backend;
    uint64_t most;  // tokens of an answer; 0: until it ends
    uint64_t context, threads, seed, top_k, repeat_last;
    double temperature, top_p, min_p, repeat_penalty;
    int cache_type;  // index into cache_types
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
    const char *end;  // why it ended: "end", "length", "context" or "interrupted"
    size_t shown;     // bytes of the text that have been printed
    uint64_t prompt_tokens, known_tokens, tokens;
    uint64_t prompt_ns, ns;
} answer;

// All return CLI_CONTINUE, or the exit code after printing an error.

// generate-text.c: continues `text`, which is printed first if `echo`, and prints the answer as it is generated unless
// --json. Text that the session already holds is not evaluated again. Ends early if the user interrupts it.
int generate_answer(generation *g, const char *text, uint64_t length, bool special, bool echo, answer *a);
void generate_report(const generation *g, const answer *a);
void generate_free_answer(answer *a);

// generate-interrupt.c: the first Ctrl-C sets a flag, which ends an answer or the wait for a message; a second one, if
// the flag has not been checked yet, ends the process.
void generate_catch_interrupts(void);
bool generate_is_interrupted(void);
void generate_forget_interrupt(void);

// generate-chat.c: answers --prompt, or each line of stdin.
int generate_chat(generation *g);

#endif
