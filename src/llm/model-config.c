// SPDX-License-Identifier: Apache-2.0
// What a GGUF file says about its model, checked.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "llm/model.h"

#define ARCHITECTURE(name) &igi_llm_architecture_##name,
static const igi_llm_architecture *const architectures[] = {IGI_ARCHITECTURE_LIST(ARCHITECTURE)};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

typedef struct reader {
    const ig_gguf *file;
    const igi_llm_architecture *architecture;
    ig_status status;  // of the first failure
    ig_error *error;
} reader;

static void fail(reader *r, ig_status status, const char *key, const char *why) {
    if (r->status != IG_STATUS_OK) return;
    r->status = status;
    igi_error_set(r->error, status, "'%s.%s' %s", r->architecture->name, key, why);
}

static bool find(const reader *r, const char *key, ig_gguf_value *value) {
    char name[96];
    int length = snprintf(name, sizeof name, "%s.%s", r->architecture->name, key);
    assert(length > 0 && (size_t)length < sizeof name);
    (void)length;
    return ig_gguf_find(r->file, name, value) == IG_STATUS_OK;
}

static bool as_count(const ig_gguf_value *value, uint64_t *count) {
    switch (value->kind) {
        case IG_GGUF_U8:
        case IG_GGUF_U16:
        case IG_GGUF_U32:
        case IG_GGUF_U64: *count = value->u; return true;
        case IG_GGUF_I8:
        case IG_GGUF_I16:
        case IG_GGUF_I32:
        case IG_GGUF_I64: *count = (uint64_t)value->i; return value->i >= 0;
        default: return false;
    }
}

// A limit for all lengths, so that products of two fit.
enum { MOST = INT32_MAX };

// `otherwise` if the file does not have the key; 0: it is required.
static uint64_t count_of(reader *r, const char *key, uint64_t otherwise) {
    ig_gguf_value value;
    uint64_t count = 0;
    if (!find(r, key, &value)) {
        if (!otherwise) fail(r, IG_STATUS_BAD_FORMAT, key, "is missing");
        return otherwise;
    }
    if (value.kind == IG_GGUF_ARRAY) {
        fail(r, IG_STATUS_UNSUPPORTED, key, "differs between layers, which is not supported");
        return 1;
    }
    if (!as_count(&value, &count) || count == 0 || count > MOST)
        fail(r, IG_STATUS_BAD_FORMAT, key, "is not a whole number from 1 to 2^31 - 1");
    return count;
}

static double number_of(reader *r, const char *key, double otherwise) {
    ig_gguf_value value;
    if (!find(r, key, &value)) return otherwise;
    bool is_float = value.kind == IG_GGUF_F32 || value.kind == IG_GGUF_F64;
    if (!is_float || !isfinite(value.f) || value.f <= 0) fail(r, IG_STATUS_BAD_FORMAT, key, "is not a number above 0");
    return is_float ? value.f : otherwise;
}

static bool text_is(const ig_gguf_value *value, const char *text) {
    return value->kind == IG_GGUF_STRING && value->text.length == strlen(text) &&
           memcmp(value->text.data, text, strlen(text)) == 0;
}

static double rope_scale(reader *r) {
    ig_gguf_value value;
    if (!find(r, "rope.scaling.type", &value) || text_is(&value, "none"))
        return 1 / number_of(r, "rope.scale_linear", 1);
    if (!text_is(&value, "linear")) fail(r, IG_STATUS_UNSUPPORTED, "rope.scaling.type", "is not linear");
    return 1 / number_of(r, "rope.scaling.factor", 1);
}

static void read_lengths(reader *r, igi_llm_model_config *c) {
    ig_model_shape *s = &c->shape;
    s->layers = count_of(r, "block_count", 0);
    s->hidden = count_of(r, "embedding_length", 0);
    s->heads = count_of(r, "attention.head_count", 0);
    s->key_heads = count_of(r, "attention.head_count_kv", s->heads);
    s->intermediate = count_of(r, "feed_forward_length", 0);
    c->context = count_of(r, "context_length", 0);
    if (r->status != IG_STATUS_OK) return;
    if (s->heads % s->key_heads) fail(r, IG_STATUS_BAD_FORMAT, "attention.head_count_kv", "does not divide head_count");
    c->head_dim = count_of(r, "attention.key_length", s->hidden / s->heads);
    if (r->status != IG_STATUS_OK) return;
    if (count_of(r, "attention.value_length", c->head_dim) != c->head_dim)
        fail(r, IG_STATUS_UNSUPPORTED, "attention.value_length", "differs from key_length");
    // Each layer has its own tensors.
    if (s->layers > ig_gguf_tensor_count(r->file))
        fail(r, IG_STATUS_BAD_FORMAT, "block_count", "is more than there are tensors");
}

