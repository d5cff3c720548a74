// SPDX-License-Identifier: Apache-2.0
// Keys and values of positions seen so far. Position p lies in slot p % capacity.
#include <string.h>

#include "core/status-internal.h"
#include "nn/attention.h"
#include "tensor/front.h"

// What a layer has: positions first .. length - 1.
typedef struct held {
    uint64_t first, length;
} held;

struct ig_kv_cache {
    igi_refcount references;
    ig_kv_cache_desc desc;
    ig_tensor *tensors[2];  // keys, values: [layer, slot, head, dim]
    held *layers;
};

ig_status ig_kv_cache_size(const ig_kv_cache_desc *desc, uint64_t *bytes) {
    uint64_t size;
    if (!desc || !bytes || !igi_is_float(desc->type)) return IG_STATUS_INVALID_ARGUMENT;
    bool fits = igi_mul(2 * ig_type_size(desc->type), desc->layers, &size) && igi_mul(size, desc->capacity, &size) &&
                igi_mul(size, desc->heads, &size) && igi_mul(size, desc->dim, &size);
    if (!fits || size > INT64_MAX) return IG_STATUS_OVERFLOW;
    *bytes = size;
    return IG_STATUS_OK;
}

static void destroy(ig_kv_cache *cache) {
    ig_tensor_release(cache->tensors[0]);
    ig_tensor_release(cache->tensors[1]);
    free(cache->layers);
    free(cache);
}

ig_status ig_kv_cache_create(ig_device *device, const ig_kv_cache_desc *desc, ig_kv_cache **cache) {
    uint64_t bytes;
    if (!device || !cache) return IG_STATUS_INVALID_ARGUMENT;
    ig_status status = ig_kv_cache_size(desc, &bytes);
    if (status != IG_STATUS_OK) return status;
    if (desc->window > desc->capacity) return IG_STATUS_INVALID_ARGUMENT;
    ig_kv_cache *made = igi_calloc(1, sizeof *made);
    if (!made) return IG_STATUS_OUT_OF_MEMORY;
    igi_ref_init(&made->references);
    made->desc = *desc;
    made->layers = igi_calloc(desc->layers, sizeof *made->layers);
    if (!made->layers) status = IG_STATUS_OUT_OF_MEMORY;
    const ig_tensor_desc memory = {
        .type = desc->type, .rank = 4, .shape = {desc->layers, desc->capacity, desc->heads, desc->dim}};
    for (int i = 0; i < 2 && status == IG_STATUS_OK; i++) status = ig_tensor_create(device, &memory, &made->tensors[i]);
    if (status == IG_STATUS_OK)
        *cache = made;
    else
        destroy(made);
    return status;
}

ig_kv_cache *ig_kv_cache_retain(ig_kv_cache *cache) {
    if (cache) igi_ref_take(&cache->references);
    return cache;
}

void ig_kv_cache_release(ig_kv_cache *cache) {
    if (cache && igi_ref_drop(&cache->references)) destroy(cache);
}

uint64_t ig_kv_cache_length(const ig_kv_cache *cache, uint32_t layer) {
    return layer < cache->desc.layers ? cache->layers[layer].length : 0;
}

uint64_t ig_kv_cache_first(const ig_kv_cache *cache, uint32_t layer) {
    return layer < cache->desc.layers ? cache->layers[layer].first : 0;
}

ig_status ig_kv_cache_view(const ig_kv_cache *cache, uint32_t layer, ig_tensor **keys, ig_tensor **values) {
    ig_tensor *k = NULL;
    if (!cache || !keys || !values) return IG_STATUS_INVALID_ARGUMENT;
    ig_status status = ig_tensor_select(cache->tensors[0], 0, layer, &k);
    if (status != IG_STATUS_OK) return status;
    status = ig_tensor_select(cache->tensors[1], 0, layer, values);
    if (status == IG_STATUS_OK)
        *keys = k;
    else
        ig_tensor_release(k);
    return status;
}

// ---- Append ----

// Rows [from, from + count) of x into slots from `slot` on, which do not come around.
static ig_status put(ig_stream *stream, const ig_tensor *x, uint64_t from, uint64_t count, const ig_tensor *slots,
                     uint64_t slot) {
    ig_tensor *source = NULL, *target = NULL;
    if (count == 0) return IG_STATUS_OK;
    ig_status status = ig_tensor_slice(x, 0, (int64_t)from, (int64_t)(from + count), 1, &source);
    if (status == IG_STATUS_OK) status = ig_tensor_slice(slots, 0, (int64_t)slot, (int64_t)(slot + count), 1, &target);
    const ig_op_options options = {.into = target};
    if (status == IG_STATUS_OK) status = ig_tensor_cast(stream, source, ig_tensor_type(target), &options, NULL);
    ig_tensor_release(source), ig_tensor_release(target);
    return status;
}

static ig_status put_around(ig_stream *stream, const ig_kv_cache *cache, const ig_tensor *x, const ig_tensor *slots,
                            uint64_t position) {
    uint64_t capacity = cache->desc.capacity, slot = position % capacity, count = x->view.shape[0];
    uint64_t straight = count < capacity - slot ? count : capacity - slot;
    ig_status status = put(stream, x, 0, straight, slots, slot);
    return status == IG_STATUS_OK ? put(stream, x, straight, count - straight, slots, 0) : status;
}

