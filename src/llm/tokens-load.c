// SPDX-License-Identifier: Apache-2.0
// Reading `tokenizer.ggml.*`: the tokens, how they merge, and the special ones.
#include <math.h>
#include <string.h>

#include "llm/tokenizer.h"
#include "llm/tokens-decode.h"

#define KEY(name) "tokenizer.ggml." name
#define QUOTED(name) "'" KEY(name) "'"

typedef struct loading {
    const ig_gguf *file;
    ig_tokenizer *tokenizer;
    ig_error *error;
    const ig_text *texts;        // of the tokens, as the file has them
    igi_llm_text_index by_text;  // the same
} loading;

#define BAD(load, ...) igi_error_set((load)->error, IG_STATUS_BAD_FORMAT, __VA_ARGS__)

static int shown_length(ig_text text) {
    return text.length < 64 ? (int)text.length : 64;
}

// ---- Values of one kind ----

// An empty text when the key is missing.
static ig_status read_text(const loading *load, const char *key, ig_text *text) {
    ig_gguf_value value;
    if (ig_gguf_find(load->file, key, &value) != IG_STATUS_OK) return IG_STATUS_OK;
    if (value.kind != IG_GGUF_STRING) return BAD(load, "'%s' is not a string", key);
    *text = value.text;
    return IG_STATUS_OK;
}

static ig_status read_bool(const loading *load, const char *key, bool *flag) {
    ig_gguf_value value;
    if (ig_gguf_find(load->file, key, &value) != IG_STATUS_OK) return IG_STATUS_OK;
    if (value.kind != IG_GGUF_BOOL) return BAD(load, "'%s' is not a bool", key);
    *flag = value.b;
    return IG_STATUS_OK;
}

static bool as_integer(const ig_gguf_value *value, int64_t *integer) {
    switch (value->kind) {
        case IG_GGUF_U8:
        case IG_GGUF_U16:
        case IG_GGUF_U32:
        case IG_GGUF_U64: return *integer = value->u > INT64_MAX ? -1 : (int64_t)value->u, true;
        case IG_GGUF_I8:
        case IG_GGUF_I16:
        case IG_GGUF_I32:
        case IG_GGUF_I64: return *integer = value->i, true;
        default: return false;
    }
}

// Writers without such a token put -1 there, even if the kind is unsigned.
static ig_status read_token(const loading *load, const char *key, int32_t *token) {
    ig_gguf_value value;
    int64_t id;
    if (ig_gguf_find(load->file, key, &value) != IG_STATUS_OK) return IG_STATUS_OK;
    if (!as_integer(&value, &id)) return BAD(load, "'%s' is not an integer", key);
    if (id == -1 || id == UINT32_MAX)
        *token = -1;
    else if (id < 0 || id >= load->tokenizer->count)
        return BAD(load, "'%s' is %lld, but there are %u tokens", key, (long long)id, load->tokenizer->count);
    else
        *token = (int32_t)id;
    return IG_STATUS_OK;
}

// `count` is 0 if the key is missing.
static ig_status read_array(const loading *load, const char *key, ig_gguf_value *array) {
    *array = (ig_gguf_value){.kind = IG_GGUF_ARRAY, .array = {.count = 0}};
    if (ig_gguf_find(load->file, key, array) == IG_STATUS_OK && array->kind != IG_GGUF_ARRAY)
        return BAD(load, "'%s' is not an array", key);
    return IG_STATUS_OK;
}

static ig_status read_strings(const loading *load, const char *key, ig_gguf_value *array) {
    ig_status status = read_array(load, key, array);
    if (status == IG_STATUS_OK && array->array.count && array->array.kind != IG_GGUF_STRING)
        return BAD(load, "'%s' is not an array of strings", key);
    return status;
}

// One value for each token, or none at all.
static ig_status read_per_token(const loading *load, const char *key, ig_gguf_value *array) {
    ig_status status = read_array(load, key, array);
    if (status == IG_STATUS_OK && array->array.count && array->array.count != load->tokenizer->count)
        return BAD(load, "'%s' has %llu values for %u tokens", key, (unsigned long long)array->array.count,
                   load->tokenizer->count);
    return status;
}

// ---- Which kind of tokenizer ----

