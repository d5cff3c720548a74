// SPDX-License-Identifier: Apache-2.0
// A whole transformer block with random weights, made of the public ops, against a reference in double; token by token
// through the cache it gives the same results as all at once.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn-helpers.h"

enum { HIDDEN = 64, HEADS = 4, KEY_HEADS = 2, DIM = HIDDEN / HEADS, INNER = 96, TOKENS = 9 };

enum { WQ, WK, WV, WO, GATE, UP, DOWN, WEIGHTS };
static const uint64_t weight_shapes[WEIGHTS][2] = {
    [WQ] = {HIDDEN, HIDDEN},  [WK] = {KEY_HEADS * DIM, HIDDEN}, [WV] = {KEY_HEADS * DIM, HIDDEN},
    [WO] = {HIDDEN, HIDDEN},  [GATE] = {INNER, HIDDEN},         [UP] = {INNER, HIDDEN},
    [DOWN] = {HIDDEN, INNER},
};

typedef struct block {
    ig_weight *weights[WEIGHTS];
    ig_tensor *norms[2];
    ig_kv_cache *cache;
} block;

static block make_block(ig_weight_type type, ig_type kept) {
    block b = {0};
    for (int i = 0; i < WEIGHTS; i++) {
        ig_tensor *matrix = random_tensor(IG_TYPE_F32, 2, weight_shapes[i], (uint64_t)i + 10), *scaled = NULL,
                  *by = NULL;
        assert_ok(ig_tensor_create_scalar(device, IG_TYPE_F32, 0.2, &by));
        assert_ok(ig_tensor_mul(stream, matrix, by, NULL, &scaled));
        assert_ok(ig_weight_quantize(stream, scaled, type, NULL, &b.weights[i]));
        ig_tensor_release(matrix), ig_tensor_release(scaled), ig_tensor_release(by);
    }
    for (int i = 0; i < 2; i++) b.norms[i] = random_tensor(IG_TYPE_F32, SHAPE(HIDDEN), (uint64_t)i + 30);
    const ig_kv_cache_desc desc = {.type = kept, .layers = 1, .heads = KEY_HEADS, .dim = DIM, .capacity = 16};
    assert_ok(ig_kv_cache_create(device, &desc, &b.cache));
    return b;
}

static void free_block(block *b) {
    for (int i = 0; i < WEIGHTS; i++) ig_weight_release(b->weights[i]);
    ig_tensor_release(b->norms[0]), ig_tensor_release(b->norms[1]);
    ig_kv_cache_release(b->cache);
}

// ---- The block ----

static ig_tensor *times(const block *b, int weight, const ig_tensor *x) {
    ig_tensor *out = NULL;
    assert_ok(ig_weight_matmul(stream, b->weights[weight], x, NULL, &out));
    return out;
}

// [tokens, heads * dim] as heads, rotated by position if requested. Releases x.
static ig_tensor *as_heads(ig_tensor *x, uint64_t heads, bool turns, uint64_t position) {
    ig_tensor *view = NULL, *out = NULL;
    assert_ok(ig_tensor_reshape(x, 3, (uint64_t[]){ig_tensor_shape(x)[0], heads, DIM}, &view));
    ig_tensor_release(x);
    if (!turns) return view;
    assert_ok(ig_tensor_rope(stream, view, &(ig_rope_desc){.position = position}, NULL, &out));
    ig_tensor_release(view);
    return out;
}

static ig_tensor *attend(const block *b, const ig_tensor *x) {
    uint64_t position = ig_kv_cache_length(b->cache, 0), tokens = ig_tensor_shape(x)[0];
    ig_tensor *q = as_heads(times(b, WQ, x), HEADS, true, position);
    ig_tensor *k = as_heads(times(b, WK, x), KEY_HEADS, true, position);
    ig_tensor *v = as_heads(times(b, WV, x), KEY_HEADS, false, 0), *mixed = NULL, *flat = NULL;
    assert_ok(ig_kv_cache_append(stream, b->cache, 0, k, v));
    assert_ok(ig_kv_cache_attention(stream, b->cache, 0, q, 0, NULL, &mixed));
    assert_ok(ig_tensor_reshape(mixed, 2, (uint64_t[]){tokens, HIDDEN}, &flat));
    ig_tensor *out = times(b, WO, flat);
    ig_tensor_release(q), ig_tensor_release(k), ig_tensor_release(v), ig_tensor_release(mixed), ig_tensor_release(flat);
    return out;
}

