// SPDX-License-Identifier: Apache-2.0
// Attention: every backend against a reference in double, and against its own steps; it never stores the scores.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn-helpers.h"

typedef struct attention_case {
    uint64_t batch, queries, keys, heads, key_heads, dim;
    ig_attention_desc desc;
} attention_case;

static bool sees(const ig_attention_desc *desc, uint64_t query, uint64_t key) {
    int64_t position = (int64_t)(desc->query_position + query), at = (int64_t)key;
    return !(desc->causal && at > position) && !(desc->window && at + (int64_t)desc->window <= position);
}

static void reference_head(const attention_case *c, uint64_t query, const double *q, const double *k, const double *v,
                           uint64_t row, double *out) {
    double *scores = calloc(c->keys + 1, sizeof *scores), most = -INFINITY, sum = 0;
    for (uint64_t j = 0; j < c->keys; j++) {
        if (!sees(&c->desc, query, j)) continue;
        for (uint64_t i = 0; i < c->dim; i++) scores[j] += q[i] * k[j * row + i];
        scores[j] *= c->desc.scale != 0 ? c->desc.scale : 1 / sqrt((double)c->dim);
        most = fmax(most, scores[j]);
    }
    for (uint64_t j = 0; j < c->keys; j++) sum += scores[j] = sees(&c->desc, query, j) ? exp(scores[j] - most) : 0;
    for (uint64_t i = 0; i < c->dim; i++) {
        out[i] = 0;
        for (uint64_t j = 0; j < c->keys && sum > 0; j++) out[i] += scores[j] / sum * v[j * row + i];
    }
    free(scores);
}

static double *reference(const attention_case *c, const ig_tensor *q, const ig_tensor *k, const ig_tensor *v) {
    double *a = doubles_of(q), *b = doubles_of(k), *x = doubles_of(v);
    double *out = calloc(c->batch * c->queries * c->heads * c->dim + 1, sizeof *out);
    for (uint64_t n = 0; n < c->batch; n++)
        for (uint64_t i = 0; i < c->queries; i++)
            for (uint64_t h = 0; h < c->heads; h++) {
                uint64_t at = ((n * c->queries + i) * c->heads + h) * c->dim;
                uint64_t key = (n * c->keys * c->key_heads + h / (c->heads / c->key_heads)) * c->dim;
                reference_head(c, i, a + at, b + key, x + key, c->key_heads * c->dim, out + at);
            }
    free(a), free(b), free(x);
    return out;
}

// Probabilities weigh values of magnitude 1; scores of halves are exact in float.
static const double tolerance = 1e-5;

static void try_case(const attention_case *c, ig_type type, ig_type kept, int layout) {
    ig_tensor *q = in_layout(random_tensor(type, SHAPE(c->batch, c->queries, c->heads, c->dim), 1), layout);
    ig_tensor *k = in_layout(random_tensor(kept, SHAPE(c->batch, c->keys, c->key_heads, c->dim), 2), layout);
    ig_tensor *v = in_layout(random_tensor(kept, SHAPE(c->batch, c->keys, c->key_heads, c->dim), 3), layout);
    double *wanted = reference(c, q, k, v);
    bool large = c->queries * c->keys * c->heads > 100000;
    FOR_BACKENDS(options) {
        ig_tensor *out = NULL;
        if (large && options.backend == IG_BACKEND_SCALAR) continue;
        ig_status status = ig_tensor_attention(stream, q, k, v, &c->desc, &options, &out);
        bool declines = c->dim > 256 || (type != kept && type != IG_TYPE_F32);
        if (status == IG_STATUS_UNSUPPORTED && options.backend == IG_BACKEND_MSL && declines) continue;
        assert_ok(status);
        assert_int_equal(ig_tensor_type(out), type);
        expect_near(out, c->batch * c->queries * c->heads * c->dim, wanted, tolerance, "attention");
    }
    free(wanted);
    ig_tensor_release(q), ig_tensor_release(k), ig_tensor_release(v);
}

