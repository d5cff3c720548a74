// SPDX-License-Identifier: Apache-2.0
// Keys and values of the positions seen so far. Position p of a sequence is in slot p % capacity.
#include <assert.h>
#include <string.h>

#include "core/status-internal.h"
#include "tensor/front.h"
#include "tensor/nn/attention.h"

// What a sequence holds in a layer: positions first .. length - 1.
typedef struct held {
    uint64_t first, length;
} held;

struct ig_kv_cache {
    igi_refcount references;
    ig_kv_cache_desc desc;
    uint64_t sequences;     // at least 1
    ig_tensor *tensors[2];  // keys, values: [layer, sequence, slot, head, dim]
    held *held;             // [layer][sequence]
};

static uint64_t sequences_of(const ig_kv_cache_desc *desc) {
    return desc->sequences ? desc->sequences : 1;
}

static held *held_by(const ig_kv_cache *cache, uint32_t layer, uint64_t sequence) {
    return &cache->held[layer * cache->sequences + sequence];
}

static bool there_is(const ig_kv_cache *cache, uint32_t layer, uint64_t sequence) {
    return layer < cache->desc.layers && sequence < cache->sequences;
}

// ---- Life ----

ig_status ig_kv_cache_size(const ig_kv_cache_desc *desc, uint64_t *bytes) {
    uint64_t size;
    if (!desc || !bytes || !igi_tensor_is_float(desc->type))
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "kv_cache_size: desc and bytes must not be NULL, and the type f16, bf16 or f32");
    bool fits = igi_mul(UINT64_C(2) * ig_type_size(desc->type), desc->layers, &size) &&
                igi_mul(size, sequences_of(desc), &size) && igi_mul(size, desc->capacity, &size) &&
                igi_mul(size, desc->heads, &size) && igi_mul(size, desc->dim, &size);
    if (!fits || size > INT64_MAX)
        return igi_fail_with(IG_STATUS_OVERFLOW, "kv_cache_size: the cache is too large to be addressed");
    *bytes = size;
    return IG_STATUS_OK;
}

static void destroy(ig_kv_cache *cache) {
    ig_tensor_release(cache->tensors[0]);
    ig_tensor_release(cache->tensors[1]);
    free(cache->held);
    free(cache);
}

// In fresh memory, which the system commits page by page as positions are added: a large context costs only what is
// used of it.
static ig_status make_tensor(ig_device *device, const ig_kv_cache *cache, uint64_t bytes, ig_tensor **tensor) {
    const ig_kv_cache_desc *desc = &cache->desc;
    ig_buffer *buffer = NULL;
    ig_status status = ig_buffer_create(device, &(ig_buffer_desc){.length = bytes ? bytes : 1}, &buffer);
    if (status != IG_STATUS_OK) return status;
    const ig_tensor_desc memory = {.type = desc->type,
                                   .rank = 5,
                                   .shape = {desc->layers, cache->sequences, desc->capacity, desc->heads, desc->dim},
                                   .buffer = buffer};
    status = ig_tensor_create(device, &memory, tensor);
    ig_buffer_release(buffer);
    return status;
}

ig_status ig_kv_cache_create(ig_device *device, const ig_kv_cache_desc *desc, ig_kv_cache **cache) {
    uint64_t bytes, count;
    if (!device || !cache)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "kv_cache_create: device and cache must not be NULL");
    ig_status status = ig_kv_cache_size(desc, &bytes);
    if (status != IG_STATUS_OK) return status;
    if (desc->window > desc->capacity)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT,
                        "kv_cache_create: a window of %llu does not fit into a capacity of %llu",
                        (unsigned long long)desc->window, (unsigned long long)desc->capacity);
    if (!igi_mul(desc->layers, sequences_of(desc), &count))
        return igi_fail_with(IG_STATUS_OVERFLOW, "kv_cache_create: there are too many layers and sequences");
    ig_kv_cache *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_fail_no_memory();
    igi_ref_init(&made->references);
    made->desc = *desc;
    made->sequences = sequences_of(desc);
    made->held = igi_calloc(count, sizeof *made->held);
    if (!made->held) status = igi_fail_no_memory();
    for (int i = 0; i < 2 && status == IG_STATUS_OK; i++)
        status = make_tensor(device, made, bytes / 2, &made->tensors[i]);
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

uint64_t ig_kv_cache_sequence_length(const ig_kv_cache *cache, uint32_t layer, uint64_t sequence) {
    return there_is(cache, layer, sequence) ? held_by(cache, layer, sequence)->length : 0;
}

