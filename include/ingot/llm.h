// SPDX-License-Identifier: Apache-2.0
// Language models: GGUF files, tokens, decoders of the Llama kind, sampling.
//
// A file is opened once, read-only and mapped into memory; models and tokenizers made from it keep it alive. Everything
// in a file is checked before it is used: an error is BAD_FORMAT, and its message says where.
#ifndef INGOT_LLM_H
#define INGOT_LLM_H

#include <ingot/nn.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// ---- GGUF files ----

// Versions 2 and 3, little-endian.
typedef struct ig_gguf ig_gguf;

// Kinds of values, by their numbers in files.
#define IG_GGUF_KIND_LIST(X) \
    X(U8, u8, 1)             \
    X(I8, i8, 1)             \
    X(U16, u16, 2)           \
    X(I16, i16, 2)           \
    X(U32, u32, 4)           \
    X(I32, i32, 4)           \
    X(F32, f32, 4)           \
    X(BOOL, bool, 1)         \
    X(STRING, string, 0)     \
    X(ARRAY, array, 0)       \
    X(U64, u64, 8)           \
    X(I64, i64, 8)           \
    X(F64, f64, 8)
// The kind of a value in a GGUF file.
typedef enum ig_gguf_kind {
#define IG_GGUF_ENUM(id, name, bytes) IG_GGUF_##id,
    IG_GGUF_KIND_LIST(IG_GGUF_ENUM)
#undef IG_GGUF_ENUM
        IG_GGUF_KIND_COUNT
} ig_gguf_kind;

// Bytes of a file, not terminated by a NUL.
typedef struct ig_text {
    const char *data;
    uint64_t length;
} ig_text;

// A value of a GGUF file. Text and elements are borrowed from the file.
typedef struct ig_gguf_value {
    ig_gguf_kind kind;
    union {
        uint64_t u;    // U8 to U64
        int64_t i;     // I8 to I64
        double f;      // F32, F64
        bool b;        // BOOL
        ig_text text;  // STRING
        struct {
            ig_gguf_kind kind;  // of the elements; arrays of arrays are refused
            uint64_t count;
            const void *data;  // elements in place in the file, unaligned; ig_text for strings
        } array;
    };
} ig_gguf_value;

// A tensor of a GGUF file. Its data is borrowed from the file.
typedef struct ig_gguf_tensor {
    ig_text name;
    uint32_t type;      // GGUF's number
    uint32_t rank;      // at most 4
    uint64_t shape[4];  // outermost first, as everywhere in Ingot: the reverse of the file
    const void *data;
    uint64_t bytes;  // 0 when ig_gguf_type_name does not know the type
} ig_gguf_tensor;

// Opens a file and checks it. pre: the file does not change while it is open. errors: NOT_FOUND, IO, BAD_FORMAT,
// UNSUPPORTED (version, byte order, arrays of arrays), OUT_OF_MEMORY.
ig_status ig_gguf_open(const char *path, ig_gguf **file, ig_error *error);
ig_gguf *ig_gguf_retain(ig_gguf *file);
void ig_gguf_release(ig_gguf *file);

// The number of keys with values.
uint64_t ig_gguf_value_count(const ig_gguf *file);
ig_text ig_gguf_key(const ig_gguf *file, uint64_t index);  // empty past the last
// The value of a key. errors: NOT_FOUND.
ig_status ig_gguf_find(const ig_gguf *file, const char *key, ig_gguf_value *value);
// An element of an array. errors: OUT_OF_RANGE, INVALID_ARGUMENT if it is not an array.
ig_status ig_gguf_element(const ig_gguf_value *array, uint64_t index, ig_gguf_value *element);

// The number of tensors.
uint64_t ig_gguf_tensor_count(const ig_gguf *file);
// A tensor by its index in the file. errors: OUT_OF_RANGE.
ig_status ig_gguf_tensor_at(const ig_gguf *file, uint64_t index, ig_gguf_tensor *tensor);
// The tensor with a name. errors: NOT_FOUND.
ig_status ig_gguf_find_tensor(const ig_gguf *file, const char *name, ig_gguf_tensor *tensor);
// "Q4_K", also for types that Ingot knows only by name; "unknown" for others.
const char *ig_gguf_type_name(uint32_t type);
// The corresponding type of weights. errors: UNSUPPORTED.
ig_status ig_gguf_weight_type(uint32_t type, ig_weight_type *weight_type);

// ---- Tokens ----

// Byte-pair encoding as in GPT-2 and its descendants, SentencePiece as in Llama 2, and WordPiece as in BERT, as
// `tokenizer.ggml.*` says.
typedef struct ig_tokenizer ig_tokenizer;

// The tokenizer that a file describes. errors: BAD_FORMAT, UNSUPPORTED (another kind of tokenizer), OUT_OF_MEMORY.
ig_status ig_tokenizer_create(ig_gguf *file, ig_tokenizer **tokenizer, ig_error *error);
ig_tokenizer *ig_tokenizer_retain(ig_tokenizer *tokenizer);
void ig_tokenizer_release(ig_tokenizer *tokenizer);
uint32_t ig_tokenizer_size(const ig_tokenizer *tokenizer);  // size of the vocabulary

// How text becomes tokens.
typedef struct ig_encode_desc {
    bool plain;    // add no BOS or EOS token, even if the model wants them
    bool special;  // names of control tokens in the text, such as "<|im_start|>", become those tokens
} ig_encode_desc;

