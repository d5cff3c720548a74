// SPDX-License-Identifier: Apache-2.0
// The KV cache: attention sees what was appended, around the ring too; estimates of memory.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn-helpers.h"

enum { HEADS = 2, GROUP = 3, DIM = 24, TOKENS = 41 };

static ig_kv_cache *make_cache(ig_type type, uint64_t capacity, uint64_t window) {
    ig_kv_cache *cache = NULL;
    const ig_kv_cache_desc desc = {
        .type = type, .layers = 2, .heads = HEADS, .dim = DIM, .capacity = capacity, .window = window};
    assert_ok(ig_kv_cache_create(device, &desc, &cache));
    return cache;
}

static ig_tensor *rows(const ig_tensor *x, int64_t begin, int64_t end) {
    ig_tensor *part = NULL;
    assert_ok(ig_tensor_slice(x, 0, begin, end, 1, &part));
    return part;
}

// Attention over all keys at once, rounded as the cache rounds them.
static double *recompute(ig_type type, const ig_tensor *q, const ig_tensor *k, const ig_tensor *v, uint64_t window) {
    ig_tensor *keys = NULL, *values = NULL, *out = NULL;
    const ig_op_options reference = {.backend = IG_BACKEND_SCALAR};
    assert_ok(ig_tensor_cast(stream, k, type, NULL, &keys));
    assert_ok(ig_tensor_cast(stream, v, type, NULL, &values));
    assert_ok(ig_tensor_attention(stream, q, keys, values, &(ig_attention_desc){.causal = true, .window = window},
                                  &reference, &out));
    double *wanted = doubles_of(out);
    ig_tensor_release(keys), ig_tensor_release(values), ig_tensor_release(out);
    return wanted;
}

// Appends in pieces and compares each piece's attention with that of all at once.
static void run_in_pieces(ig_kv_cache *cache, const ig_tensor *q, const ig_tensor *k, const ig_tensor *v,
                          const double *wanted, const ig_op_options *options) {
    static const int pieces[] = {7, 1, 1, 5, 3, 9, 1, 2, 12};
    int64_t at = 0;
    for (size_t i = 0; i < LENGTH(pieces); i++) {
        ig_tensor *parts[] = {rows(q, at, at + pieces[i]), rows(k, at, at + pieces[i]), rows(v, at, at + pieces[i])};
        ig_tensor *out = NULL;
        assert_ok(ig_kv_cache_append(stream, cache, 1, parts[1], parts[2]));
        assert_int_equal(ig_kv_cache_length(cache, 1), at + pieces[i]);
        assert_ok(ig_kv_cache_attention(stream, cache, 1, parts[0], 0, options, &out));
        uint64_t row = HEADS * GROUP * DIM;
        expect_near(out, (uint64_t)pieces[i] * row, wanted + (uint64_t)at * row, 1e-5, "pieces");
        for (int t = 0; t < 3; t++) ig_tensor_release(parts[t]);
        at += pieces[i];
    }
    assert_int_equal(at, TOKENS);
}

static void appending_equals_recomputation(void **state) {
    (void)state;
    const ig_type types[] = {IG_TYPE_F32, IG_TYPE_F16, IG_TYPE_BF16};
    const uint64_t rings[][2] = {{TOKENS, 0}, {64, 0}, {20, 9}, {TOKENS, 5}, {21, 10}};
    ig_tensor *q = random_tensor(IG_TYPE_F32, SHAPE(TOKENS, HEADS * GROUP, DIM), 1);
    ig_tensor *k = random_tensor(IG_TYPE_F32, SHAPE(TOKENS, HEADS, DIM), 2);
    ig_tensor *v = random_tensor(IG_TYPE_F32, SHAPE(TOKENS, HEADS, DIM), 3);
    for (size_t t = 0; t < LENGTH(types); t++)
        for (size_t r = 0; r < LENGTH(rings); r++) {
            double *wanted = recompute(types[t], q, k, v, rings[r][1]);
            FOR_BACKENDS(options) {
                ig_kv_cache *cache = make_cache(types[t], rings[r][0], rings[r][1]);
                run_in_pieces(cache, q, k, v, wanted, &options);
                assert_int_equal(ig_kv_cache_length(cache, 0), 0);
                ig_kv_cache_release(cache);
            }
            free(wanted);
        }
    ig_tensor_release(q), ig_tensor_release(k), ig_tensor_release(v);
}