static ig_status load_splitter(loading *load) {
    ig_text name = {0};
    ig_status status = read_text(load, KEY("pre"), &name);
    if (status != IG_STATUS_OK) return status;
    if (!name.length) name = (ig_text){"default", 7};
    load->tokenizer->splitter = igi_llm_splitter_find(name.data, name.length);
    if (load->tokenizer->splitter) return IG_STATUS_OK;
    return igi_error_set(load->error, IG_STATUS_UNSUPPORTED,
                         QUOTED("pre") ": splitting text as for '%.*s' is not supported", shown_length(name),
                         name.data);
}

static bool is(ig_text text, const char *string) {
    return text.length == strlen(string) && !memcmp(text.data, string, text.length);
}

static ig_status load_kind(loading *load) {
    ig_text model = {0};
    ig_status status = read_text(load, KEY("model"), &model);
    if (status != IG_STATUS_OK) return status;
    if (!model.length) return BAD(load, QUOTED("model") " is missing");
    static const char *const names[] = {
        [IGI_TOKENS_BPE] = "gpt2", [IGI_TOKENS_SENTENCEPIECE] = "llama", [IGI_TOKENS_WORDPIECE] = "bert"};
    for (size_t kind = 0; kind < sizeof names / sizeof *names; kind++) {
        if (!is(model, names[kind])) continue;
        load->tokenizer->kind = (igi_llm_kind)kind;
        return kind == IGI_TOKENS_BPE ? load_splitter(load) : IG_STATUS_OK;
    }
    return igi_error_set(load->error, IG_STATUS_UNSUPPORTED,
                         QUOTED("model") ": tokens of the kind '%.*s' are not supported; gpt2, llama and bert are",
                         shown_length(model), model.data);
}

// ---- Tokens ----

static ig_status load_texts(loading *load) {
    ig_gguf_value array;
    ig_tokenizer *tokenizer = load->tokenizer;
    ig_status status = read_strings(load, KEY("tokens"), &array);
    if (status != IG_STATUS_OK) return status;
    if (!array.array.count || array.array.count > INT32_MAX)
        return BAD(load, QUOTED("tokens") " has %llu tokens", (unsigned long long)array.array.count);
    tokenizer->count = (uint32_t)array.array.count;
    load->texts = array.array.data;
    tokenizer->tokens = igi_calloc(tokenizer->count, sizeof *tokenizer->tokens);
    if (!tokenizer->tokens ||
        !igi_llm_text_index_make(&load->by_text, tokenizer->count, load->texts, sizeof *load->texts))
        return igi_error_no_memory(load->error);
    for (uint32_t i = 0; i < tokenizer->count; i++) {
        int32_t twin = igi_llm_text_index_add(&load->by_text, (int32_t)i);
        if (twin >= 0) return BAD(load, QUOTED("tokens") ": tokens %d and %u have the same text", twin, i);
    }
    return IG_STATUS_OK;
}

// Names by which models end an answer.
static void for_each_end(const loading *load, void (*visit)(igi_llm_token *token)) {
    static const char *const names[] = {"<|im_end|>",    "<|eot_id|>",    "<|end|>",
                                        "<end_of_turn>", "<|endoftext|>", "</s>"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int32_t token = igi_llm_text_index_find(&load->by_text, names[i], strlen(names[i]));
        if (token >= 0) visit(&load->tokenizer->tokens[token]);
    }
}

// Files of Phi-3 have "</s>" as a user-defined token, which would be recognised in every text.
static void make_control(igi_llm_token *token) {
    if (token->type == IGI_TOKEN_USER_DEFINED) token->type = IGI_TOKEN_CONTROL;
}

static ig_status load_types(loading *load) {
    ig_gguf_value array, element;
    ig_status status = read_per_token(load, KEY("token_type"), &array);
    for (uint32_t i = 0; status == IG_STATUS_OK && i < load->tokenizer->count; i++) {
        int64_t type = IGI_TOKEN_NORMAL;
        if (array.array.count && (ig_gguf_element(&array, i, &element) != IG_STATUS_OK || !as_integer(&element, &type)))
            return BAD(load, QUOTED("token_type") " is not an array of integers");
        if (type < 0 || type > IGI_TOKEN_BYTE)
            return BAD(load, QUOTED("token_type") ": token %u has type %lld", i, (long long)type);
        load->tokenizer->tokens[i].type = type ? (uint8_t)type : IGI_TOKEN_NORMAL;
    }
    if (status == IG_STATUS_OK) for_each_end(load, make_control);
    return status;
}

