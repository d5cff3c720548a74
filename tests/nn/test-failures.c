// SPDX-License-Identifier: Apache-2.0
// Memory that runs out at any allocation: the op reports it, its operands are unchanged, and it works the next time.
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "nn-helpers.h"

typedef struct scene {
    ig_tensor *q, *k, *x, *tokens;
    ig_weight *weight;
} scene;

static scene make_scene(void) {
    scene s = {.q = random_tensor(IG_TYPE_F16, SHAPE(33, 4, 32), 1),
               .k = random_tensor(IG_TYPE_F16, SHAPE(40, 2, 32), 2)};
    s.x = in_layout(random_tensor(IG_TYPE_F32, SHAPE(14, 64), 3), 1);
    s.tokens = tensor_of(IG_TYPE_I32, SHAPE(2, 2), VALUES(1, 0, 13, 5));
    assert_ok(ig_weight_quantize(stream, s.x, IG_WEIGHT_Q4_0, NULL, &s.weight));
    return s;
}

static void free_scene(scene *s) {
    ig_tensor_release(s->q), ig_tensor_release(s->k), ig_tensor_release(s->x), ig_tensor_release(s->tokens);
    ig_weight_release(s->weight);
}

// ---- Ops ----

typedef ig_status (*attempt)(const scene *s, const ig_op_options *options, ig_tensor **out);

static ig_status attend(const scene *s, const ig_op_options *options, ig_tensor **out) {
    return ig_tensor_attention(stream, s->q, s->k, s->k, NULL, options, out);
}

static ig_status soften(const scene *s, const ig_op_options *options, ig_tensor **out) {
    return ig_tensor_masked_softmax(stream, s->x, NULL, &(ig_attention_desc){.causal = true}, options, out);
}

static ig_status turn(const scene *s, const ig_op_options *options, ig_tensor **out) {
    return ig_tensor_rope(stream, s->q, NULL, options, out);
}

static ig_status multiply(const scene *s, const ig_op_options *options, ig_tensor **out) {
    return ig_weight_matmul(stream, s->weight, s->x, options, out);
}

static ig_status pick(const scene *s, const ig_op_options *options, ig_tensor **out) {
    return ig_weight_embedding(stream, s->weight, s->tokens, IG_TYPE_F32, options, out);
}

static ig_status there_and_back(const scene *s, const ig_op_options *options, ig_tensor **out) {
    ig_weight *weight = NULL;
    ig_status status = ig_weight_quantize(stream, s->x, IG_WEIGHT_Q8_0, NULL, &weight);
    if (status == IG_STATUS_OK) status = ig_weight_dequantize(stream, weight, IG_TYPE_F32, options, out);
    ig_weight_release(weight);
    return status;
}

// A cache to which nothing was appended keeps its length.
static ig_status remember(const scene *s, const ig_op_options *options, ig_tensor **out) {
    ig_kv_cache *cache = NULL;
    const ig_kv_cache_desc desc = {
        .type = IG_TYPE_F16, .layers = 2, .heads = 2, .dim = 32, .capacity = 45, .window = 5};
    ig_status status = ig_kv_cache_create(device, &desc, &cache);
    if (status == IG_STATUS_OK) {
        status = ig_kv_cache_append(stream, cache, 1, s->k, s->k);
        assert_int_equal(ig_kv_cache_length(cache, 1), status == IG_STATUS_OK ? 40 : 0);
    }
    if (status == IG_STATUS_OK) status = ig_kv_cache_attention(stream, cache, 1, s->q, 0, options, out);
    ig_kv_cache_release(cache);
    return status;
}

static const attempt attempts[] = {attend, soften, turn, multiply, pick, there_and_back, remember};

static double sum_of(const ig_tensor *x) {
    double *values = doubles_of(x), sum = 0;
    for (uint64_t i = 0; i < ig_tensor_count(x); i++) sum += values[i] * (double)(i % 7 + 1);
    free(values);
    return sum;
}

static void fail_everywhere(const scene *s, attempt try_op, ig_backend backend) {
    const ig_op_options options = {.backend = backend};
    ig_tensor *out = NULL;
    assert_ok(try_op(s, &options, &out));
    double wanted = sum_of(out), before = sum_of(s->x) + sum_of(s->q) + sum_of(s->k);
    ig_tensor_release(out);
    for (uint64_t n = 1, done = 0; !done; n++) {
        out = NULL;
        ig_device_trim_pool(device, 0);
        igi_alloc_fail_at(n);
        ig_status status = try_op(s, &options, &out), synced = ig_stream_sync(stream, NULL);
        done = igi_alloc_fail_at(0) < n;
        if (status == IG_STATUS_OK && synced == IG_STATUS_OK)
            assert_true(sum_of(out) == wanted);
        else
            assert_status(status == IG_STATUS_OK ? synced : status, IG_STATUS_OUT_OF_MEMORY);
        if (status == IG_STATUS_OK) ig_tensor_release(out);
        assert_true(sum_of(s->x) + sum_of(s->q) + sum_of(s->k) == before);
        assert_true(n < 10000);
    }
}

static void short_memory_leaves_operands_as_they_were(void **state) {
    (void)state;
    scene s = make_scene();
    for (size_t i = 0; i < LENGTH(attempts); i++)
        for (size_t b = 0; b < LENGTH(all_backends); b++) fail_everywhere(&s, attempts[i], all_backends[b]);
    free_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_memory_leaves_operands_as_they_were)};
    return cmocka_run_group_tests_name("nn failures", tests, open_test_stream, close_test_stream);
}