static void truncated_positions_can_be_written_again(void **state) {
    (void)state;
    ig_tensor *q = random_tensor(IG_TYPE_F32, SHAPE(TOKENS, HEADS * GROUP, DIM), 1);
    ig_tensor *k = random_tensor(IG_TYPE_F32, SHAPE(TOKENS, HEADS, DIM), 2);
    double *wanted = recompute(IG_TYPE_F32, q, k, k, 0);
    ig_kv_cache *cache = make_cache(IG_TYPE_F32, TOKENS, 0);
    ig_tensor *wrong = rows(k, 5, 25), *rest = rows(k, 10, TOKENS), *last = rows(q, 10, TOKENS), *out = NULL;
    ig_tensor *first = rows(k, 0, 10);
    assert_ok(ig_kv_cache_append(stream, cache, 0, first, first));
    assert_ok(ig_kv_cache_append(stream, cache, 0, wrong, wrong));
    assert_ok(ig_kv_cache_truncate(cache, 10));
    assert_int_equal(ig_kv_cache_length(cache, 0), 10);
    assert_ok(ig_kv_cache_append(stream, cache, 0, rest, rest));
    assert_ok(ig_kv_cache_attention(stream, cache, 0, last, 0, NULL, &out));
    uint64_t row = HEADS * GROUP * DIM;
    expect_near(out, (TOKENS - 10) * row, wanted + 10 * row, 1e-5, "after truncating");
    free(wanted);
    ig_tensor_release(q), ig_tensor_release(k), ig_tensor_release(wrong), ig_tensor_release(rest);
    ig_tensor_release(last), ig_tensor_release(first);
    ig_kv_cache_release(cache);
}

static void a_ring_forgets_and_says_so(void **state) {
    (void)state;
    ig_kv_cache *cache = make_cache(IG_TYPE_F32, 16, 8);
    ig_tensor *k = random_tensor(IG_TYPE_F32, SHAPE(9, HEADS, DIM), 2),
              *more = random_tensor(IG_TYPE_F32, SHAPE(10, HEADS, DIM), 2);
    for (int i = 0; i < 5; i++) assert_ok(ig_kv_cache_append(stream, cache, 0, k, k));
    assert_int_equal(ig_kv_cache_length(cache, 0), 45);
    assert_int_equal(ig_kv_cache_first(cache, 0), 29);
    assert_status(ig_kv_cache_append(stream, cache, 0, more, more), IG_STATUS_OUT_OF_RANGE);
    expect_error("do not fit");
    assert_ok(ig_kv_cache_truncate(cache, 36));
    assert_status(ig_kv_cache_truncate(cache, 35), IG_STATUS_OUT_OF_RANGE);
    assert_int_equal(ig_kv_cache_length(cache, 0), 36);
    ig_tensor_release(k), ig_tensor_release(more);
    ig_kv_cache_release(cache);
}

static void a_ring_forgets_one_position_at_a_time(void **state) {
    (void)state;
    ig_kv_cache *cache = make_cache(IG_TYPE_F32, 4, 2);
    ig_tensor *k = random_tensor(IG_TYPE_F32, SHAPE(1, HEADS, DIM), 2);
    for (uint64_t i = 1; i <= 9; i++) {
        assert_ok(ig_kv_cache_append(stream, cache, 0, k, k));
        assert_int_equal(ig_kv_cache_length(cache, 0), i);
        assert_int_equal(ig_kv_cache_first(cache, 0), i > 4 ? i - 4 : 0);
    }
    ig_tensor_release(k);
    ig_kv_cache_release(cache);
}

