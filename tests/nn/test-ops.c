// SPDX-License-Identifier: Apache-2.0
// Masked softmax, rotary positions, embeddings, gates and attention in steps: every backend, type and layout against
// references written here, in double.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn-helpers.h"

// ---- Masked softmax ----

typedef struct softmax_case {
    uint64_t queries, keys;
    ig_attention_desc desc;
} softmax_case;

static bool sees(const ig_attention_desc *desc, uint64_t query, uint64_t key) {
    int64_t position = (int64_t)(desc->query_position + query), at = (int64_t)key;
    return !(desc->causal && at > position) && !(desc->window && at + (int64_t)desc->window <= position);
}

static void reference_softmax(const softmax_case *c, const double *x, const double *added, double *out) {
    double scale = c->desc.scale == 0 ? 1 : c->desc.scale;
    for (uint64_t i = 0; i < c->queries; i++, x += c->keys, out += c->keys) {
        double most = -INFINITY, sum = 0;
        for (uint64_t j = 0; j < c->keys; j++) {
            out[j] = sees(&c->desc, i, j) ? scale * x[j] + (added ? added[i * c->keys + j] : 0) : -INFINITY;
            most = fmax(most, out[j]);
        }
        for (uint64_t j = 0; j < c->keys; j++) sum += out[j] = most == -INFINITY ? 0 : exp(out[j] - most);
        for (uint64_t j = 0; j < c->keys && sum > 0; j++) out[j] /= sum;
    }
}

static const softmax_case softmax_cases[] = {
    {1, 1, {.scale = 0}},
    {3, 31, {.scale = 0.125}},
    {33, 33, {.causal = true}},
    {31, 257, {.causal = true, .query_position = 226, .window = 33}},
    {5, 4, {.causal = true, .query_position = 20, .window = 3}},  // nothing is seen
    {0, 33, {.scale = 0}},
    {4, 0, {.scale = 0}},
    {2, 4096, {.causal = true, .query_position = 4094}},
};

static void masked_softmax_is_right_everywhere(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(softmax_cases); i++)
        FOR_FLOAT_TYPES(type) for (int layout = 0; layout < 3; layout++) {
            const softmax_case *c = &softmax_cases[i];
            ig_tensor *x = in_layout(random_tensor(type, SHAPE(c->queries, c->keys), i), layout);
            double *values = doubles_of(x), *wanted = calloc(c->queries * c->keys + 1, sizeof *wanted);
            reference_softmax(c, values, NULL, wanted);
            FOR_BACKENDS(options) {
                ig_tensor *out = NULL;
                assert_ok(ig_tensor_masked_softmax(stream, x, NULL, &c->desc, &options, &out));
                expect_near(out, c->queries * c->keys, wanted, 2e-6, "masked softmax");
            }
            free(values), free(wanted);
            ig_tensor_release(x);
        }
}

static void masks_are_added_or_choose(void **state) {
    (void)state;
    const softmax_case c = {33, 31, {.scale = 0.5}};
    ig_tensor *x = random_tensor(IG_TYPE_F32, SHAPE(33, 31), 1);
    double kept[33 * 31], added[33 * 31], wanted[33 * 31];
    for (int i = 0; i < 33 * 31; i++) {
        kept[i] = i / 31 == 7 ? 0 : i % 3 != 0;  // row 7 sees nothing
        added[i] = kept[i] != 0 ? 0 : -INFINITY;
    }
    ig_tensor *masks[] = {tensor_of(IG_TYPE_BOOL, SHAPE(33, 31), kept), tensor_of(IG_TYPE_F32, SHAPE(33, 31), added)};
    double *values = doubles_of(x);
    reference_softmax(&c, values, added, wanted);
    for (int j = 0; j < 31; j++) assert_true(wanted[7 * 31 + j] == 0);
    for (int m = 0; m < 2; m++) FOR_BACKENDS(options) {
            ig_tensor *out = NULL;
            assert_ok(ig_tensor_masked_softmax(stream, x, masks[m], &c.desc, &options, &out));
            expect_near(out, 33 * 31, wanted, 2e-6, "mask");
        }
    ig_tensor *row = NULL, *out = NULL;
    assert_ok(ig_tensor_select(masks[1], 0, 0, &row));  // one row repeats for all
    assert_ok(ig_tensor_masked_softmax(stream, x, row, &c.desc, NULL, &out));
    for (int i = 31; i < 33 * 31; i++) added[i] = added[i % 31];
    reference_softmax(&c, values, added, wanted);
    expect_near(out, 33 * 31, wanted, 2e-6, "repeated mask");
    free(values);
    ig_tensor_release(row), ig_tensor_release(x), ig_tensor_release(masks[0]), ig_tensor_release(masks[1]);
}

