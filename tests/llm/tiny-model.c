// SPDX-License-Identifier: Apache-2.0
// A small random model for tests.
#include "tiny-model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Kinds ----

static const float factors[] = {1, 2, 8, 32};

const tiny_model tiny_kinds[TINY_KINDS] = {
    {.architecture = "llama",
     .interleaved_rope = true,
     .layers = 2,
     .hidden = 48,
     .heads = 6,
     .key_heads = 2,
     .dim = 8,
     .inner = 100,
     .own_output = true},
    {.architecture = "qwen2",
     .biases = true,
     .layers = 3,
     .hidden = 40,
     .heads = 4,
     .key_heads = 4,
     .dim = 10,
     .inner = 65},
    {.architecture = "qwen3",
     .head_norms = true,
     .layers = 1,
     .hidden = 32,
     .heads = 4,
     .key_heads = 1,
     .dim = 16,
     .inner = 33},
    {.architecture = "llama",
     .interleaved_rope = true,
     .layers = 1,
     .hidden = 32,
     .heads = 4,
     .key_heads = 4,
     .dim = 8,
     .inner = 31,
     .rope_factors = factors},
};

tiny_model tiny_make_kind(int kind, uint32_t words, uint32_t seed) {
    tiny_model m = tiny_kinds[kind];
    m.words = words, m.context = 64, m.rope_base = 5000, m.epsilon = 1e-5f;
    tiny_make(&m, seed);
    return m;
}

// ---- Weights ----

static float *random_floats(uint32_t *state, size_t count, float centre, float range) {
    float *values = calloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        *state = *state * 1664525 + 1013904223;
        values[i] = centre + range * ((float)(*state >> 8) / 8388608.0f - 1);
    }
    return values;
}

static void make_layer(const tiny_model *m, tiny_layer *l, uint32_t *state) {
    size_t queries = (size_t)m->heads * m->dim, keys = (size_t)m->key_heads * m->dim;
    float range = 1.7f / sqrtf((float)m->hidden);
    *l = (tiny_layer){.attention_norm = random_floats(state, m->hidden, 1, 0.3f),
                      .feed_norm = random_floats(state, m->hidden, 1, 0.3f),
                      .query = random_floats(state, queries * m->hidden, 0, range),
                      .key = random_floats(state, keys * m->hidden, 0, range),
                      .value = random_floats(state, keys * m->hidden, 0, range),
                      .output = random_floats(state, queries * m->hidden, 0, range),
                      .gate = random_floats(state, (size_t)m->inner * m->hidden, 0, range),
                      .up = random_floats(state, (size_t)m->inner * m->hidden, 0, range),
                      .down = random_floats(state, (size_t)m->inner * m->hidden, 0, range)};
    if (m->biases) {
        l->query_bias = random_floats(state, queries, 0, 0.5f);
        l->key_bias = random_floats(state, keys, 0, 0.5f);
        l->value_bias = random_floats(state, keys, 0, 0.5f);
    }
    if (m->head_norms) {
        l->query_norm = random_floats(state, m->dim, 1, 0.3f);
        l->key_norm = random_floats(state, m->dim, 1, 0.3f);
    }
}

void tiny_make(tiny_model *m, uint32_t seed) {
    uint32_t state = seed;
    size_t table = (size_t)m->words * m->hidden;
    m->embedding = random_floats(&state, table, 0, 1);
    m->last_norm = random_floats(&state, m->hidden, 1, 0.3f);
    m->last = m->own_output ? random_floats(&state, table, 0, 0.5f) : NULL;
    for (uint32_t i = 0; i < m->layers; i++) make_layer(m, &m->layer[i], &state);
}

void tiny_free(tiny_model *m) {
    free(m->embedding), free(m->last_norm), free(m->last);
    for (uint32_t i = 0; i < m->layers; i++) {
        tiny_layer *l = &m->layer[i];
        float *all[] = {l->attention_norm, l->feed_norm, l->query_norm, l->key_norm, l->query, l->key,
                        l->value,          l->output,    l->gate,       l->up,       l->down,  l->query_bias,
                        l->key_bias,       l->value_bias};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    }
}

// ---- Writing ----

typedef struct scribe {
    const tiny_model *m;
    gguf_writer *writer;
    const char *skip;
    char name[64];
} scribe;

static const char *named(scribe *s, const char *prefix, const char *name) {
    snprintf(s->name, sizeof s->name, "%s%s", prefix, name);
    return s->name;
}

static bool is_skipped(const scribe *s) {
    return s->skip && strcmp(s->skip, s->name) == 0;
}

static void put_count(scribe *s, const char *name, uint32_t value) {
    char prefix[32];
    snprintf(prefix, sizeof prefix, "%s.", s->m->architecture);
    named(s, prefix, name);
    if (!is_skipped(s)) gguf_add_u32(s->writer, s->name, value);
}