static void a_full_cache_refuses_and_stays_as_it_was(void **state) {
    (void)state;
    ig_kv_cache *cache = make_cache(IG_TYPE_F16, 4, 0);
    ig_tensor *k = random_tensor(IG_TYPE_F32, SHAPE(3, HEADS, DIM), 2),
              *q = random_tensor(IG_TYPE_F32, SHAPE(4, HEADS, DIM), 2);
    ig_tensor *flat = random_tensor(IG_TYPE_F32, SHAPE(3, HEADS * DIM), 2), *out = NULL;
    assert_ok(ig_kv_cache_append(stream, cache, 0, k, k));
    assert_status(ig_kv_cache_append(stream, cache, 0, k, k), IG_STATUS_OUT_OF_RANGE);
    assert_int_equal(ig_kv_cache_length(cache, 0), 3);
    assert_status(ig_kv_cache_append(stream, cache, 2, k, k), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_kv_cache_append(stream, cache, 1, flat, flat), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_kv_cache_attention(stream, cache, 0, q, 0, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    assert_null(out);
    ig_tensor_release(k), ig_tensor_release(q), ig_tensor_release(flat);
    ig_kv_cache_release(cache);
}

// ---- Sequences ----

enum { SEQUENCES = 3 };

static ig_kv_cache *make_batch(ig_type type, uint64_t capacity, uint64_t window) {
    ig_kv_cache *cache = NULL;
    const ig_kv_cache_desc desc = {.type = type,
                                   .layers = 2,
                                   .heads = HEADS,
                                   .dim = DIM,
                                   .capacity = capacity,
                                   .window = window,
                                   .sequences = SEQUENCES};
    uint64_t bytes = 0;
    assert_ok(ig_kv_cache_size(&desc, &bytes));
    assert_int_equal(bytes, 2 * 2 * SEQUENCES * capacity * HEADS * DIM * ig_type_size(type));
    assert_ok(ig_kv_cache_create(device, &desc, &cache));
    return cache;
}

// Positions of every sequence.
static ig_tensor *positions(const ig_tensor *x, int64_t begin, int64_t end) {
    ig_tensor *part = NULL;
    assert_ok(ig_tensor_slice(x, 1, begin, end, 1, &part));
    return part;
}

static ig_tensor *sequence(const ig_tensor *x, int64_t which, int64_t begin, int64_t end) {
    ig_tensor *one = NULL;
    assert_ok(ig_tensor_select(x, 0, which, &one));
    ig_tensor *part = rows(one, begin, end);
    ig_tensor_release(one);
    return part;
}

// The result of each sequence alone, one after the other.
static double *recompute_each(ig_type type, const ig_tensor *q, const ig_tensor *k, uint64_t window) {
    uint64_t count = TOKENS * HEADS * GROUP * DIM;
    double *all = calloc(SEQUENCES * count, sizeof *all);
    for (int64_t s = 0; s < SEQUENCES; s++) {
        ig_tensor *queries = sequence(q, s, 0, TOKENS), *keys = sequence(k, s, 0, TOKENS);
        double *wanted = recompute(type, queries, keys, keys, window);
        memcpy(all + (uint64_t)s * count, wanted, count * sizeof *all);
        free(wanted);
        ig_tensor_release(queries), ig_tensor_release(keys);
    }
    return all;
}

// Positions [begin, end) of each sequence, as in a result [sequences, positions, ..].
static void expect_positions(ig_tensor *out, const double *wanted, const uint64_t *begin, uint64_t count) {
    uint64_t row = HEADS * GROUP * DIM;
    double *part = calloc(SEQUENCES * count * row, sizeof *part);
    for (uint64_t s = 0; s < SEQUENCES; s++)
        memcpy(part + s * count * row, wanted + (s * TOKENS + begin[s]) * row, count * row * sizeof *part);
    expect_near(out, SEQUENCES * count * row, part, 1e-5, "sequences");
    free(part);
}

static void append_positions(ig_kv_cache *cache, const ig_tensor *k, int64_t begin, int64_t end) {
    ig_tensor *keys = positions(k, begin, end);
    assert_ok(ig_kv_cache_append(stream, cache, 1, keys, keys));
    ig_tensor_release(keys);
}

static void sequences_in_step_equal_each_alone(void **state) {
    (void)state;
    const uint64_t rings[][2] = {{TOKENS, 0}, {20, 9}};
    const int pieces[] = {9, 1, 1, 12, 8, 10};
    ig_tensor *q = random_tensor(IG_TYPE_F32, SHAPE(SEQUENCES, TOKENS, HEADS * GROUP, DIM), 1);
    ig_tensor *k = random_tensor(IG_TYPE_F32, SHAPE(SEQUENCES, TOKENS, HEADS, DIM), 2);
    for (size_t r = 0; r < LENGTH(rings); r++) {
        double *wanted = recompute_each(IG_TYPE_F16, q, k, rings[r][1]);
        FOR_BACKENDS(options) {
            ig_kv_cache *cache = make_batch(IG_TYPE_F16, rings[r][0], rings[r][1]);
            for (int64_t i = 0, at = 0; i < (int64_t)LENGTH(pieces); at += pieces[i++]) {
                ig_tensor *queries = positions(q, at, at + pieces[i]), *out = NULL;
                append_positions(cache, k, at, at + pieces[i]);
                assert_ok(ig_kv_cache_attention(stream, cache, 1, queries, 0, &options, &out));
                expect_positions(out, wanted, (uint64_t[]){(uint64_t)at, (uint64_t)at, (uint64_t)at},
                                 (uint64_t)pieces[i]);
                ig_tensor_release(queries);
            }
            assert_int_equal(ig_kv_cache_sequence_length(cache, 1, SEQUENCES - 1), TOKENS);
            ig_kv_cache_release(cache);
        }
        free(wanted);
    }
    ig_tensor_release(q), ig_tensor_release(k);
}

// The current position of each sequence: [sequences, 1, ..].
static ig_tensor *current(const ig_tensor *x, const uint64_t *at) {
    ig_tensor *parts[SEQUENCES], *all = NULL;
    for (int64_t s = 0; s < SEQUENCES; s++) {
        ig_tensor *row = sequence(x, s, (int64_t)at[s], (int64_t)at[s] + 1);
        assert_ok(ig_tensor_unsqueeze(row, 0, &parts[s]));
        ig_tensor_release(row);
    }
    assert_ok(ig_tensor_concatenate(stream, (const ig_tensor *const *)parts, SEQUENCES, 0, NULL, &all));
    for (int s = 0; s < SEQUENCES; s++) ig_tensor_release(parts[s]);
    return all;
}

static void append_prompt(ig_kv_cache *cache, uint64_t which, uint64_t length, const ig_tensor *q, const ig_tensor *k,
                          const double *wanted) {
    int64_t s = (int64_t)which, end = (int64_t)length;
    uint64_t row = HEADS * GROUP * DIM;
    ig_tensor *keys = sequence(k, s, 0, end), *last = sequence(q, s, end - 1, end), *out = NULL;
    assert_ok(ig_kv_cache_append_sequence(stream, cache, 1, which, keys, keys));
    assert_ok(ig_kv_cache_attention_sequence(stream, cache, 1, which, last, 0, NULL, &out));
    expect_near(out, row, wanted + (which * TOKENS + length - 1) * row, 1e-5, "prompt");
    ig_tensor_release(keys), ig_tensor_release(last);
}

// Prompts of different lengths, then all sequences a token at a time; one ends and another takes its place.
static void sequences_may_have_lengths_of_their_own(void **state) {
    (void)state;
    uint64_t lengths[SEQUENCES] = {11, 1, 6};
    ig_tensor *q = random_tensor(IG_TYPE_F32, SHAPE(SEQUENCES, TOKENS, HEADS * GROUP, DIM), 1);
    ig_tensor *k = random_tensor(IG_TYPE_F32, SHAPE(SEQUENCES, TOKENS, HEADS, DIM), 2);
    double *wanted = recompute_each(IG_TYPE_F32, q, k, 5);
    ig_kv_cache *cache = make_batch(IG_TYPE_F32, 16, 5);
    for (uint64_t s = 0; s < SEQUENCES; s++) append_prompt(cache, s, lengths[s], q, k, wanted);
    for (int step = 0; step < 12; step++) {
        if (step == 7) assert_ok(ig_kv_cache_truncate_sequence(cache, 1, 0));
        if (step == 7) lengths[1] = 0;
        ig_tensor *keys = current(k, lengths), *queries = current(q, lengths), *out = NULL;
        assert_ok(ig_kv_cache_append(stream, cache, 1, keys, keys));
        assert_ok(ig_kv_cache_attention(stream, cache, 1, queries, 0, NULL, &out));
        expect_positions(out, wanted, lengths, 1);
        for (uint64_t s = 0; s < SEQUENCES; s++)
            assert_int_equal(ig_kv_cache_sequence_length(cache, 1, s), ++lengths[s]);
        ig_tensor_release(keys), ig_tensor_release(queries);
    }
    ig_kv_cache_release(cache);
    free(wanted);
    ig_tensor_release(q), ig_tensor_release(k);
}

static void wrong_sequences_are_refused(void **state) {
    (void)state;
    ig_kv_cache *cache = make_batch(IG_TYPE_F32, 4, 0);
    ig_tensor *one = random_tensor(IG_TYPE_F32, SHAPE(2, HEADS, DIM), 2), *out = NULL;
    ig_tensor *two = random_tensor(IG_TYPE_F32, SHAPE(2, 2, HEADS, DIM), 2);
    ig_tensor *all = random_tensor(IG_TYPE_F32, SHAPE(SEQUENCES, 3, HEADS, DIM), 2);
    assert_status(ig_kv_cache_append(stream, cache, 0, one, one), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_kv_cache_append(stream, cache, 0, two, two), IG_STATUS_INVALID_ARGUMENT);
    expect_error("is not [3, ..");
    assert_status(ig_kv_cache_append_sequence(stream, cache, 0, SEQUENCES, one, one), IG_STATUS_OUT_OF_RANGE);
    assert_ok(ig_kv_cache_append_sequence(stream, cache, 0, 1, one, one));
    assert_status(ig_kv_cache_append(stream, cache, 0, all, all), IG_STATUS_OUT_OF_RANGE);  // the second is too full
    expect_error("only 2 do");
    assert_int_equal(ig_kv_cache_sequence_length(cache, 0, 0), 0);
    assert_int_equal(ig_kv_cache_sequence_length(cache, 0, 1), 2);
    assert_status(ig_kv_cache_attention(stream, cache, 0, all, 0, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_kv_cache_truncate_sequence(cache, SEQUENCES, 0), IG_STATUS_OUT_OF_RANGE);
    assert_null(out);
    ig_tensor_release(one), ig_tensor_release(two), ig_tensor_release(all);
    ig_kv_cache_release(cache);
}

// ---- Estimates ----

static void estimates_are_exact(void **state) {
    (void)state;
    const ig_model_shape mistral = {32, 4096, 32, 8, 14336, 32000};
    const ig_kv_cache_desc cache = {.type = IG_TYPE_F32, .layers = 32, .heads = 8, .dim = 128, .capacity = 4096};
    uint64_t count = 0, bytes = 0;
    assert_ok(ig_model_parameters(&mistral, &count));
    assert_int_equal(count, 7241732096ull);
    assert_ok(ig_model_size(&mistral, IG_WEIGHT_F32, &bytes));
    assert_int_equal(bytes, 4 * 7241732096ull);
    assert_true(fabs((double)bytes / (1 << 20) - 27625.02) < 0.01);
    assert_ok(ig_model_size(&mistral, IG_WEIGHT_Q4_0, &bytes));
    assert_int_equal(bytes, 7241732096ull / 32 * 18);
    assert_ok(ig_kv_cache_size(&cache, &bytes));
    assert_int_equal(bytes, 1024ull << 20);
}

static void estimates_do_not_wrap_around(void **state) {
    (void)state;
    const ig_model_shape huge = {1ull << 40, 1ull << 40, 1, 1, 1, 1}, uneven = {1, 10, 3, 1, 1, 1};
    const ig_kv_cache_desc cache = {
        .type = IG_TYPE_F32, .layers = 32, .heads = 1ull << 40, .dim = 1ull << 20, .capacity = 1};
    uint64_t count = 0;
    ig_kv_cache *made = NULL;
    assert_status(ig_model_parameters(&huge, &count), IG_STATUS_OVERFLOW);
    assert_status(ig_model_parameters(&uneven, &count), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_kv_cache_size(&cache, &count), IG_STATUS_OVERFLOW);
    assert_status(ig_kv_cache_create(device, &cache, &made), IG_STATUS_OVERFLOW);
    assert_int_equal(count, 0);
    assert_true(ig_memory_fits(99, 100, 0) && !ig_memory_fits(100, 100, 1000));
    assert_true(ig_memory_fits(799, 0, 1000) && !ig_memory_fits(800, 0, 1000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appending_equals_recomputation),
        cmocka_unit_test(truncated_positions_can_be_written_again),
        cmocka_unit_test(a_ring_forgets_and_says_so),
        cmocka_unit_test(a_ring_forgets_one_position_at_a_time),
        cmocka_unit_test(a_full_cache_refuses_and_stays_as_it_was),
        cmocka_unit_test(sequences_in_step_equal_each_alone),
        cmocka_unit_test(sequences_may_have_lengths_of_their_own),
        cmocka_unit_test(wrong_sequences_are_refused),
        cmocka_unit_test(estimates_are_exact),
        cmocka_unit_test(estimates_do_not_wrap_around),
    };
    return cmocka_run_group_tests_name("kv cache", tests, open_test_stream, close_test_stream);
}
