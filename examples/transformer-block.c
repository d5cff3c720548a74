// SPDX-License-Identifier: Apache-2.0
// One block of a transformer with random 4-bit weights: a prompt at once, then token by token through the cache.
#include <ingot/ingot.h>
#include <stdio.h>
#include <time.h>

enum { HIDDEN = 1024, HEADS = 16, KEY_HEADS = 4, DIM = HIDDEN / HEADS, INNER = 2816, PROMPT = 64, MORE = 32 };
enum { WQ, WK, WV, WO, GATE, UP, DOWN, WEIGHTS };

static const uint64_t shapes[WEIGHTS][2] = {
    [WQ] = {HIDDEN, HIDDEN},  [WK] = {KEY_HEADS * DIM, HIDDEN}, [WV] = {KEY_HEADS * DIM, HIDDEN},
    [WO] = {HIDDEN, HIDDEN},  [GATE] = {INNER, HIDDEN},         [UP] = {INNER, HIDDEN},
    [DOWN] = {HIDDEN, INNER},
};

typedef struct block {
    ig_stream *stream;
    ig_weight *weights[WEIGHTS];
    ig_tensor *norms[2];
    ig_kv_cache *cache;
} block;

// A call with an operand that could not be created fails too, so one check at the end is enough.
static ig_tensor *random_tensor(ig_stream *stream, uint64_t rows, uint64_t columns, uint64_t seed, double deviation) {
    ig_tensor *made = NULL;
    const ig_shape shape = {2, {rows, columns}};
    ig_tensor_random_normal(stream, IG_TYPE_F32, shape, (ig_random_desc){.seed = seed}, 0, deviation, NULL, &made);
    return made;
}

static void make_block(block *b) {
    for (int i = 0; i < WEIGHTS; i++) {
        ig_tensor *matrix = random_tensor(b->stream, shapes[i][0], shapes[i][1], (uint64_t)i, 0.02);
        ig_weight_quantize(b->stream, matrix, IG_WEIGHT_Q4_0, NULL, &b->weights[i]);
        ig_tensor_release(matrix);
    }
    for (int i = 0; i < 2; i++) ig_tensor_fill(b->stream, IG_TYPE_F32, (ig_shape){1, {HIDDEN}}, 1, NULL, &b->norms[i]);
    const ig_kv_cache_desc cache = {
        .type = IG_TYPE_F16, .layers = 1, .heads = KEY_HEADS, .dim = DIM, .capacity = PROMPT + MORE};
    ig_kv_cache_create(ig_stream_device(b->stream), &cache, &b->cache);
}

static void free_block(block *b) {
    for (int i = 0; i < WEIGHTS; i++) ig_weight_release(b->weights[i]);
    ig_tensor_release(b->norms[0]), ig_tensor_release(b->norms[1]);
    ig_kv_cache_release(b->cache);
}

static ig_tensor *times(const block *b, int weight, const ig_tensor *x) {
    ig_tensor *out = NULL;
    ig_weight_matmul(b->stream, b->weights[weight], x, NULL, &out);
    return out;
}

// x times a weight, split into heads.
static ig_tensor *project(const block *b, int weight, const ig_tensor *x, uint64_t heads) {
    ig_tensor *flat = times(b, weight, x), *view = NULL;
    ig_tensor_reshape(flat, 3, (uint64_t[]){IG_INFER, heads, DIM}, &view);
    ig_tensor_release(flat);
    return view;
}

static ig_tensor *attend(const block *b, const ig_tensor *x) {
    const ig_rope_desc rope = {.position = ig_kv_cache_length(b->cache, 0)};
    ig_tensor *q = project(b, WQ, x, HEADS), *k = project(b, WK, x, KEY_HEADS), *v = project(b, WV, x, KEY_HEADS);
    ig_tensor *mixed = NULL, *flat = NULL;
    ig_tensor_rope(b->stream, q, &rope, &(ig_op_options){.into = q}, NULL);
    ig_tensor_rope(b->stream, k, &rope, &(ig_op_options){.into = k}, NULL);
    ig_kv_cache_append(b->stream, b->cache, 0, k, v);
    ig_kv_cache_attention(b->stream, b->cache, 0, q, 0, NULL, &mixed);
    ig_tensor_reshape(mixed, 2, (uint64_t[]){IG_INFER, HIDDEN}, &flat);
    ig_tensor *out = times(b, WO, flat);
    ig_tensor_release(q), ig_tensor_release(k), ig_tensor_release(v), ig_tensor_release(mixed), ig_tensor_release(flat);
    return out;
}

static ig_tensor *feed_forward(const block *b, const ig_tensor *x) {
    ig_tensor *gate = times(b, GATE, x), *up = times(b, UP, x);
    ig_tensor_silu_mul(b->stream, gate, up, &(ig_op_options){.into = gate}, NULL);
    ig_tensor *out = times(b, DOWN, gate);
    ig_tensor_release(gate), ig_tensor_release(up);
    return out;
}

// x += part(norm(x))
static ig_status add_part(const block *b, int norm, ig_tensor *x,
                          ig_tensor *(*part)(const block *, const ig_tensor *)) {
    ig_tensor *normed = NULL;
    ig_tensor_rms_norm(b->stream, x, b->norms[norm], 0, NULL, &normed);
    ig_tensor *added = part(b, normed);
    ig_status status = ig_tensor_add(b->stream, x, added, &(ig_op_options){.into = x}, NULL);
    ig_tensor_release(normed), ig_tensor_release(added);
    return status;
}

static ig_status forward(const block *b, ig_tensor *x) {
    ig_status status = add_part(b, 0, x, attend);
    if (status == IG_STATUS_OK) status = add_part(b, 1, x, feed_forward);
    return status == IG_STATUS_OK ? ig_stream_sync(b->stream, NULL) : status;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static ig_status run(const block *b) {
    double begin = seconds();
    ig_tensor *x = random_tensor(b->stream, PROMPT, HIDDEN, 100, 1);
    ig_status status = forward(b, x);
    ig_tensor_release(x);
    double middle = seconds();
    for (uint64_t i = 0; i < MORE && status == IG_STATUS_OK; i++) {
        x = random_tensor(b->stream, 1, HIDDEN, 200 + i, 1);
        status = forward(b, x);
        ig_tensor_release(x);
    }
    double end = seconds();
    if (status == IG_STATUS_OK)
        printf("%d tokens at once: %.1f ms; then %.3f ms each, with %llu positions in the cache\n", PROMPT,
               1e3 * (middle - begin), 1e3 * (end - middle) / MORE,
               (unsigned long long)ig_kv_cache_length(b->cache, 0));
    return status;
}

int main(void) {
    ig_device *device = NULL;
    block b = {0};
    ig_error error = {0};
    ig_status status = ig_device_create(NULL, &device, &error);
    if (status == IG_STATUS_OK) status = ig_stream_create(device, NULL, &b.stream, &error);
    if (status == IG_STATUS_OK) {
        make_block(&b);
        status = run(&b);
        if (status != IG_STATUS_OK) ig_stream_get_error(b.stream, &error);
    }
    if (status != IG_STATUS_OK) fprintf(stderr, "%s\n", error.message ? error.message : ig_status_text(status));
    ig_error_clear(&error);
    free_block(&b);
    ig_stream_release(b.stream);
    ig_device_release(device);
    return status != IG_STATUS_OK;
}