static void special_values_spread_as_they_should(void **state) {
    (void)state;
    const double rows[] = {1, NAN, 2, -INFINITY, -INFINITY, -INFINITY, 0, -INFINITY, 0, 1, INFINITY, 2};
    const double wanted[] = {NAN, NAN, NAN, 0, 0, 0, 0.5, 0, 0.5, NAN, NAN, NAN};
    ig_tensor *x = tensor_of(IG_TYPE_F32, SHAPE(4, 3), rows);
    FOR_BACKENDS(options) {
        ig_tensor *out = NULL;
        assert_ok(ig_tensor_masked_softmax(stream, x, NULL, NULL, &options, &out));
        expect_near(out, 12, wanted, 1e-6, "special");
    }
    ig_tensor_release(x);
}

// ---- Rotary positions ----

typedef struct rope_case {
    uint64_t batch, sequence, heads, dim;
    ig_rope_desc desc;
} rope_case;

static void reference_rope(const rope_case *c, const double *positions, const double *x, double *out) {
    uint64_t dims = c->desc.dims ? c->desc.dims : c->dim, half = dims / 2;
    double base = c->desc.base == 0 ? 10000 : c->desc.base, scale = c->desc.scale == 0 ? 1 : c->desc.scale;
    for (uint64_t row = 0; row < c->batch * c->sequence * c->heads; row++, x += c->dim, out += c->dim) {
        uint64_t token = row / c->heads % c->sequence;
        double position = (double)c->desc.position + (positions ? positions[token] : (double)token);
        memcpy(out, x, c->dim * sizeof *out);
        for (uint64_t i = 0; i < half; i++) {
            uint64_t a = c->desc.interleaved ? 2 * i : i, b = c->desc.interleaved ? 2 * i + 1 : i + half;
            double factor = c->desc.factors ? (double)c->desc.factors[i] : 1;
            double angle = scale * position / pow(base, 2.0 * (double)i / (double)dims) / factor;
            out[a] = x[a] * cos(angle) - x[b] * sin(angle);
            out[b] = x[b] * cos(angle) + x[a] * sin(angle);
        }
    }
}

static const float rope_factors[] = {1, 1, 1.5f, 4, 8, 8, 8, 32};

static const rope_case rope_cases[] = {
    {1, 1, 1, 2, {.scale = 0}},
    {2, 31, 3, 64, {.position = 5}},
    {1, 33, 2, 128, {.interleaved = true, .base = 500000, .position = 4096}},
    {1, 3, 5, 34, {.dims = 20, .scale = 0.25}},
    {1, 0, 2, 8, {.scale = 0}},
    {1, 31, 3, 16, {.factors = rope_factors, .base = 500000, .position = 9000}},
    {1, 3, 1, 19, {.factors = rope_factors, .dims = 16, .interleaved = true, .scale = 0.5}},
    {1, 7, 1, 33, {.dims = 32, .interleaved = true, .position = 1000000}},
};

static void rope_turns_pairs(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(rope_cases); i++) FOR_FLOAT_TYPES(type) for (int layout = 0; layout < 3; layout++) {
            const rope_case *c = &rope_cases[i];
            uint64_t count = c->batch * c->sequence * c->heads * c->dim;
            ig_tensor *x = in_layout(random_tensor(type, SHAPE(c->batch, c->sequence, c->heads, c->dim), i), layout);
            double *values = doubles_of(x), *wanted = calloc(count + 1, sizeof *wanted);
            reference_rope(c, NULL, values, wanted);
            FOR_BACKENDS(options) {
                ig_tensor *out = NULL;
                assert_ok(ig_tensor_rope(stream, x, &c->desc, &options, &out));
                expect_near(out, count, wanted, 4e-6, "rope");
            }
            free(values), free(wanted);
            ig_tensor_release(x);
        }
}