uint64_t ig_kv_cache_length(const ig_kv_cache *cache, uint32_t layer) {
    return ig_kv_cache_sequence_length(cache, layer, 0);
}

uint64_t ig_kv_cache_sequence_first(const ig_kv_cache *cache, uint32_t layer, uint64_t sequence) {
    return there_is(cache, layer, sequence) ? held_by(cache, layer, sequence)->first : 0;
}

uint64_t ig_kv_cache_first(const ig_kv_cache *cache, uint32_t layer) {
    return ig_kv_cache_sequence_first(cache, layer, 0);
}

// ---- Sequences ----

// Some or all sequences of a layer, for one step.
typedef struct part {
    ig_kv_cache *cache;
    uint32_t layer;
    uint64_t from, count;
    bool batched;  // operands have a dimension for them
} part;

static part all_of(const ig_kv_cache *cache, uint32_t layer) {
    return (part){(ig_kv_cache *)cache, layer, 0, cache->sequences, cache->desc.sequences != 0};
}

static part one_of(const ig_kv_cache *cache, uint32_t layer, uint64_t sequence) {
    return (part){(ig_kv_cache *)cache, layer, sequence, 1, false};
}

// Whether all are at the same position, so that one op is enough.
static bool in_step(const part *p) {
    const held *first = held_by(p->cache, p->layer, p->from);
    for (uint64_t i = 1; i < p->count; i++)
        if (first[i].first != first->first || first[i].length != first->length) return false;
    return true;
}

// Keys or values: [slot, head, dim], preceded by sequences if the part has them.
static ig_status memory_of(const part *p, int which, ig_tensor **slots) {
    ig_tensor *layer = NULL;
    ig_status status = ig_tensor_select(p->cache->tensors[which], 0, p->layer, &layer);
    if (status == IG_STATUS_OK && p->batched)
        status = ig_tensor_slice(layer, 0, (int64_t)p->from, (int64_t)(p->from + p->count), 1, slots);
    else if (status == IG_STATUS_OK)
        status = ig_tensor_select(layer, 0, (int64_t)p->from, slots);
    ig_tensor_release(layer);
    return status;
}

static ig_status memories_of(const part *p, ig_tensor *slots[2]) {
    ig_status status = memory_of(p, 0, &slots[0]);
    return status == IG_STATUS_OK ? memory_of(p, 1, &slots[1]) : status;
}

ig_status ig_kv_cache_view(const ig_kv_cache *cache, uint32_t layer, ig_tensor **keys, ig_tensor **values) {
    ig_tensor *slots[2] = {NULL, NULL};
    if (!cache || !keys || !values)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "kv_cache_view: cache, keys and values must not be NULL");
    if (layer >= cache->desc.layers)
        return igi_fail(IG_STATUS_OUT_OF_RANGE, "kv_cache_view: there is no layer %u of %u", layer, cache->desc.layers);
    const part p = all_of(cache, layer);
    ig_status status = memories_of(&p, slots);
    if (status == IG_STATUS_OK)
        *keys = slots[0], *values = slots[1];
    else
        ig_tensor_release(slots[0]);
    return status;
}

// The operand of one sequence among those of all.
static ig_status operand_of(const part *p, uint64_t which, const ig_tensor *x, part *one, ig_tensor **operand) {
    *one = one_of(p->cache, p->layer, p->from + which);
    return ig_tensor_select(x, 0, (int64_t)which, operand);
}

static ig_status check_place(ig_stream *stream, const ig_kv_cache *cache, uint32_t layer, uint64_t sequence) {
    if (layer >= cache->desc.layers)
        return igi_tensor_stream_fail(stream, IG_STATUS_OUT_OF_RANGE, "%s: there is no layer %u", stream->caller,
                                      layer);
    if (sequence < cache->sequences) return IG_STATUS_OK;
    return igi_tensor_stream_fail(stream, IG_STATUS_OUT_OF_RANGE, "%s: there is no sequence %llu", stream->caller,
                                  (unsigned long long)sequence);
}

// ---- Append ----

// Copies positions [from, from + count) of x into slots from `slot` on, which do not wrap around.
static ig_status put(ig_stream *stream, const ig_tensor *x, uint64_t from, uint64_t count, const ig_tensor *slots,
                     uint64_t slot) {
    ig_tensor *source = NULL, *target = NULL;
    int32_t axis = (int32_t)x->view.rank - 3;
    if (count == 0) return IG_STATUS_OK;
    assert(slot + count <= slots->view.shape[slots->view.rank - 3]);
    ig_status status = ig_tensor_slice(x, axis, (int64_t)from, (int64_t)(from + count), 1, &source);
    if (status == IG_STATUS_OK)
        status = ig_tensor_slice(slots, axis, (int64_t)slot, (int64_t)(slot + count), 1, &target);
    const ig_op_options options = {.into = target};
    if (status == IG_STATUS_OK) status = ig_tensor_cast(stream, source, ig_tensor_type(target), &options, NULL);
    ig_tensor_release(source), ig_tensor_release(target);
    return status;
}

