// SPDX-License-Identifier: Apache-2.0
// Tokens through the layers of a model.
#include "llm/decoder.h"

// ---- Steps ----

static void add_to(igi_llm_pass *p, ig_tensor *x, const ig_tensor *other) {
    if (p->status == IG_STATUS_OK) p->status = ig_tensor_add(p->stream, x, other, &(ig_op_options){.into = x}, NULL);
}

static ig_tensor *project(igi_llm_pass *p, const igi_llm_part *part, const ig_tensor *x) {
    ig_tensor *out = NULL;
    if (p->status == IG_STATUS_OK) p->status = ig_weight_matmul(p->stream, part->weight, x, NULL, &out);
    if (part->vector) add_to(p, out, part->vector);
    return out;
}

static ig_tensor *norm(igi_llm_pass *p, const ig_tensor *x, const ig_tensor *weight) {
    ig_tensor *out = NULL;
    if (p->status == IG_STATUS_OK)
        p->status = ig_tensor_rms_norm(p->stream, x, weight, p->model->config.norm_epsilon, NULL, &out);
    return out;
}

static ig_tensor *reshaped(igi_llm_pass *p, ig_tensor *x, uint32_t rank, const uint64_t *shape) {
    ig_tensor *view = NULL;
    if (p->status == IG_STATUS_OK) p->status = ig_tensor_reshape(x, rank, shape, &view);
    ig_tensor_release(x);
    return view;
}

// ---- Attention ----

static void rotate(igi_llm_pass *p, ig_tensor *x) {
    ig_rope_desc rope = p->model->config.rope;
    rope.position = p->position;
    if (p->status == IG_STATUS_OK) p->status = ig_tensor_rope(p->stream, x, &rope, &(ig_op_options){.into = x}, NULL);
}

// [tokens, heads, dim]
static ig_tensor *heads_of(igi_llm_pass *p, const igi_llm_part *part, const ig_tensor *x, uint64_t heads) {
    return reshaped(p, project(p, part, x), 3, (uint64_t[]){IG_INFER, heads, p->model->config.head_dim});
}

// Heads that depend on the position.
static ig_tensor *placed_heads(igi_llm_pass *p, const igi_llm_part *part, const ig_tensor *head_norm,
                               const ig_tensor *x, uint64_t heads) {
    ig_tensor *made = heads_of(p, part, x, heads);
    if (head_norm) {
        ig_tensor *normed = norm(p, made, head_norm);
        ig_tensor_release(made);
        made = normed;
    }
    rotate(p, made);
    return made;
}

ig_tensor *igi_llm_decoder_attend(igi_llm_pass *p, const igi_llm_layer *layer, const ig_tensor *x) {
    const ig_model_shape *shape = &p->model->config.shape;
    ig_tensor *q =
        placed_heads(p, &layer->parts[IGI_PART_QUERY], layer->parts[IGI_PART_QUERY_NORM].vector, x, shape->heads);
    ig_tensor *k =
        placed_heads(p, &layer->parts[IGI_PART_KEY], layer->parts[IGI_PART_KEY_NORM].vector, x, shape->key_heads);
    ig_tensor *v = heads_of(p, &layer->parts[IGI_PART_VALUE], x, shape->key_heads), *mixed = NULL;
    if (p->status == IG_STATUS_OK) p->status = ig_kv_cache_append(p->stream, p->cache, p->layer, k, v);
    if (p->status == IG_STATUS_OK) p->status = ig_kv_cache_attention(p->stream, p->cache, p->layer, q, 0, NULL, &mixed);
    mixed = reshaped(p, mixed, 2, (uint64_t[]){IG_INFER, shape->heads * p->model->config.head_dim});
    ig_tensor *out = project(p, &layer->parts[IGI_PART_OUTPUT], mixed);
    ig_tensor_release(q), ig_tensor_release(k), ig_tensor_release(v), ig_tensor_release(mixed);
    return out;
}

// ---- Layers ----

ig_tensor *igi_llm_decoder_feed_forward(igi_llm_pass *p, const igi_llm_layer *layer, const ig_tensor *x) {
    ig_tensor *gate = project(p, &layer->parts[IGI_PART_GATE], x), *up = project(p, &layer->parts[IGI_PART_UP], x);
    if (p->status == IG_STATUS_OK)
        p->status = ig_tensor_silu_mul(p->stream, gate, up, &(ig_op_options){.into = gate}, NULL);
    ig_tensor *out = project(p, &layer->parts[IGI_PART_DOWN], gate);
    ig_tensor_release(gate), ig_tensor_release(up);
    return out;
}

void igi_llm_decoder_add(igi_llm_pass *p, igi_llm_part_name norm_part, igi_llm_decoder_step step, ig_tensor *x) {
    const igi_llm_layer *layer = &p->model->layers[p->layer];
    ig_tensor *normed = norm(p, x, layer->parts[norm_part].vector), *added = step(p, layer, normed);
    add_to(p, x, added);
    ig_tensor_release(normed), ig_tensor_release(added);
}

void igi_llm_decoder_run_layer(igi_llm_pass *p, ig_tensor *x) {
    igi_llm_decoder_add(p, IGI_PART_ATTENTION_NORM, igi_llm_decoder_attend, x);
    igi_llm_decoder_add(p, IGI_PART_FEED_NORM, igi_llm_decoder_feed_forward, x);
}

// ---- Models ----

static ig_tensor *embed(igi_llm_pass *p, const int32_t *tokens, uint64_t count) {
    ig_tensor *ids = NULL, *x = NULL;
    const ig_tensor_desc desc = {.type = IG_TYPE_I32, .rank = 1, .shape = {count}, .bytes = tokens};
    p->status = ig_tensor_create(p->model->device, &desc, &ids);
    if (p->status == IG_STATUS_OK)
        p->status = ig_weight_embedding(p->stream, p->model->embedding, ids, IG_TYPE_F32, NULL, &x);
    ig_tensor_release(ids);
    return x;
}

// Only the last token's logits predict what comes next.
static ig_tensor *next_words(igi_llm_pass *p, const ig_tensor *x) {
    ig_tensor *last = NULL;
    if (p->status == IG_STATUS_OK) p->status = ig_tensor_slice(x, 0, -1, IG_TO_END, 1, &last);
    ig_tensor *normed = norm(p, last, p->model->last_norm), *words = project(p, &p->model->words, normed);
    ig_tensor_release(last), ig_tensor_release(normed);
    return words;
}

ig_status igi_llm_model_forward(const ig_model *model, ig_stream *stream, ig_kv_cache *cache, const int32_t *tokens,
                                uint64_t count, ig_tensor **words) {
    igi_llm_pass p = {.model = model, .stream = stream, .cache = cache};
    p.position = ig_kv_cache_length(cache, 0);
    ig_tensor *x = embed(&p, tokens, count), *made = NULL;
    for (; p.layer < model->config.shape.layers && p.status == IG_STATUS_OK; p.layer++)
        model->config.architecture->run_layer(&p, x);
    if (words) made = next_words(&p, x);
    ig_tensor_release(x);
    if (words && p.status == IG_STATUS_OK)
        *words = made;
    else
        ig_tensor_release(made);
    return p.status;
}