static void rope_takes_positions(void **state) {
    (void)state;
    rope_case c = {2, 5, 3, 16, {.position = 2}};
    const double positions[] = {7, 0, 4095, -3, 1};
    ig_tensor *x = random_tensor(IG_TYPE_F32, SHAPE(2, 5, 3, 16), 3), *out = NULL;
    ig_tensor *at = tensor_of(IG_TYPE_I32, SHAPE(5), positions);
    double *values = doubles_of(x), wanted[480];
    reference_rope(&c, positions, values, wanted);
    c.desc.positions = at;
    FOR_BACKENDS(options) {
        assert_ok(ig_tensor_rope(stream, x, &c.desc, &options, &out));
        expect_near(out, 480, wanted, 4e-6, "positions");
    }
    assert_ok(ig_tensor_rope(stream, x, &c.desc, &(ig_op_options){.into = x}, NULL));  // in place
    expect_near(x, 480, wanted, 4e-6, "in place");
    free(values);
    ig_tensor_release(at);
}

static void rope_refuses_what_does_not_fit(void **state) {
    (void)state;
    ig_tensor *x = random_tensor(IG_TYPE_F32, SHAPE(2, 3, 5), 1), *out = NULL;
    assert_status(ig_tensor_rope(stream, x, NULL, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    expect_error("it must be even");
    assert_status(ig_tensor_rope(stream, x, &(ig_rope_desc){.dims = 6}, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_tensor_rope(stream, x, &(ig_rope_desc){.dims = 4, .positions = x}, NULL, &out),
                  IG_STATUS_INVALID_ARGUMENT);
    const float bad[] = {1, 0}, worse[] = {NAN, 1};
    assert_status(ig_tensor_rope(stream, x, &(ig_rope_desc){.dims = 4, .factors = bad}, NULL, &out),
                  IG_STATUS_INVALID_ARGUMENT);
    expect_error("factor 1 is 0");
    assert_status(ig_tensor_rope(stream, x, &(ig_rope_desc){.dims = 4, .factors = worse}, NULL, &out),
                  IG_STATUS_INVALID_ARGUMENT);
    assert_null(out);
    ig_tensor_release(x);
}

// ---- Embeddings and gates ----

static void embedding_picks_rows(void **state) {
    (void)state;
    const double tokens[] = {3, 0, 30, 7, 7, -1};
    ig_tensor *table = random_tensor(IG_TYPE_F16, SHAPE(31, 33), 1), *out = NULL;
    ig_tensor *at = tensor_of(IG_TYPE_I32, SHAPE(2, 3), tokens);
    double *rows = doubles_of(table), wanted[6 * 33];
    for (int i = 0; i < 6; i++)
        memcpy(wanted + i * 33, rows + (tokens[i] < 0 ? 30 : (int)tokens[i]) * 33, 33 * sizeof *rows);
    FOR_BACKENDS(options) {
        assert_ok(ig_tensor_embedding(stream, table, at, &options, &out));
        assert_int_equal(ig_tensor_rank(out), 3);
        assert_int_equal(ig_tensor_shape(out)[2], 33);
        expect_near(out, 6 * 33, wanted, 0, "embedding");
    }
    out = NULL;
    ig_tensor *outside = tensor_of(IG_TYPE_I64, SHAPE(1), VALUES(31));
    assert_status(ig_tensor_embedding(stream, table, outside, NULL, &out), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_tensor_embedding(stream, table, table, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    assert_null(out);
    free(rows);
    ig_tensor_release(table), ig_tensor_release(at), ig_tensor_release(outside);
}

static void silu_mul_is_a_gate(void **state) {
    (void)state;
    FOR_FLOAT_TYPES(type) for (int layout = 0; layout < 3; layout++) {
        ig_tensor *gate = in_layout(random_tensor(type, SHAPE(31, 33), 1), layout);
        ig_tensor *up = in_layout(random_tensor(type, SHAPE(31, 33), 2), layout);
        double *a = doubles_of(gate), *b = doubles_of(up), wanted[31 * 33];
        for (int i = 0; i < 31 * 33; i++) wanted[i] = a[i] / (1 + exp(-a[i])) * b[i];
        FOR_BACKENDS(options) {
            ig_tensor *out = NULL;
            assert_ok(ig_tensor_silu_mul(stream, gate, up, &options, &out));
            expect_near(out, 31 * 33, wanted, 1e-6, "silu_mul");
        }
        free(a), free(b);
        ig_tensor_release(gate), ig_tensor_release(up);
    }
}

// ---- Attention in steps ----

enum { BATCH = 2, QUERIES = 5, KEYS = 33, DIM = 31 };

static void scores_and_sums_with_1_to_8_heads_of_a_group(void **state) {
    (void)state;
    for (uint64_t group = 1; group <= 8; group++)
        for (int layout = 0; layout < 3; layout++) {
            uint64_t heads = 2 * group;
            ig_tensor *q = in_layout(random_tensor(IG_TYPE_F32, SHAPE(BATCH, QUERIES, heads, DIM), 1), layout);
            ig_tensor *k = in_layout(random_tensor(IG_TYPE_F32, SHAPE(BATCH, KEYS, 2, DIM), 2), layout);
            double *a = doubles_of(q), *b = doubles_of(k);
            double *scores = calloc(BATCH * heads * QUERIES * KEYS, sizeof *scores);
            double *sums = calloc(BATCH * heads * QUERIES * DIM, sizeof *sums);
            for (uint64_t n = 0; n < BATCH; n++)
                for (uint64_t h = 0; h < heads; h++)
                    for (uint64_t i = 0; i < QUERIES; i++)
                        for (uint64_t j = 0; j < KEYS; j++) {
                            const double *x = a + ((n * QUERIES + i) * heads + h) * DIM;
                            const double *y = b + ((n * KEYS + j) * 2 + h / group) * DIM;
                            double *s = &scores[((n * heads + h) * QUERIES + i) * KEYS + j];
                            for (int d = 0; d < DIM; d++) *s += x[d] * y[d] / sqrt(DIM);
                            double *sum = sums + ((n * QUERIES + i) * heads + h) * DIM;
                            for (int d = 0; d < DIM; d++) sum[d] += *s * y[d];
                        }
            FOR_BACKENDS(options) {
                ig_tensor *s = NULL, *sum = NULL;
                assert_ok(ig_tensor_attention_scores(stream, q, k, 0, &options, &s));
                assert_int_equal(ig_tensor_shape(s)[1], heads);
                assert_ok(ig_tensor_weighted_sum(stream, s, k, &options, &sum));
                expect_near(s, BATCH * heads * QUERIES * KEYS, scores, 5e-6, "scores");
                expect_near(sum, BATCH * heads * QUERIES * DIM, sums, 5e-5, "weighted sum");
            }
            free(a), free(b), free(scores), free(sums);
            ig_tensor_release(q), ig_tensor_release(k);
        }
}

static void heads_must_come_in_groups(void **state) {
    (void)state;
    ig_tensor *q = random_tensor(IG_TYPE_F32, SHAPE(4, 3, 8), 1), *k = random_tensor(IG_TYPE_F32, SHAPE(4, 2, 8), 1);
    ig_tensor *out = NULL;
    assert_status(ig_tensor_attention_scores(stream, q, k, 0, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    expect_error("do not fit together");
    assert_null(out);
    ig_tensor_release(q), ig_tensor_release(k);
}

static void linear_multiplies_with_rows_of_the_weight(void **state) {
    (void)state;
    const uint64_t shapes[][3] = {{1, 33, 31}, {3, 257, 64}, {2, 1, 300}, {0, 4, 5}};
    for (size_t i = 0; i < LENGTH(shapes); i++) FOR_FLOAT_TYPES(type) {
            uint64_t m = shapes[i][0], n = shapes[i][1], k = shapes[i][2];
            ig_tensor *x = random_tensor(type, SHAPE(m, k), 1), *w = random_tensor(type, SHAPE(n, k), 2);
            double *a = doubles_of(x), *b = doubles_of(w), *wanted = calloc(m * n + 1, sizeof *wanted);
            for (uint64_t r = 0; r < m * n; r++)
                for (uint64_t t = 0; t < k; t++) wanted[r] += a[r / n * k + t] * b[r % n * k + t];
            FOR_BACKENDS(options) {
                ig_tensor *out = NULL;
                assert_ok(ig_tensor_linear(stream, x, w, &options, &out));
                expect_near(out, m * n, wanted, 2e-5, "linear");
            }
            free(a), free(b), free(wanted);
            ig_tensor_release(x), ig_tensor_release(w);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masked_softmax_is_right_everywhere),
        cmocka_unit_test(masks_are_added_or_choose),
        cmocka_unit_test(special_values_spread_as_they_should),
        cmocka_unit_test(rope_turns_pairs),
        cmocka_unit_test(rope_takes_positions),
        cmocka_unit_test(rope_refuses_what_does_not_fit),
        cmocka_unit_test(embedding_picks_rows),
        cmocka_unit_test(silu_mul_is_a_gate),
        cmocka_unit_test(scores_and_sums_with_1_to_8_heads_of_a_group),
        cmocka_unit_test(heads_must_come_in_groups),
        cmocka_unit_test(linear_multiplies_with_rows_of_the_weight),
    };
    return cmocka_run_group_tests_name("nn ops", tests, open_test_stream, close_test_stream);
}
