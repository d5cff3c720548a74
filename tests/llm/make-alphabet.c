// SPDX-License-Identifier: Apache-2.0
// Writes a model that knows the alphabet: make-alphabet FILE.gguf
//
// The next token depends only on the current one: each is one of `HIDDEN` directions, the layer adds nothing, and the
// output turns a direction into its successor's. For tests of the command line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf-writer.h"

enum { END, START, STOP, LETTERS, SPACE = LETTERS + 26, LINE, DOT, WORDS, HIDDEN = 64, INNER = 32, F32 = 0, Q4_0 = 2 };

// The alphabet, a full stop, the end; an answer begins with h.
static int successor(int token) {
    if (token >= LETTERS && token < LETTERS + 25) return token + 1;
    if (token == LETTERS + 25) return DOT;
    if (token == LINE) return LETTERS + 7;
    return token == SPACE ? LETTERS : token == DOT ? STOP : LETTERS;
}

static void add_tokens(gguf_writer *w) {
    static const char *words[WORDS] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
    static int32_t types[WORDS] = {3, 3, 3};  // control
    static char letters[26][2];
    for (int i = 0; i < 26; i++) letters[i][0] = (char)('a' + i), words[LETTERS + i] = letters[i];
    words[SPACE] = "\u0120", words[LINE] = "\u010a", words[DOT] = ".";  // as GPT-2 writes them
    for (int i = LETTERS; i < WORDS; i++) types[i] = 1;
    gguf_add_string(w, "tokenizer.ggml.model", "gpt2");
    gguf_add_string(w, "tokenizer.ggml.pre", "gpt-2");
    gguf_add_strings(w, "tokenizer.ggml.tokens", WORDS, words);
    gguf_add_array(w, "tokenizer.ggml.token_type", IG_GGUF_I32, WORDS, types);
    gguf_add_strings(w, "tokenizer.ggml.merges", 0, NULL);
    gguf_add_u32(w, "tokenizer.ggml.eos_token_id", STOP);
    gguf_add_string(w, "tokenizer.chat_template",
                    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
                    "'<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
                    "{% endif %}");
}

static void add_keys(gguf_writer *w) {
    gguf_add_string(w, "general.architecture", "llama");
    gguf_add_u32(w, "llama.block_count", 1);
    gguf_add_u32(w, "llama.embedding_length", HIDDEN);
    gguf_add_u32(w, "llama.attention.head_count", 2);
    gguf_add_u32(w, "llama.feed_forward_length", INNER);
    gguf_add_u32(w, "llama.context_length", 128);
}

static void add_ends(gguf_writer *w) {
    static float embedding[WORDS][HIDDEN], output[WORDS][HIDDEN], ones[HIDDEN];
    for (int i = 0; i < HIDDEN; i++) ones[i] = 1;
    for (int i = 0; i < WORDS; i++) embedding[i][i] = output[successor(i)][i] = 1;
    gguf_add_tensor(w, "token_embd.weight", F32, 2, (uint64_t[]){WORDS, HIDDEN}, embedding, sizeof embedding);
    gguf_add_tensor(w, "output.weight", F32, 2, (uint64_t[]){WORDS, HIDDEN}, output, sizeof output);
    static const char *const norms[] = {"output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_norm.weight"};
    for (int i = 0; i < 3; i++) gguf_add_tensor(w, norms[i], F32, 1, (uint64_t[]){HIDDEN}, ones, sizeof ones);
}

static void add_zeros(gguf_writer *w, const char *name, uint64_t rows, uint64_t columns) {
    static char zeros[HIDDEN * HIDDEN / 32 * 18];
    gguf_add_tensor(w, name, Q4_0, 2, (uint64_t[]){rows, columns}, zeros, rows * columns / 32 * 18);
}

int main(int argc, char **argv) {
    gguf_writer w = {0};
    if (argc != 2) return 2;
    add_keys(&w);
    add_tokens(&w);
    add_ends(&w);
    add_zeros(&w, "blk.0.attn_q.weight", HIDDEN, HIDDEN), add_zeros(&w, "blk.0.attn_k.weight", HIDDEN, HIDDEN);
    add_zeros(&w, "blk.0.attn_v.weight", HIDDEN, HIDDEN), add_zeros(&w, "blk.0.attn_output.weight", HIDDEN, HIDDEN);
    add_zeros(&w, "blk.0.ffn_gate.weight", INNER, HIDDEN), add_zeros(&w, "blk.0.ffn_up.weight", INNER, HIDDEN);
    add_zeros(&w, "blk.0.ffn_down.weight", HIDDEN, INNER);
    gguf_save(&w, argv[1]);
    gguf_free(&w);
    return 0;
}