static const attention_case cases[] = {
    {1, 1, 1, 1, 1, 1, {.causal = true}},
    {1, 33, 33, 2, 1, 64, {.causal = true}},
    {2, 31, 257, 4, 2, 33, {.causal = true, .query_position = 226, .window = 31}},
    {1, 1, 257, 8, 1, 128, {.causal = true, .query_position = 256}},
    {3, 2, 31, 3, 3, 31, {.scale = 0.5}},
    {1, 5, 4, 2, 2, 16, {.causal = true, .query_position = 20, .window = 3}},  // nothing is seen
    {1, 20, 9, 2, 2, 16, {.causal = true, .window = 2}},                       // the last ones see nothing
    {1, 0, 7, 2, 1, 8, {.scale = 0}},
    {1, 3, 0, 2, 1, 8, {.causal = true}},
    {1, 257, 257, 1, 1, 40, {.causal = true, .window = 33}},
    {1, 100, 100, 2, 2, 160, {.scale = 0}},
    {2, 33, 65, 4, 2, 256, {.causal = true, .query_position = 32}},
    {1, 1, 130, 4, 1, 256, {.causal = true, .query_position = 129}},
    {1, 3, 9, 2, 2, 300, {.causal = true, .query_position = 6}},
};

static void attention_is_right_for_all_types_and_layouts(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++)
        FOR_FLOAT_TYPES(type) for (int layout = 0; layout < 3; layout++) try_case(&cases[i], type, type, layout);
}

static void halves_are_kept_beside_float_queries(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        try_case(&cases[i], IG_TYPE_F32, IG_TYPE_F16, 0);
        try_case(&cases[i], IG_TYPE_F32, IG_TYPE_BF16, 0);
        try_case(&cases[i], IG_TYPE_BF16, IG_TYPE_F32, 2);
    }
}

static void one_to_eight_query_heads_share_a_key_head(void **state) {
    (void)state;
    for (uint64_t group = 1; group <= 8; group++) {
        try_case(&(attention_case){1, 1, 100, 2 * group, 2, 64, {.causal = true, .query_position = 99}}, IG_TYPE_F32,
                 IG_TYPE_F32, 0);
        try_case(&(attention_case){1, 33, 70, 2 * group, 2, 32, {.causal = true, .query_position = 37}}, IG_TYPE_F32,
                 IG_TYPE_F16, 0);
    }
}

static void contexts_of_4096_tokens(void **state) {
    (void)state;
    if (SANITIZED) skip();
    try_case(&(attention_case){1, 1, 4096, 8, 2, 128, {.causal = true, .query_position = 4095}}, IG_TYPE_F32,
             IG_TYPE_F32, 0);
    try_case(&(attention_case){1, 1, 4096, 4, 4, 64, {.causal = true, .query_position = 4095}}, IG_TYPE_F32,
             IG_TYPE_F16, 0);
    try_case(&(attention_case){1, 40, 4096, 2, 1, 64, {.causal = true, .query_position = 4056}}, IG_TYPE_F32,
             IG_TYPE_F32, 0);
    try_case(&(attention_case){1, 40, 4096, 2, 1, 64, {.causal = true, .query_position = 4056, .window = 1000}},
             IG_TYPE_F32, IG_TYPE_F16, 0);
}