static ig_status put_around(ig_stream *stream, const part *p, const ig_tensor *x, const ig_tensor *slots) {
    uint64_t capacity = p->cache->desc.capacity, count = x->view.shape[x->view.rank - 3];
    uint64_t slot = capacity ? held_by(p->cache, p->layer, p->from)->length % capacity : 0;
    uint64_t straight = count < capacity - slot ? count : capacity - slot;
    ig_status status = put(stream, x, 0, straight, slots, slot);
    return status == IG_STATUS_OK ? put(stream, x, straight, count - straight, slots, 0) : status;
}

static ig_status put_both(ig_stream *stream, const part *p, const ig_tensor *k, const ig_tensor *v) {
    ig_tensor *slots[2] = {NULL, NULL};
    ig_status status = memories_of(p, slots);
    if (status == IG_STATUS_OK) status = put_around(stream, p, k, slots[0]);
    if (status == IG_STATUS_OK) status = put_around(stream, p, v, slots[1]);
    ig_tensor_release(slots[0]), ig_tensor_release(slots[1]);
    return status;
}

static ig_status put_each(ig_stream *stream, const part *p, const ig_tensor *k, const ig_tensor *v) {
    ig_status status = IG_STATUS_OK;
    for (uint64_t i = 0; i < p->count && status == IG_STATUS_OK; i++) {
        ig_tensor *keys = NULL, *values = NULL;
        part one;
        status = operand_of(p, i, k, &one, &keys);
        if (status == IG_STATUS_OK) status = operand_of(p, i, v, &one, &values);
        if (status == IG_STATUS_OK) status = put_both(stream, &one, keys, values);
        ig_tensor_release(keys), ig_tensor_release(values);
    }
    return status;
}

static ig_status check_rows(ig_stream *stream, const part *p, const ig_tensor *x, const char *role) {
    char text[IGI_SHAPE_TEXT];
    const ig_kv_cache_desc *desc = &p->cache->desc;
    uint32_t rank = p->batched ? 4 : 3;
    bool fits = x->view.rank == rank && x->view.shape[rank - 2] == desc->heads && x->view.shape[rank - 1] == desc->dim;
    if (fits && (!p->batched || x->view.shape[0] == p->count)) return IG_STATUS_OK;
    igi_tensor_shape_text(x->view.rank, x->view.shape, text);
    if (p->batched)
        return igi_tensor_stream_fail(
            stream, IG_STATUS_INVALID_ARGUMENT, "%s: %s of shape %s is not [%llu, .., %llu, %llu]", stream->caller,
            role, text, (unsigned long long)p->count, (unsigned long long)desc->heads, (unsigned long long)desc->dim);
    return igi_tensor_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT, "%s: %s of shape %s is not [.., %llu, %llu]",
                                  stream->caller, role, text, (unsigned long long)desc->heads,
                                  (unsigned long long)desc->dim);
}

// The first of several new positions still needs its whole window.
static ig_status check_room(ig_stream *stream, const part *p, uint64_t count) {
    uint64_t capacity = p->cache->desc.capacity, window = p->cache->desc.window, least = UINT64_MAX;
    for (uint64_t i = 0; i < p->count; i++) {
        uint64_t length = held_by(p->cache, p->layer, p->from + i)->length;
        uint64_t room = window ? capacity - window + 1 : capacity - (length < capacity ? length : capacity);
        if (room < least) least = room;
    }
    if (count <= least) return IG_STATUS_OK;
    return igi_tensor_stream_fail(stream, IG_STATUS_OUT_OF_RANGE, "%s: %llu positions do not fit, only %llu do",
                                  stream->caller, (unsigned long long)count, (unsigned long long)least);
}

static void lengthen(const part *p, uint64_t count) {
    uint64_t capacity = p->cache->desc.capacity;
    for (uint64_t i = 0; i < p->count; i++) {
        held *h = held_by(p->cache, p->layer, p->from + i);
        h->length += count;
        if (h->length - h->first > capacity) h->first = h->length - capacity;
        assert(p->cache->desc.window || h->first == 0);
    }
}