static ig_status load_scores(loading *load) {
    ig_gguf_value array, element;
    ig_status status = read_per_token(load, KEY("scores"), &array);
    if (status != IG_STATUS_OK || load->tokenizer->kind != IGI_TOKENS_SENTENCEPIECE) return status;
    if (!array.array.count) return BAD(load, QUOTED("scores") " is missing");
    for (uint32_t i = 0; i < load->tokenizer->count; i++) {
        int64_t whole;
        if (ig_gguf_element(&array, i, &element) != IG_STATUS_OK) return IG_STATUS_INTERNAL;
        bool is_float = element.kind == IG_GGUF_F32 || element.kind == IG_GGUF_F64;
        if (!is_float && !as_integer(&element, &whole))
            return BAD(load, QUOTED("scores") " is not an array of numbers");
        float score = is_float ? (float)element.f : (float)whole;
        if (isnan(score)) return BAD(load, QUOTED("scores") ": the score of token %u is not a number", i);
        load->tokenizer->tokens[i].score = score;
    }
    return status;
}

static ig_status load_bytes(loading *load) {
    ig_tokenizer *tokenizer = load->tokenizer;
    if (!igi_llm_tokens_decode(tokenizer, load->texts) || !igi_llm_tokens_index(tokenizer))
        return igi_error_no_memory(load->error);
    igi_llm_tokens_find_bytes(tokenizer, &load->by_text);
    igi_llm_tokens_find_spaces(tokenizer);
    return IG_STATUS_OK;
}

// ---- Merges ----

// "left right". The first byte is never the separating space.
static bool find_merge(loading *load, ig_text merge, igi_text *joined, int32_t tokens[3]) {
    const char *space = merge.length > 1 ? memchr(merge.data + 1, ' ', merge.length - 1) : NULL;
    if (!space) return false;
    size_t left = (size_t)(space - merge.data), right = merge.length - left - 1;
    tokens[0] = igi_llm_text_index_find(&load->by_text, merge.data, left);
    tokens[1] = igi_llm_text_index_find(&load->by_text, space + 1, right);
    joined->length = 0;
    igi_text_append(joined, merge.data, left);
    igi_text_append(joined, space + 1, right);
    tokens[2] = joined->failed ? -1 : igi_llm_text_index_find(&load->by_text, joined->data, joined->length);
    return tokens[0] >= 0 && tokens[1] >= 0 && tokens[2] >= 0;
}

static ig_status load_merge(loading *load, uint32_t rank, ig_text merge, igi_text *joined) {
    int32_t tokens[3] = {-1, -1, -1};
    if (find_merge(load, merge, joined, tokens)) {
        igi_llm_merges_add(&load->tokenizer->merges, tokens[0], tokens[1], rank, tokens[2]);
        return IG_STATUS_OK;
    }
    if (joined->failed) return igi_error_no_memory(load->error);
    return BAD(load, QUOTED("merges") ": '%.*s' does not join two tokens to a third", shown_length(merge), merge.data);
}

static ig_status load_merges(loading *load) {
    ig_gguf_value array;
    if (load->tokenizer->kind != IGI_TOKENS_BPE) return IG_STATUS_OK;
    ig_status status = read_strings(load, KEY("merges"), &array);
    if (status != IG_STATUS_OK) return status;
    if (array.array.count >= UINT32_MAX) return BAD(load, QUOTED("merges") " is too long");
    if (!igi_llm_merges_make(&load->tokenizer->merges, array.array.count)) return igi_error_no_memory(load->error);
    igi_text joined = {0};
    const ig_text *merges = array.array.data;
    for (uint32_t rank = 0; status == IG_STATUS_OK && rank < array.array.count; rank++)
        status = load_merge(load, rank, merges[rank], &joined);
    igi_text_free(&joined);
    return status;
}

// ---- Tokens with a meaning ----

// The token, if there are so many; else none.
static int32_t usual(const ig_tokenizer *tokenizer, uint32_t token) {
    return token < tokenizer->count ? (int32_t)token : -1;
}