static void attention_is_scores_and_softmax_and_sum(void **state) {
    (void)state;
    const ig_attention_desc desc = {.causal = true, .query_position = 30, .window = 50},
                            plain = {.causal = true, .scale = 1, .query_position = 30, .window = 50};
    ig_tensor *q = random_tensor(IG_TYPE_F32, SHAPE(2, 65, 6, 48), 1);
    ig_tensor *k = random_tensor(IG_TYPE_F32, SHAPE(2, 95, 2, 48), 2),
              *v = random_tensor(IG_TYPE_F32, SHAPE(2, 95, 2, 48), 3);
    ig_tensor *scores = NULL, *weights = NULL, *sum = NULL;
    assert_ok(ig_tensor_attention_scores(stream, q, k, 0, NULL, &scores));
    assert_ok(ig_tensor_masked_softmax(stream, scores, NULL, &plain, NULL, &weights));
    assert_ok(ig_tensor_weighted_sum(stream, weights, v, NULL, &sum));
    double *wanted = doubles_of(sum);
    FOR_BACKENDS(options) {
        ig_tensor *out = NULL;
        assert_ok(ig_tensor_attention(stream, q, k, v, &desc, &options, &out));
        expect_near(out, ig_tensor_count(sum), wanted, tolerance, "steps");
    }
    free(wanted);
    ig_tensor_release(q), ig_tensor_release(k), ig_tensor_release(v);
    ig_tensor_release(scores), ig_tensor_release(weights), ig_tensor_release(sum);
}

static void the_scores_are_never_kept(void **state) {
    (void)state;
    enum { LENGTH_ = 2048 };  // scores of one head would take 16 MiB
    if (SANITIZED) skip();
    ig_tensor *x = random_tensor(IG_TYPE_F32, SHAPE(LENGTH_, 1, 16), 1);
    for (size_t b = 1; b < LENGTH(all_backends); b++) {
        ig_tensor *out = NULL;
        ig_pool_stats before, after;
        ig_device_trim_pool(device, 0);
        ig_device_get_pool_stats(device, &before);
        assert_ok(ig_tensor_attention(stream, x, x, x, NULL, &(ig_op_options){.backend = all_backends[b]}, &out));
        assert_ok(ig_stream_sync(stream, NULL));
        ig_device_get_pool_stats(device, &after);
        assert_true(after.total_bytes - before.total_bytes < 4 << 20);
        ig_tensor_release(out);
    }
    ig_tensor_release(x);
}

static void special_values_stay_in_their_rows(void **state) {
    (void)state;
    ig_tensor *k = random_tensor(IG_TYPE_F32, SHAPE(33, 1, 16), 2);
    for (uint64_t queries = 2; queries <= 40; queries += 38) {
        ig_tensor *q = random_tensor(IG_TYPE_F32, SHAPE(queries, 1, 16), 1);
        float *values = NULL;
        assert_ok(ig_tensor_map_mutable(q, (void **)&values));
        values[16 + 3] = NAN;  // of the second query
        FOR_BACKENDS(options) {
            ig_tensor *out = NULL;
            assert_ok(ig_tensor_attention(stream, q, k, k, NULL, &options, &out));
            double *got = doubles_of(out);
            for (uint64_t i = 0; i < queries * 16; i++) assert_true(isnan(got[i]) == (i / 16 == 1));
            free(got);
            ig_tensor_release(out);
        }
        ig_tensor_release(q);
    }
    ig_tensor_release(k);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    ig_tensor *q = random_tensor(IG_TYPE_F32, SHAPE(4, 3, 8), 1), *k = random_tensor(IG_TYPE_F32, SHAPE(4, 2, 8), 1);
    ig_tensor *short_k = random_tensor(IG_TYPE_F32, SHAPE(4, 3, 7), 1), *out = NULL;
    assert_status(ig_tensor_attention(stream, q, k, k, NULL, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    expect_error("do not fit together");
    assert_status(ig_tensor_attention(stream, q, short_k, q, NULL, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_tensor_attention(stream, q, NULL, q, NULL, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    assert_null(out);
    ig_tensor_release(q), ig_tensor_release(k), ig_tensor_release(short_k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_is_right_for_all_types_and_layouts),
        cmocka_unit_test(halves_are_kept_beside_float_queries),
        cmocka_unit_test(one_to_eight_query_heads_share_a_key_head),
        cmocka_unit_test(contexts_of_4096_tokens),
        cmocka_unit_test(attention_is_scores_and_softmax_and_sum),
        cmocka_unit_test(the_scores_are_never_kept),
        cmocka_unit_test(special_values_stay_in_their_rows),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests_name("attention", tests, open_test_stream, close_test_stream);
}