enum { F32_IN_FILES = 0 };

static void read_rope(reader *r, igi_llm_model_config *c) {
    ig_gguf_tensor factors;
    c->norm_epsilon = number_of(r, "attention.layer_norm_rms_epsilon", 1e-5);
    uint64_t dims = count_of(r, "rope.dimension_count", c->head_dim);
    if (r->status == IG_STATUS_OK && (dims > c->head_dim || dims % 2))
        fail(r, IG_STATUS_BAD_FORMAT, "rope.dimension_count", "is odd or more than a head has");
    c->rope = (ig_rope_desc){.base = number_of(r, "rope.freq_base", 10000),
                             .scale = rope_scale(r),
                             .dims = (uint32_t)dims,
                             .interleaved = r->architecture->interleaved_rope};
    if (r->status != IG_STATUS_OK || ig_gguf_find_tensor(r->file, "rope_freqs.weight", &factors) != IG_STATUS_OK)
        return;
    if (factors.type != F32_IN_FILES || factors.rank != 1 || factors.shape[0] != dims / 2)
        r->status = igi_error_set(r->error, IG_STATUS_BAD_FORMAT, "tensor 'rope_freqs.weight' is not %llu x F32",
                                  (unsigned long long)dims / 2);
    c->rope.factors = factors.data;
}

static void refuse_architecture(const ig_gguf_value *name, ig_error *error) {
    igi_text known = {0};
    for (size_t i = 0; i < ARCHITECTURES; i++) igi_text_addf(&known, "%s%s", i ? ", " : "", architectures[i]->name);
    char *list = igi_text_take(&known);
    igi_error_set(error, IG_STATUS_UNSUPPORTED, "models of architecture '%.*s' are not supported; supported are: %s",
                  (int)(name->text.length < 64 ? name->text.length : 64), name->text.data, list ? list : "");
    free(list);
}

static const igi_llm_architecture *architecture_of(const ig_gguf *file, ig_error *error) {
    ig_gguf_value name;
    if (ig_gguf_find(file, "general.architecture", &name) != IG_STATUS_OK || name.kind != IG_GGUF_STRING) {
        igi_error_set(error, IG_STATUS_BAD_FORMAT, "'general.architecture' is missing");
        return NULL;
    }
    for (size_t i = 0; i < ARCHITECTURES; i++)
        if (text_is(&name, architectures[i]->name)) return architectures[i];
    refuse_architecture(&name, error);
    return NULL;
}

ig_status igi_llm_model_configure(const ig_gguf *file, igi_llm_model_config *config, ig_error *error) {
    ig_error own = {0};
    reader r = {.file = file, .architecture = architecture_of(file, &own), .error = &own};
    ig_gguf_tensor embedding;
    *config = (igi_llm_model_config){.architecture = r.architecture};
    if (!r.architecture) r.status = own.status;
    if (r.status == IG_STATUS_OK) read_lengths(&r, config);
    if (r.status == IG_STATUS_OK) read_rope(&r, config);
    if (r.status == IG_STATUS_OK && ig_gguf_find_tensor(file, "token_embd.weight", &embedding) == IG_STATUS_OK)
        config->shape.vocabulary = embedding.rank == 2 && embedding.shape[0] <= MOST ? embedding.shape[0] : 0;
    if (r.status == IG_STATUS_OK && !config->shape.vocabulary)
        r.status = igi_error_set(&own, IG_STATUS_BAD_FORMAT, "'token_embd.weight' is missing or not a matrix");
    if (r.status != IG_STATUS_OK) igi_error_copy(error, &own);
    ig_error_clear(&own);
    return r.status;
}