static ig_status append(ig_stream *stream, const part *p, const ig_tensor *k, const ig_tensor *v) {
    ig_status status = check_rows(stream, p, k, "k");
    if (status == IG_STATUS_OK) status = check_rows(stream, p, v, "v");
    if (status != IG_STATUS_OK) return status;
    uint32_t axis = k->view.rank - 3;
    uint64_t count = k->view.shape[axis];
    if (v->view.shape[axis] != count)
        return igi_tensor_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT,
                                      "%s: k and v have different numbers of positions", stream->caller);
    status = check_room(stream, p, count);
    if (status == IG_STATUS_OK) status = (in_step(p) ? put_both : put_each)(stream, p, k, v);
    if (status == IG_STATUS_OK) lengthen(p, count);
    return status;
}

ig_status ig_kv_cache_append(ig_stream *stream, ig_kv_cache *cache, uint32_t layer, const ig_tensor *k,
                             const ig_tensor *v) {
    if (!stream || !cache || !k || !v)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "kv_cache_append: stream, cache, k and v must not be NULL");
    const char *outer = igi_tensor_stream_enter(stream, "kv_cache_append");
    ig_status status = check_place(stream, cache, layer, 0);
    const part p = all_of(cache, layer);
    if (status == IG_STATUS_OK) status = append(stream, &p, k, v);
    return igi_tensor_stream_leave(stream, outer, status);
}

ig_status ig_kv_cache_append_sequence(ig_stream *stream, ig_kv_cache *cache, uint32_t layer, uint64_t sequence,
                                      const ig_tensor *k, const ig_tensor *v) {
    if (!stream || !cache || !k || !v)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "kv_cache_append_sequence: stream, cache, k and v must not be NULL");
    const char *outer = igi_tensor_stream_enter(stream, "kv_cache_append_sequence");
    ig_status status = check_place(stream, cache, layer, sequence);
    const part p = one_of(cache, layer, sequence);
    if (status == IG_STATUS_OK) status = append(stream, &p, k, v);
    return igi_tensor_stream_leave(stream, outer, status);
}

// ---- Truncate ----

// The keys that the next position sees must still be there; the first position sees none.
static bool may_truncate(const ig_kv_cache *cache, const held *h, uint64_t length) {
    uint64_t window = cache->desc.window, needed = window && length >= window ? length + 1 - window : 0;
    return length == 0 || h->length <= length || h->first <= needed;
}

static ig_status truncate(ig_kv_cache *cache, uint64_t from, uint64_t count, uint64_t length) {
    for (uint32_t layer = 0; layer < cache->desc.layers; layer++)
        for (uint64_t i = 0; i < count; i++)
            if (!may_truncate(cache, held_by(cache, layer, from + i), length))
                return igi_fail(IG_STATUS_OUT_OF_RANGE,
                                "kv_cache_truncate: positions that length %llu needs have been overwritten",
                                (unsigned long long)length);
    for (uint32_t layer = 0; layer < cache->desc.layers; layer++)
        for (uint64_t i = 0; i < count; i++) {
            held *h = held_by(cache, layer, from + i);
            if (length == 0) h->first = 0;
            if (h->length > length) h->length = length;
            assert(h->first <= h->length);
        }
    return IG_STATUS_OK;
}

ig_status ig_kv_cache_truncate(ig_kv_cache *cache, uint64_t length) {
    if (!cache) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "kv_cache_truncate: the cache is NULL");
    return truncate(cache, 0, cache->sequences, length);
}

ig_status ig_kv_cache_truncate_sequence(ig_kv_cache *cache, uint64_t sequence, uint64_t length) {
    if (!cache) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "kv_cache_truncate_sequence: the cache is NULL");
    if (sequence < cache->sequences) return truncate(cache, sequence, 1, length);
    return igi_fail(IG_STATUS_OUT_OF_RANGE, "kv_cache_truncate_sequence: there is no sequence %llu of %llu",
                    (unsigned long long)sequence, (unsigned long long)cache->sequences);
}

// ---- Attention ----

static ig_status attend(ig_stream *stream, const part *p, const ig_tensor *q, double scale,
                        const ig_op_options *options, ig_tensor **out) {
    ig_tensor *slots[2] = {NULL, NULL};
    const held *h = held_by(p->cache, p->layer, p->from);
    assert(in_step(p));
    uint64_t capacity = p->cache->desc.capacity, keys = h->length - h->first;
    uint64_t queries = q->view.shape[q->view.rank - 3];
    ig_status status = memories_of(p, slots);
    const ig_attention_desc desc = {
        .scale = scale, .causal = true, .window = p->cache->desc.window, .query_position = keys - queries};
    const igi_tensor_key_ring ring = {keys, capacity ? h->first % capacity : 0};
    if (status == IG_STATUS_OK)
        status = igi_tensor_attention(stream, q, slots[0], slots[1], &desc, &ring, options, out);
    ig_tensor_release(slots[0]), ig_tensor_release(slots[1]);
    return status;
}