static void put_number(scribe *s, const char *name, float value) {
    char prefix[32];
    snprintf(prefix, sizeof prefix, "%s.", s->m->architecture);
    named(s, prefix, name);
    if (!is_skipped(s)) gguf_add_f32(s->writer, s->name, value);
}

static void put_keys(scribe *s) {
    const tiny_model *m = s->m;
    named(s, "", "general.architecture");
    if (!is_skipped(s)) gguf_add_string(s->writer, s->name, m->architecture);
    put_count(s, "block_count", m->layers);
    put_count(s, "embedding_length", m->hidden);
    put_count(s, "attention.head_count", m->heads);
    put_count(s, "attention.head_count_kv", m->key_heads);
    put_count(s, "attention.key_length", m->dim);
    put_count(s, "attention.value_length", m->dim);
    put_count(s, "feed_forward_length", m->inner);
    put_count(s, "context_length", m->context);
    put_number(s, "rope.freq_base", m->rope_base);
    put_number(s, "attention.layer_norm_rms_epsilon", m->epsilon);
}

static void put_tensor(scribe *s, uint64_t rows, uint64_t columns, const float *values) {
    bool vector = rows == 0;
    if (is_skipped(s) || !values) return;
    gguf_add_tensor(s->writer, s->name, 0, vector ? 1 : 2, vector ? &columns : (uint64_t[]){rows, columns}, values,
                    (vector ? 1 : rows) * columns * sizeof *values);
}

static void put_layer(scribe *s, uint32_t index) {
    const tiny_model *m = s->m;
    const tiny_layer *l = &m->layer[index];
    uint64_t queries = (uint64_t)m->heads * m->dim, keys = (uint64_t)m->key_heads * m->dim;
    const struct {
        const char *name;
        uint64_t rows, columns;
        const float *values;
    } all[] = {{"attn_norm.weight", 0, m->hidden, l->attention_norm},
               {"ffn_norm.weight", 0, m->hidden, l->feed_norm},
               {"attn_q_norm.weight", 0, m->dim, l->query_norm},
               {"attn_k_norm.weight", 0, m->dim, l->key_norm},
               {"attn_q.weight", queries, m->hidden, l->query},
               {"attn_k.weight", keys, m->hidden, l->key},
               {"attn_v.weight", keys, m->hidden, l->value},
               {"attn_q.bias", 0, queries, l->query_bias},
               {"attn_k.bias", 0, keys, l->key_bias},
               {"attn_v.bias", 0, keys, l->value_bias},
               {"attn_output.weight", m->hidden, queries, l->output},
               {"ffn_gate.weight", m->inner, m->hidden, l->gate},
               {"ffn_up.weight", m->inner, m->hidden, l->up},
               {"ffn_down.weight", m->hidden, m->inner, l->down}};
    char prefix[32];
    snprintf(prefix, sizeof prefix, "blk.%u.", index);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        named(s, prefix, all[i].name);
        put_tensor(s, all[i].rows, all[i].columns, all[i].values);
    }
}

void tiny_write(const tiny_model *m, gguf_writer *writer, const char *skip) {
    scribe s = {.m = m, .writer = writer, .skip = skip};
    put_keys(&s);
    named(&s, "", "token_embd.weight"), put_tensor(&s, m->words, m->hidden, m->embedding);
    named(&s, "", "output_norm.weight"), put_tensor(&s, 0, m->hidden, m->last_norm);
    named(&s, "", "output.weight"), put_tensor(&s, m->words, m->hidden, m->last);
    named(&s, "", "rope_freqs.weight"), put_tensor(&s, 0, m->dim / 2, m->rope_factors);
    for (uint32_t i = 0; i < m->layers; i++) put_layer(&s, i);
}

// ---- The reference ----

static void times(const float *matrix, const float *bias, size_t rows, size_t columns, const double *x, double *y) {
    for (size_t r = 0; r < rows; r++) {
        y[r] = bias ? (double)bias[r] : 0;
        for (size_t c = 0; c < columns; c++) y[r] += (double)matrix[r * columns + c] * x[c];
    }
}

static void norm(const float *weight, double epsilon, size_t count, const double *x, double *y) {
    double squares = 0;
    for (size_t i = 0; i < count; i++) squares += x[i] * x[i];
    double scale = 1 / sqrt(squares / (double)count + epsilon);
    for (size_t i = 0; i < count; i++) y[i] = x[i] * scale * (double)weight[i];
}

static void rotate(const tiny_model *m, uint32_t position, double *head) {
    bool side_by_side = m->interleaved_rope;
    for (uint32_t i = 0; i < m->dim / 2; i++) {
        double angle = position * pow((double)m->rope_base, -2.0 * i / m->dim);
        if (m->rope_factors) angle /= (double)m->rope_factors[i];
        double *a = &head[side_by_side ? 2 * i : i], *b = &head[side_by_side ? 2 * i + 1 : i + m->dim / 2];
        double turned = *a * cos(angle) - *b * sin(angle);
        *b = *a * sin(angle) + *b * cos(angle), *a = turned;
    }
}

