// SPDX-License-Identifier: Apache-2.0
#include "tiny-vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t tiny_add(tiny_vocabulary *v, const char *text, int32_t type, float score) {
    if (v->count == TINY_TOKENS || strlen(text) >= TINY_TEXT) abort();
    v->tokens[v->count] = memcpy(v->texts[v->count], text, strlen(text) + 1);
    v->types[v->count] = type;
    v->scores[v->count] = score;
    return (int32_t)v->count++;
}

void tiny_add_gpt2_bytes(tiny_vocabulary *v) {
    unsigned next = 256;
    for (unsigned byte = 0; byte < 256; byte++) {
        bool prints = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
        unsigned code = prints ? byte : next++;
        char text[3] = {(char)code};
        if (code >= 0x80) text[0] = (char)(0xC0 | code >> 6), text[1] = (char)(0x80 | (code & 0x3F));
        tiny_add(v, text, NORMAL, 0);
    }
}

void tiny_add_spm_bytes(tiny_vocabulary *v) {
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", byte);
        tiny_add(v, text, BYTE, 0);
    }
}

static bool has_token(const tiny_vocabulary *v, const char *text) {
    for (size_t i = 0; i < v->count; i++)
        if (!strcmp(v->tokens[i], text)) return true;
    return false;
}

void tiny_merge(tiny_vocabulary *v, const char *merge) {
    char text[TINY_TEXT];
    const char *space = strchr(merge, ' ');
    if (!space || v->merge_count == TINY_TOKENS) abort();
    snprintf(text, sizeof text, "%.*s%s", (int)(space - merge), merge, space + 1);
    if (!has_token(v, text)) tiny_add(v, text, NORMAL, 0);
    v->merges[v->merge_count++] = merge;
}

gguf_writer tiny_writer(const tiny_vocabulary *v, const char *model, const char *pre) {
    gguf_writer w = {0};
    gguf_add_string(&w, "tokenizer.ggml.model", model);
    if (pre) gguf_add_string(&w, "tokenizer.ggml.pre", pre);
    gguf_add_strings(&w, "tokenizer.ggml.tokens", v->count, v->tokens);
    gguf_add_array(&w, "tokenizer.ggml.token_type", IG_GGUF_I32, v->count, v->types);
    gguf_add_array(&w, "tokenizer.ggml.scores", IG_GGUF_F32, v->count, v->scores);
    gguf_add_strings(&w, "tokenizer.ggml.merges", v->merge_count, v->merges);
    return w;
}
