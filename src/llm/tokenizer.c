// SPDX-License-Identifier: Apache-2.0
#include "llm/tokenizer.h"

#include <string.h>

#include "core/status-internal.h"

ig_status ig_tokenizer_create(ig_gguf *file, ig_tokenizer **tokenizer, ig_error *error) {
    if (!file || !tokenizer) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "no file");
    ig_tokenizer *created = igi_calloc(1, sizeof *created);
    if (!created) return igi_error_no_memory(error);
    igi_ref_init(&created->references);
    created->file = ig_gguf_retain(file);
    ig_status status = igi_llm_tokenizer_load(created, file, error);
    if (status == IG_STATUS_OK)
        *tokenizer = created;
    else
        ig_tokenizer_release(created);
    return status;
}

ig_tokenizer *ig_tokenizer_retain(ig_tokenizer *tokenizer) {
    if (tokenizer) igi_ref_take(&tokenizer->references);
    return tokenizer;
}

void ig_tokenizer_release(ig_tokenizer *tokenizer) {
    if (!tokenizer || !igi_ref_drop(&tokenizer->references)) return;
    igi_llm_text_index_free(&tokenizer->by_bytes);
    free(tokenizer->merges.slots);
    free(tokenizer->specials.items);
    free(tokenizer->decoded);
    free(tokenizer->tokens);
    ig_gguf_release(tokenizer->file);
    free(tokenizer);
}

// ---- Tokens ----

uint32_t ig_tokenizer_size(const ig_tokenizer *tokenizer) {
    return tokenizer->count;
}

static const igi_llm_token *token_at(const ig_tokenizer *tokenizer, int32_t token) {
    return token >= 0 && (uint32_t)token < tokenizer->count ? &tokenizer->tokens[token] : NULL;
}

ig_status ig_tokenizer_decode(const ig_tokenizer *tokenizer, int32_t token, ig_text *bytes) {
    if (!tokenizer || !bytes)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "tokenizer_decode: tokenizer and bytes must not be NULL");
    const igi_llm_token *found = token_at(tokenizer, token);
    if (!found)
        return igi_fail(IG_STATUS_OUT_OF_RANGE, "tokenizer_decode: token %d is not one of %u", token, tokenizer->count);
    bool silent = found->type == IGI_TOKEN_CONTROL || found->type == IGI_TOKEN_UNKNOWN;
    *bytes = silent ? (ig_text){"", 0} : found->bytes;
    return IG_STATUS_OK;
}

int32_t ig_tokenizer_first(const ig_tokenizer *tokenizer) {
    return tokenizer->first;
}

bool ig_tokenizer_is_last(const ig_tokenizer *tokenizer, int32_t token) {
    const igi_llm_token *found = token_at(tokenizer, token);
    return found && found->is_last;
}

int32_t ig_tokenizer_find(const ig_tokenizer *tokenizer, const char *text, uint64_t length) {
    return text ? igi_llm_text_index_find(&tokenizer->by_bytes, text, length) : -1;
}

// ---- Encoding ----

static bool encode_plain(igi_llm_encoder *encoder, const char *text, size_t length) {
    static igi_llm_encode_piece *const encode[] = {[IGI_TOKENS_BPE] = igi_llm_encode_bpe,
                                                   [IGI_TOKENS_SENTENCEPIECE] = igi_llm_encode_spm,
                                                   [IGI_TOKENS_WORDPIECE] = igi_llm_encode_wordpiece};
    if (!length) return true;
    bool encoded = encode[encoder->tokenizer->kind](encoder, text, length);
    encoder->after_special = false;
    return encoded;
}

static bool push_special(igi_llm_encoder *encoder, int32_t token) {
    encoder->after_special = true;
    return token < 0 || igi_llm_encoder_push(encoder, token);
}

static bool encode_text(igi_llm_encoder *encoder, const char *text, size_t length, bool special) {
    while (length) {
        size_t offset = length;
        const igi_llm_special *name =
            igi_llm_special_find(&encoder->tokenizer->specials, text, length, special, &offset);
        if (!encode_plain(encoder, text, offset)) return false;
        if (!name) return true;
        if (!push_special(encoder, name->token)) return false;
        text += offset + name->name.length;
        length -= offset + name->name.length;
    }
    return true;
}

static bool encode_all(igi_llm_encoder *encoder, const char *text, size_t length, const ig_encode_desc *desc) {
    const ig_tokenizer *tokenizer = encoder->tokenizer;
    encoder->after_special = true;
    if (!desc->plain && tokenizer->adds_first && !push_special(encoder, tokenizer->first)) return false;
    if (!encode_text(encoder, text, length, desc->special)) return false;
    return desc->plain || !tokenizer->adds_last || push_special(encoder, tokenizer->last);
}

static void encoder_free(igi_llm_encoder *encoder) {
    free(encoder->tokens);
    free(encoder->symbols);
    free(encoder->pairs);
    free(encoder->known);
    igi_text_free(&encoder->scratch);
}

static ig_status copy_tokens(const igi_llm_encoder *encoder, int32_t *tokens, uint64_t capacity, uint64_t *count) {
    *count = encoder->count;
    if (encoder->count > capacity)
        return igi_fail(IG_STATUS_OUT_OF_RANGE, "tokenizer_encode: %llu tokens do not fit into %llu",
                        (unsigned long long)encoder->count, (unsigned long long)capacity);
    if (encoder->count) memcpy(tokens, encoder->tokens, encoder->count * sizeof *tokens);
    return IG_STATUS_OK;
}

ig_status ig_tokenizer_encode(const ig_tokenizer *tokenizer, const char *text, uint64_t length,
                              const ig_encode_desc *desc, int32_t *tokens, uint64_t capacity, uint64_t *count) {
    if (!tokenizer || !count || (!text && length) || (!tokens && capacity))
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "tokenizer_encode: tokenizer, text, tokens and count must not be NULL");
    const ig_encode_desc none = {0};
    igi_llm_encoder encoder = {.tokenizer = tokenizer};
    ig_status status = encode_all(&encoder, text, length, desc ? desc : &none)
                           ? copy_tokens(&encoder, tokens, capacity, count)
                           : igi_fail(encoder.status, "tokenizer_encode: %s", ig_status_text(encoder.status));
    encoder_free(&encoder);
    return status;
}