// Text is UTF-8; invalid bytes are encoded as bytes. `*count` is the number of tokens, also if `capacity` is too small:
// then the error is OUT_OF_RANGE and nothing is written to `tokens`. desc may be NULL. Any number of threads at a time.
// errors: OUT_OF_MEMORY, OVERFLOW (4 GiB without a place to split).
ig_status ig_tokenizer_encode(const ig_tokenizer *tokenizer, const char *text, uint64_t length,
                              const ig_encode_desc *desc, int32_t *tokens, uint64_t capacity, uint64_t *count);
// The bytes that the token stands for, which may be part of a character; none for control tokens. Borrowed from the
// tokenizer. errors: OUT_OF_RANGE.
ig_status ig_tokenizer_decode(const ig_tokenizer *tokenizer, int32_t token, ig_text *bytes);

int32_t ig_tokenizer_first(const ig_tokenizer *tokenizer);                // the BOS token; -1: none
bool ig_tokenizer_is_last(const ig_tokenizer *tokenizer, int32_t token);  // whether it ends an answer
// The token that stands for these bytes, or the control token of this name; -1: none.
int32_t ig_tokenizer_find(const ig_tokenizer *tokenizer, const char *text, uint64_t length);

// ---- Models ----

// A decoder: its weights, read in place from the file.
typedef struct ig_model ig_model;

// Loads the model of a file. errors: BAD_FORMAT (a tensor or key is missing or has the wrong shape), UNSUPPORTED
// (architecture or type of weights), OUT_OF_MEMORY.
ig_status ig_model_load(ig_device *device, ig_gguf *file, ig_model **model, ig_error *error);
ig_model *ig_model_retain(ig_model *model);
void ig_model_release(ig_model *model);
ig_model_shape ig_model_get_shape(const ig_model *model);  // its sizes
uint64_t ig_model_context(const ig_model *model);          // positions that it was trained for

// One conversation with a model: its KV cache and its stream. One thread at a time.
typedef struct ig_session ig_session;
// Options of a session.
typedef struct ig_session_desc {
    uint64_t context;      // positions there is room for; 0: the model's, at most 4096
    ig_type cache_type;    // of keys and values: f16 (also when 0), bf16 or f32
    const char *backends;  // as in ig_stream_desc
} ig_session_desc;

// Creates a session. desc may be NULL. errors: INVALID_ARGUMENT, NOT_FOUND (backends), OUT_OF_MEMORY.
ig_status ig_session_create(ig_model *model, const ig_session_desc *desc, ig_session **session, ig_error *error);
void ig_session_release(ig_session *session);
uint64_t ig_session_length(const ig_session *session);   // positions so far
uint64_t ig_session_context(const ig_session *session);  // positions there is room for
// Appends the tokens to those so far and evaluates them. `logits` are those of the last token, one for each entry of the
// vocabulary; they stay valid until the next call. NULL: not wanted. After an error the session is as long as before.
// errors: OUT_OF_RANGE (a token, or no room), INVALID_ARGUMENT (no tokens).
ig_status ig_session_evaluate(ig_session *session, const int32_t *tokens, uint64_t count, const float **logits,
                              ig_error *error);
// Drops positions from `length` on. errors: OUT_OF_RANGE.
ig_status ig_session_truncate(ig_session *session, uint64_t length);

// ---- Sampling ----

// Recent tokens are penalised, then unlikely tokens are dropped, then one of the rest is drawn at random.
typedef struct ig_sampler ig_sampler;
// How the next token is chosen.
typedef struct ig_sampler_desc {
    double temperature;     // 0: greedy, always the most likely token
    double top_p;           // the smallest set of tokens whose probabilities sum to top_p; 0 or 1: all
    double min_p;           // drop tokens less likely than min_p times the most likely one; 0: none
    double repeat_penalty;  // of recent tokens; 0 or 1: none
    uint32_t top_k;         // the top_k most likely tokens, before top_p and min_p; 0: all
    uint32_t repeat_last;   // recent tokens the penalty covers
    uint64_t seed;          // the same seed gives the same tokens, on every machine
} ig_sampler_desc;

// Creates a sampler. errors: INVALID_ARGUMENT, OUT_OF_MEMORY.
ig_status ig_sampler_create(const ig_sampler_desc *desc, ig_sampler **sampler);
void ig_sampler_release(ig_sampler *sampler);
// Adds a token to the recent ones.
void ig_sampler_accept(ig_sampler *sampler, int32_t token);
// The next token, which becomes a recent one. NaN is never chosen. errors: INVALID_ARGUMENT (no logits, or all NaN or
// -inf), OUT_OF_MEMORY.
ig_status ig_sampler_next(ig_sampler *sampler, const float *logits, uint32_t count, int32_t *token);

// ---- Chats ----

// A message of a chat.
typedef struct ig_chat_message {
    const char *role;  // "system", "user", "assistant"
    const char *text;
} ig_chat_message;

// Writes the messages in the format that the model was trained on (`tokenizer.chat_template`), then the beginning of an
// answer. Meant for ig_tokenizer_encode with `special`, which adds the BOS token: it is not in the text. The text has
// `*length` bytes and a NUL; if `capacity` is too small, the error is OUT_OF_RANGE, nothing is written, and `*length` is
// still set. errors: UNSUPPORTED (a template that Ingot does not know, or none), INVALID_ARGUMENT (an unknown role, or a
// system message where the format has no place for one).
ig_status ig_chat_format(const ig_gguf *file, const ig_chat_message *messages, uint64_t count, char *text,
                         uint64_t capacity, uint64_t *length);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