static void set_defaults(ig_tokenizer *tokenizer) {
    tokenizer->first = tokenizer->last = tokenizer->unknown = -1;
    switch (tokenizer->kind) {
        case IGI_TOKENS_BPE: tokenizer->adds_first = tokenizer->splitter->adds_first; break;
        case IGI_TOKENS_SENTENCEPIECE:
            tokenizer->unknown = 0;
            tokenizer->first = usual(tokenizer, 1);
            tokenizer->last = usual(tokenizer, 2);
            tokenizer->adds_first = tokenizer->adds_space = true;
            break;
        case IGI_TOKENS_WORDPIECE:  // as in BERT's own vocabulary
            tokenizer->unknown = usual(tokenizer, 100);
            tokenizer->first = usual(tokenizer, 101);
            tokenizer->last = usual(tokenizer, 102);
            tokenizer->adds_first = tokenizer->adds_last = tokenizer->lowers = true;
            break;
    }
}

// BERT's texts are between [CLS] and [SEP].
static ig_status load_wordpiece(loading *load) {
    ig_tokenizer *tokenizer = load->tokenizer;
    if (tokenizer->kind != IGI_TOKENS_WORDPIECE) return IG_STATUS_OK;
    ig_status status = read_token(load, KEY("cls_token_id"), &tokenizer->first);
    if (status == IG_STATUS_OK)
        status = read_token(load, KEY("seperator_token_id"), &tokenizer->last);  // GGUF's spelling
    if (status == IG_STATUS_OK) status = read_bool(load, KEY("add_sep_token"), &tokenizer->adds_last);
    if (status == IG_STATUS_OK) status = read_bool(load, KEY("normalizer.lowercase"), &tokenizer->lowers);
    tokenizer->strips_accents = tokenizer->lowers;
    if (status == IG_STATUS_OK) status = read_bool(load, KEY("normalizer.strip_accents"), &tokenizer->strips_accents);
    return status;
}

static void mark_last(ig_tokenizer *tokenizer, int32_t token) {
    if (token >= 0) tokenizer->tokens[token].is_last = true;
}

static void mark_if_control(igi_llm_token *token) {
    if (token->type == IGI_TOKEN_CONTROL) token->is_last = true;
}

static ig_status load_meanings(loading *load) {
    ig_tokenizer *tokenizer = load->tokenizer;
    int32_t turn = -1;
    set_defaults(tokenizer);
    ig_status status = read_token(load, KEY("bos_token_id"), &tokenizer->first);
    if (status == IG_STATUS_OK) status = read_token(load, KEY("eos_token_id"), &tokenizer->last);
    if (status == IG_STATUS_OK) status = load_wordpiece(load);
    if (status == IG_STATUS_OK) status = read_token(load, KEY("eot_token_id"), &turn);
    if (status == IG_STATUS_OK) status = read_token(load, KEY("unknown_token_id"), &tokenizer->unknown);
    if (status == IG_STATUS_OK) status = read_bool(load, KEY("add_bos_token"), &tokenizer->adds_first);
    if (status == IG_STATUS_OK) status = read_bool(load, KEY("add_eos_token"), &tokenizer->adds_last);
    if (status == IG_STATUS_OK) status = read_bool(load, KEY("add_space_prefix"), &tokenizer->adds_space);
    if (status != IG_STATUS_OK) return status;
    mark_last(tokenizer, tokenizer->last);
    mark_last(tokenizer, turn);
    for_each_end(load, mark_if_control);
    return IG_STATUS_OK;
}

static ig_status load_specials(loading *load) {
    ig_tokenizer *tokenizer = load->tokenizer;
    if (!igi_llm_specials_make(&tokenizer->specials, tokenizer->tokens, tokenizer->count))
        return igi_error_no_memory(load->error);
    for (uint32_t i = 0; i < tokenizer->specials.count; i++) {
        const igi_llm_special *special = &tokenizer->specials.items[i];
        if (special->name.length > IGI_MAX_SPECIAL_BYTES)
            return BAD(load, QUOTED("tokens") ": the name of token %d has %llu bytes", special->token,
                       (unsigned long long)special->name.length);
    }
    return IG_STATUS_OK;
}

ig_status igi_llm_tokenizer_load(ig_tokenizer *tokenizer, const ig_gguf *file, ig_error *error) {
    static ig_status (*const steps[])(loading *) = {load_kind,  load_texts,  load_types,    load_scores,
                                                    load_bytes, load_merges, load_meanings, load_specials};
    loading load = {.file = file, .tokenizer = tokenizer, .error = error};
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; status == IG_STATUS_OK && i < sizeof steps / sizeof *steps; i++) status = steps[i](&load);
    igi_llm_text_index_free(&load.by_text);
    return status;
}