static void place_heads(const tiny_model *m, const float *head_norm, uint32_t heads, uint32_t position, double *x) {
    for (uint32_t h = 0; h < heads; h++) {
        double *head = x + (size_t)h * m->dim;
        if (head_norm) norm(head_norm, (double)m->epsilon, m->dim, head, head);
        rotate(m, position, head);
    }
}

// One head of one token over all tokens up to it.
static void attend(const tiny_model *m, const double *q, const double *keys, const double *values, uint32_t head,
                   uint32_t token, double *out) {
    size_t row = (size_t)m->key_heads * m->dim, at = (size_t)(head * m->key_heads / m->heads) * m->dim;
    double total = 0, most = -INFINITY, *scores = calloc((token + 1), sizeof *scores);
    for (uint32_t t = 0; t <= token; t++) {
        scores[t] = 0;
        for (uint32_t i = 0; i < m->dim; i++) scores[t] += q[i] * keys[t * row + at + i] / sqrt((double)m->dim);
        most = fmax(most, scores[t]);
    }
    for (uint32_t t = 0; t <= token; t++) total += scores[t] = exp(scores[t] - most);
    for (uint32_t i = 0; i < m->dim; i++) {
        out[i] = 0;
        for (uint32_t t = 0; t <= token; t++) out[i] += scores[t] / total * values[t * row + at + i];
    }
    free(scores);
}

static void add_attention(const tiny_model *m, const tiny_layer *l, uint32_t count, double *x) {
    size_t queries = (size_t)m->heads * m->dim, row = (size_t)m->key_heads * m->dim;
    double *normed = calloc(m->hidden, sizeof *normed), *q = calloc(count * queries, sizeof *q);
    double *keys = calloc(count * row, sizeof *keys), *values = calloc(count * row, sizeof *values);
    double *mixed = calloc(queries, sizeof *mixed), *added = calloc(m->hidden, sizeof *added);
    for (uint32_t t = 0; t < count; t++) {
        norm(l->attention_norm, (double)m->epsilon, m->hidden, x + (size_t)t * m->hidden, normed);
        times(l->query, l->query_bias, queries, m->hidden, normed, q + t * queries);
        times(l->key, l->key_bias, row, m->hidden, normed, keys + t * row);
        times(l->value, l->value_bias, row, m->hidden, normed, values + t * row);
        place_heads(m, l->query_norm, m->heads, t, q + t * queries);
        place_heads(m, l->key_norm, m->key_heads, t, keys + t * row);
    }
    for (uint32_t t = 0; t < count; t++) {
        for (uint32_t h = 0; h < m->heads; h++)
            attend(m, q + t * queries + (size_t)h * m->dim, keys, values, h, t, mixed + (size_t)h * m->dim);
        times(l->output, NULL, m->hidden, queries, mixed, added);
        for (uint32_t i = 0; i < m->hidden; i++) x[(size_t)t * m->hidden + i] += added[i];
    }
    free(normed), free(q), free(keys), free(values), free(mixed), free(added);
}

static void add_feed_forward(const tiny_model *m, const tiny_layer *l, uint32_t count, double *x) {
    double *normed = calloc(m->hidden, sizeof *normed), *added = calloc(m->hidden, sizeof *added);
    double *gate = calloc(m->inner, sizeof *gate), *up = calloc(m->inner, sizeof *up);
    for (uint32_t t = 0; t < count; t++) {
        double *at = x + (size_t)t * m->hidden;
        norm(l->feed_norm, (double)m->epsilon, m->hidden, at, normed);
        times(l->gate, NULL, m->inner, m->hidden, normed, gate);
        times(l->up, NULL, m->inner, m->hidden, normed, up);
        for (uint32_t i = 0; i < m->inner; i++) gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
        times(l->down, NULL, m->hidden, m->inner, gate, added);
        for (uint32_t i = 0; i < m->hidden; i++) at[i] += added[i];
    }
    free(normed), free(added), free(gate), free(up);
}

void tiny_logits(const tiny_model *m, const int32_t *tokens, uint32_t count, double *logits) {
    double *x = calloc((size_t)count * m->hidden, sizeof *x);
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < m->hidden; i++)
            x[(size_t)t * m->hidden + i] = (double)m->embedding[(size_t)tokens[t] * m->hidden + i];
    for (uint32_t i = 0; i < m->layers; i++) {
        add_attention(m, &m->layer[i], count, x);
        add_feed_forward(m, &m->layer[i], count, x);
    }
    double *last = x + (size_t)(count - 1) * m->hidden;
    norm(m->last_norm, (double)m->epsilon, m->hidden, last, last);
    times(m->last ? m->last : m->embedding, NULL, m->words, m->hidden, last, logits);
    free(x);
}