static ig_tensor *feed_forward(const block *b, const ig_tensor *x) {
    ig_tensor *gate = times(b, GATE, x), *up = times(b, UP, x), *inner = NULL;
    assert_ok(ig_tensor_silu_mul(stream, gate, up, NULL, &inner));
    ig_tensor *out = times(b, DOWN, inner);
    ig_tensor_release(gate), ig_tensor_release(up), ig_tensor_release(inner);
    return out;
}

// x + part(norm(x))
static ig_tensor *residual(const block *b, int norm, const ig_tensor *x,
                           ig_tensor *(*part)(const block *, const ig_tensor *)) {
    ig_tensor *normed = NULL, *out = NULL;
    assert_ok(ig_tensor_rms_norm(stream, x, b->norms[norm], 0, NULL, &normed));
    ig_tensor *added = part(b, normed);
    assert_ok(ig_tensor_add(stream, x, added, NULL, &out));
    ig_tensor_release(normed), ig_tensor_release(added);
    return out;
}

static ig_tensor *forward(const block *b, const ig_tensor *x) {
    ig_tensor *middle = residual(b, 0, x, attend), *out = residual(b, 1, middle, feed_forward);
    ig_tensor_release(middle);
    return out;
}

// ---- The reference ----

typedef struct reference {
    double *weights[WEIGHTS], *norms[2];
    double keys[TOKENS][KEY_HEADS * DIM], values[TOKENS][KEY_HEADS * DIM];
} reference;

static void multiply(const reference *r, int weight, const double *x, double *out) {
    uint64_t rows = weight_shapes[weight][0], columns = weight_shapes[weight][1];
    for (uint64_t i = 0; i < rows; i++) {
        out[i] = 0;
        for (uint64_t j = 0; j < columns; j++) out[i] += r->weights[weight][i * columns + j] * x[j];
    }
}

static void turn(double *x, int heads, int position) {
    for (int h = 0; h < heads; h++, x += DIM)
        for (int i = 0; i < DIM / 2; i++) {
            double angle = position * pow(10000, -2.0 * i / DIM), a = x[i], b = x[i + DIM / 2];
            x[i] = a * cos(angle) - b * sin(angle);
            x[i + DIM / 2] = a * sin(angle) + b * cos(angle);
        }
}

static void normalize(const double *x, const double *weight, double *out) {
    double square = 0;
    for (int i = 0; i < HIDDEN; i++) square += x[i] * x[i] / HIDDEN;
    for (int i = 0; i < HIDDEN; i++) out[i] = x[i] / sqrt(square + 1e-5) * weight[i];
}

static void mix(const reference *r, const double *q, int token, double *out) {
    for (int h = 0; h < HEADS; h++) {
        int at = h / (HEADS / KEY_HEADS) * DIM;
        double weights[TOKENS], sum = 0;
        for (int t = 0; t <= token; t++) {
            double score = 0;
            for (int i = 0; i < DIM; i++) score += q[h * DIM + i] * r->keys[t][at + i];
            sum += weights[t] = exp(score / sqrt(DIM));
        }
        for (int i = 0; i < DIM; i++) {
            out[h * DIM + i] = 0;
            for (int t = 0; t <= token; t++) out[h * DIM + i] += weights[t] / sum * r->values[t][at + i];
        }
    }
}