// Attention of each sequence into its part of the result.
static ig_status attend_into(ig_stream *stream, const part *p, const ig_tensor *q, double scale,
                             const ig_op_options *options, ig_tensor *result) {
    ig_op_options inner = options ? *options : (ig_op_options){0};
    ig_status status = IG_STATUS_OK;
    for (uint64_t i = 0; i < p->count && status == IG_STATUS_OK; i++) {
        ig_tensor *queries = NULL, *place = NULL;
        part one;
        status = operand_of(p, i, q, &one, &queries);
        if (status == IG_STATUS_OK) status = ig_tensor_select(result, 0, (int64_t)i, &place);
        inner.into = place;
        if (status == IG_STATUS_OK) status = attend(stream, &one, queries, scale, &inner, NULL);
        ig_tensor_release(queries), ig_tensor_release(place);
    }
    return status;
}

static ig_status attend_each(ig_stream *stream, const part *p, const ig_tensor *q, double scale,
                             const ig_op_options *options, ig_tensor **out) {
    if (options && options->into) {
        ig_status status = attend_into(stream, p, q, scale, options, options->into);
        if (status == IG_STATUS_OK && out) *out = ig_tensor_retain(options->into);
        return status;
    }
    if (!out)
        return igi_tensor_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT, "%s: out is NULL, and no 'into' is given",
                                      stream->caller);
    ig_type operand, type;
    ig_tensor *made = NULL;
    igi_op_types(IG_OP_ATTENTION, q->view.type, &operand, &type);
    ig_status status = igi_tensor_make(ig_stream_device(stream), type, q->view.rank, q->view.shape, &made);
    if (status == IG_STATUS_OK) status = attend_into(stream, p, q, scale, options, made);
    if (status == IG_STATUS_OK)
        *out = made;
    else
        ig_tensor_release(made);
    return status;
}

static bool fits_queries(const part *p, const ig_tensor *q) {
    uint32_t rank = p->batched ? 4 : 3;
    if (q->view.rank != rank || (p->batched && q->view.shape[0] != p->count)) return false;
    for (uint64_t i = 0; i < p->count; i++) {
        const held *h = held_by(p->cache, p->layer, p->from + i);
        if (q->view.shape[rank - 3] > h->length - h->first) return false;
    }
    return true;
}

static ig_status attention(ig_stream *stream, const part *p, const ig_tensor *q, double scale,
                           const ig_op_options *options, ig_tensor **out) {
    if (!fits_queries(p, q))
        return igi_tensor_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT,
                                      "%s: queries must be [%spositions, heads, dim] of the last positions",
                                      stream->caller, p->batched ? "sequences, " : "");
    return (in_step(p) ? attend : attend_each)(stream, p, q, scale, options, out);
}

ig_status ig_kv_cache_attention(ig_stream *stream, const ig_kv_cache *cache, uint32_t layer, const ig_tensor *q,
                                double scale, const ig_op_options *options, ig_tensor **out) {
    if (!stream || !cache || !q)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "kv_cache_attention: stream, cache and q must not be NULL");
    const char *outer = igi_tensor_stream_enter(stream, "kv_cache_attention");
    ig_status status = check_place(stream, cache, layer, 0);
    const part p = all_of(cache, layer);
    if (status == IG_STATUS_OK) status = attention(stream, &p, q, scale, options, out);
    return igi_tensor_stream_leave(stream, outer, status);
}

ig_status ig_kv_cache_attention_sequence(ig_stream *stream, const ig_kv_cache *cache, uint32_t layer, uint64_t sequence,
                                         const ig_tensor *q, double scale, const ig_op_options *options,
                                         ig_tensor **out) {
    if (!stream || !cache || !q)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "kv_cache_attention_sequence: stream, cache and q must not be NULL");
    const char *outer = igi_tensor_stream_enter(stream, "kv_cache_attention_sequence");
    ig_status status = check_place(stream, cache, layer, sequence);
    const part p = one_of(cache, layer, sequence);
    if (status == IG_STATUS_OK) status = attention(stream, &p, q, scale, options, out);
    return igi_tensor_stream_leave(stream, outer, status);
}