static ig_status check_rows(ig_stream *stream, const ig_kv_cache *cache, uint32_t layer, const ig_tensor *x,
                            const char *role) {
    char text[IGI_SHAPE_TEXT];
    if (layer >= cache->desc.layers)
        return igi_stream_fail(stream, IG_STATUS_OUT_OF_RANGE, "kv_cache: there is no layer %u", layer);
    if (x->view.rank == 3 && x->view.shape[1] == cache->desc.heads && x->view.shape[2] == cache->desc.dim)
        return IG_STATUS_OK;
    return igi_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT, "kv_cache: %s of shape %s is not [.., %llu, %llu]", role,
                           igi_shape_text(x->view.rank, x->view.shape, text), (unsigned long long)cache->desc.heads,
                           (unsigned long long)cache->desc.dim);
}

// The first of several new positions still needs its window.
static ig_status check_room(ig_stream *stream, const ig_kv_cache *cache, const held *h, uint64_t count) {
    uint64_t capacity = cache->desc.capacity, window = cache->desc.window;
    uint64_t room = window ? capacity - window + 1 : capacity - (h->length < capacity ? h->length : capacity);
    if (count <= room) return IG_STATUS_OK;
    return igi_stream_fail(stream, IG_STATUS_OUT_OF_RANGE, "kv_cache: %llu positions do not fit, only %llu do",
                           (unsigned long long)count, (unsigned long long)room);
}

ig_status ig_kv_cache_append(ig_stream *stream, ig_kv_cache *cache, uint32_t layer, const ig_tensor *k,
                             const ig_tensor *v) {
    ig_tensor *slots[2] = {NULL, NULL};
    if (!stream || !cache || !k || !v) return IG_STATUS_INVALID_ARGUMENT;
    ig_status status = check_rows(stream, cache, layer, k, "k");
    if (status == IG_STATUS_OK) status = check_rows(stream, cache, layer, v, "v");
    if (status != IG_STATUS_OK) return status;
    held *h = &cache->layers[layer];
    uint64_t count = k->view.shape[0];
    if (v->view.shape[0] != count)
        return igi_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT, "kv_cache: there are not as many values as keys");
    status = check_room(stream, cache, h, count);
    if (status == IG_STATUS_OK) status = ig_kv_cache_view(cache, layer, &slots[0], &slots[1]);
    if (status == IG_STATUS_OK) status = put_around(stream, cache, k, slots[0], h->length);
    if (status == IG_STATUS_OK) status = put_around(stream, cache, v, slots[1], h->length);
    if (status == IG_STATUS_OK) {
        h->length += count;
        if (h->length - h->first > cache->desc.capacity) h->first = h->length - cache->desc.capacity;
    }
    ig_tensor_release(slots[0]), ig_tensor_release(slots[1]);
    return status;
}

// What the next position needs must still be there.
ig_status ig_kv_cache_truncate(ig_kv_cache *cache, uint64_t length) {
    if (!cache) return IG_STATUS_INVALID_ARGUMENT;
    uint64_t window = cache->desc.window, needed = window && length >= window ? length + 1 - window : 0;
    for (uint32_t i = 0; i < cache->desc.layers; i++)
        if (cache->layers[i].first > needed && cache->layers[i].length > length) return IG_STATUS_OUT_OF_RANGE;
    for (uint32_t i = 0; i < cache->desc.layers; i++)
        if (cache->layers[i].length > length) cache->layers[i].length = length;
    return IG_STATUS_OK;
}

// ---- Attention ----

ig_status ig_kv_cache_attention(ig_stream *stream, const ig_kv_cache *cache, uint32_t layer, const ig_tensor *q,
                                double scale, const ig_op_options *options, ig_tensor **out) {
    ig_tensor *k = NULL, *v = NULL;
    if (!stream || !cache || !q) return IG_STATUS_INVALID_ARGUMENT;
    if (layer >= cache->desc.layers)
        return igi_stream_fail(stream, IG_STATUS_OUT_OF_RANGE, "kv_cache: there is no layer %u", layer);
    const held *h = &cache->layers[layer];
    uint64_t queries = q->view.rank == 3 ? q->view.shape[0] : 0, keys = h->length - h->first;
    if (q->view.rank != 3 || queries > keys)
        return igi_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT,
                               "kv_cache: queries must be [positions, heads, dim] of the last positions");
    ig_status status = ig_kv_cache_view(cache, layer, &k, &v);
    if (status != IG_STATUS_OK) return status;
    const ig_attention_desc desc = {
        .scale = scale, .causal = true, .window = cache->desc.window, .query_position = keys - queries};
    const igi_key_ring ring = {keys, cache->desc.capacity ? h->first % cache->desc.capacity : 0};
    status = igi_attention(stream, q, k, v, &desc, &ring, options, out);
    ig_tensor_release(k), ig_tensor_release(v);
    return status;
}