static void reference_token(reference *r, int token, const double *x, double *out) {
    double a[HIDDEN], q[HIDDEN], mixed[HIDDEN], added[HIDDEN], middle[HIDDEN], gate[INNER], up[INNER];
    normalize(x, r->norms[0], a);
    multiply(r, WQ, a, q);
    multiply(r, WK, a, r->keys[token]);
    multiply(r, WV, a, r->values[token]);
    turn(q, HEADS, token);
    turn(r->keys[token], KEY_HEADS, token);
    mix(r, q, token, mixed);
    multiply(r, WO, mixed, added);
    for (int i = 0; i < HIDDEN; i++) middle[i] = x[i] + added[i];
    normalize(middle, r->norms[1], a);
    multiply(r, GATE, a, gate);
    multiply(r, UP, a, up);
    for (int i = 0; i < INNER; i++) gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
    multiply(r, DOWN, gate, added);
    for (int i = 0; i < HIDDEN; i++) out[i] = middle[i] + added[i];
}

static void reference_forward(const block *b, const ig_tensor *x, double *out) {
    reference r = {0};
    const ig_op_options plain = {.backend = IG_BACKEND_SCALAR};
    double *values = doubles_of(x);
    for (int i = 0; i < WEIGHTS; i++) {
        ig_tensor *matrix = NULL;
        assert_ok(ig_weight_dequantize(stream, b->weights[i], IG_TYPE_F32, &plain, &matrix));
        r.weights[i] = doubles_of(matrix);
        ig_tensor_release(matrix);
    }
    for (int i = 0; i < 2; i++) r.norms[i] = doubles_of(b->norms[i]);
    for (int t = 0; t < TOKENS; t++) reference_token(&r, t, values + t * HIDDEN, out + t * HIDDEN);
    for (int i = 0; i < WEIGHTS; i++) free(r.weights[i]);
    free(r.norms[0]), free(r.norms[1]), free(values);
}

// ---- Tests ----

// All tokens at once, then in pieces down to single ones: the same within rounding.
static void try_block(ig_weight_type type, ig_type kept, double tolerance) {
    block b = make_block(type, kept);
    ig_tensor *x = random_tensor(IG_TYPE_F32, SHAPE(TOKENS, HIDDEN), 5);
    double wanted[TOKENS * HIDDEN];
    reference_forward(&b, x, wanted);
    expect_near(forward(&b, x), TOKENS * HIDDEN, wanted, tolerance, "at once");
    assert_ok(ig_kv_cache_truncate(b.cache, 0));
    const int pieces[] = {4, 2, 1, 1, 1};
    int at = 0;
    for (size_t i = 0; i < LENGTH(pieces); at += pieces[i++]) {
        ig_tensor *part = NULL;
        assert_ok(ig_tensor_slice(x, 0, at, at + pieces[i], 1, &part));
        expect_near(forward(&b, part), (uint64_t)pieces[i] * HIDDEN, wanted + at * HIDDEN, tolerance, "in pieces");
        ig_tensor_release(part);
    }
    ig_tensor_release(x);
    free_block(&b);
}

static void try_backends(const char *backends) {
    assert_ok(ig_stream_set_backends(stream, backends, NULL));
    try_block(IG_WEIGHT_F16, IG_TYPE_F16, 4e-3);
    try_block(IG_WEIGHT_Q8_0, IG_TYPE_F32, 1e-3);
    try_block(IG_WEIGHT_Q4_0, IG_TYPE_F32, 1e-3);
    assert_ok(ig_stream_set_backends(stream, "", NULL));
}

static void a_block_is_right_on_the_best_backends(void **state) {
    (void)state;
    try_block(IG_WEIGHT_F32, IG_TYPE_F32, 2e-5);
    try_backends("");
}

static void a_block_is_right_on_the_reference(void **state) {
    (void)state;
    try_backends("scalar");
}

static void a_block_is_right_on_the_device(void **state) {
    (void)state;
    try_backends("msl");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_right_on_the_best_backends),
        cmocka_unit_test(a_block_is_right_on_the_reference),
        cmocka_unit_test(a_block_is_right_on_the_device),
    };
    return cmocka_run_group_tests_name("block", tests, open_test_stream, close_test_stream);
}
