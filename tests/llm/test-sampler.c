// SPDX-License-Identifier: Apache-2.0
// Choosing the next token: what is left out, how often the rest occurs, and that seeds decide.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka last: it needs the headers before it.
#include <cmocka.h>
#include <ingot/llm.h>

#include "core/memory.h"

enum { WORDS = 6, DRAWS = 20000 };

static ig_sampler *make(ig_sampler_desc desc) {
    ig_sampler *sampler = NULL;
    assert_int_equal(ig_sampler_create(&desc, &sampler), IG_STATUS_OK);
    return sampler;
}

static int32_t next(ig_sampler *sampler, const float *logits, uint32_t count) {
    int32_t token = -1;
    assert_int_equal(ig_sampler_next(sampler, logits, count, &token), IG_STATUS_OK);
    return token;
}

// How often each token comes.
static void draw_many(ig_sampler_desc desc, const float *logits, double *shares) {
    ig_sampler *sampler = make(desc);
    memset(shares, 0, WORDS * sizeof *shares);
    for (int i = 0; i < DRAWS; i++) shares[next(sampler, logits, WORDS)] += 1.0 / DRAWS;
    ig_sampler_release(sampler);
}

static void assert_share(double share, double expected) {
    // Five standard deviations of a binomial: one seed in a million would fail.
    assert_true(fabs(share - expected) <= 5 * sqrt(expected * (1 - expected) / DRAWS));
}

static const float some[WORDS] = {1, 3, 2, -1, 0, 3};

static void without_temperature_the_first_of_the_most_likely_comes(void **state) {
    (void)state;
    ig_sampler *sampler = make((ig_sampler_desc){0});
    for (int i = 0; i < 10; i++) assert_int_equal(next(sampler, some, WORDS), 1);
    ig_sampler_release(sampler);
}

static void tokens_come_as_often_as_they_are_likely(void **state) {
    (void)state;
    static const double temperatures[] = {0.5, 1, 2};
    for (int t = 0; t < 3; t++) {
        double shares[WORDS], total = 0;
        draw_many((ig_sampler_desc){.temperature = temperatures[t], .seed = 7}, some, shares);
        for (int i = 0; i < WORDS; i++) total += exp((double)some[i] / temperatures[t]);
        for (int i = 0; i < WORDS; i++) assert_share(shares[i], exp((double)some[i] / temperatures[t]) / total);
    }
}

static void top_k_leaves_the_k_most_likely(void **state) {
    (void)state;
    double shares[WORDS], total = 2 * exp(3) + exp(2);
    draw_many((ig_sampler_desc){.temperature = 1, .top_k = 3, .seed = 1}, some, shares);
    assert_share(shares[1], exp(3) / total), assert_share(shares[5], exp(3) / total);
    assert_share(shares[2], exp(2) / total);
    assert_true(shares[0] == 0 && shares[3] == 0 && shares[4] == 0);
    draw_many((ig_sampler_desc){.temperature = 1, .top_k = 1, .seed = 1}, some, shares);
    assert_true(shares[1] > 0.9999);
}

static void top_p_leaves_what_makes_up_p(void **state) {
    (void)state;
    // Probabilities 0.5, 0.25, 0.125, 0.0625 twice.
    static const float halves[WORDS] = {-1.3862944f, -0.6931472f, -2.0794415f, -2.7725887f, -2.7725887f, -INFINITY};
    static const struct {
        double p;
        int left;
    } cases[] = {{0.1, 1}, {0.49, 1}, {0.51, 2}, {0.74, 2}, {0.76, 3}, {0.9, 4}, {0.95, 5}, {1, 5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double shares[WORDS];
        int left = 0;
        draw_many((ig_sampler_desc){.temperature = 1, .top_p = cases[c].p, .seed = c}, halves, shares);
        for (int i = 0; i < WORDS; i++) left += shares[i] > 0;
        assert_int_equal(left, cases[c].left);
    }
}

static void min_p_leaves_what_is_likely_enough(void **state) {
    (void)state;
    double shares[WORDS];
    draw_many((ig_sampler_desc){.temperature = 3, .min_p = 0.2, .seed = 2}, some, shares);  // e^-1 stays, e^-2 goes
    assert_true(shares[1] > 0 && shares[5] > 0 && shares[2] > 0);
    assert_true(shares[0] == 0 && shares[3] == 0 && shares[4] == 0);
}

static void what_came_lately_is_less_likely(void **state) {
    (void)state;
    ig_sampler *sampler = make((ig_sampler_desc){.repeat_penalty = 2, .repeat_last = 2});
    static const float both[4] = {4, 3, -1, -1.5f};
    assert_int_equal(next(sampler, both, 4), 0);
    assert_int_equal(next(sampler, both, 4), 1);  // 4 / 2 < 3
    assert_int_equal(next(sampler, both, 4), 0);  // 3 / 2 < 4 / 2
    ig_sampler_accept(sampler, 2);
    ig_sampler_accept(sampler, 2);
    assert_int_equal(next(sampler, both + 2, 2), 0);  // only tokens count, and these are 0 and 1
    ig_sampler_release(sampler);
    sampler = make((ig_sampler_desc){.repeat_penalty = 2, .repeat_last = 2});
    ig_sampler_accept(sampler, 0);
    assert_int_equal(next(sampler, both + 2, 2), 1);  // -1 * 2 < -1.5
    ig_sampler_release(sampler);
}

static void seeds_decide(void **state) {
    (void)state;
    int32_t first[3][64];
    for (int s = 0; s < 3; s++) {
        ig_sampler *sampler = make((ig_sampler_desc){.temperature = 1, .seed = s == 2 ? 43 : 42});
        for (int i = 0; i < 64; i++) first[s][i] = next(sampler, some, WORDS);
        ig_sampler_release(sampler);
    }
    assert_memory_equal(first[0], first[1], sizeof first[0]);
    assert_memory_not_equal(first[0], first[2], sizeof first[0]);
}

static void special_values_are_never_chosen(void **state) {
    (void)state;
    static const float odd[WORDS] = {NAN, -INFINITY, 1, NAN, -INFINITY, 0};
    static const float none[WORDS] = {NAN, -INFINITY, NAN, NAN, -INFINITY, -INFINITY};
    static const float certain[WORDS] = {1, INFINITY, 2, -1, 3e38f, 0};
    double shares[WORDS];
    int32_t token = 99;
    draw_many((ig_sampler_desc){.temperature = 1, .seed = 3}, odd, shares);
    assert_true(shares[2] > shares[5] && shares[5] > 0 && shares[0] + shares[1] + shares[3] + shares[4] == 0);
    draw_many((ig_sampler_desc){.temperature = 1, .seed = 3}, certain, shares);
    assert_true(shares[1] > 0.9999);
    ig_sampler *sampler = make((ig_sampler_desc){.temperature = 1});
    assert_int_equal(ig_sampler_next(sampler, none, WORDS, &token), IG_STATUS_INVALID_ARGUMENT);
    assert_int_equal(ig_sampler_next(sampler, NULL, WORDS, &token), IG_STATUS_INVALID_ARGUMENT);
    assert_int_equal(ig_sampler_next(sampler, some, 0, &token), IG_STATUS_INVALID_ARGUMENT);
    assert_int_equal(token, 99);
    ig_sampler_release(sampler);
}

// Compared with sorting all, over sizes that are not powers of anything.
static void the_most_likely_of_many_are_found(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 2, 31, 33, 257, 5003};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        float *logits = malloc(sizes[s] * sizeof *logits);
        for (uint32_t i = 0; i < sizes[s]; i++) logits[i] = (float)(i * 7919 % 1009) / 100;
        ig_sampler *sampler = make((ig_sampler_desc){.temperature = 1e-9, .top_k = 3, .seed = s});
        uint32_t best = 0;
        for (uint32_t i = 1; i < sizes[s]; i++)
            if (logits[i] > logits[best]) best = i;
        assert_true(logits[next(sampler, logits, sizes[s])] == logits[best]);
        ig_sampler_release(sampler);
        free(logits);
    }
}

static void wrong_descriptions_are_refused(void **state) {
    (void)state;
    static const ig_sampler_desc wrong[] = {{.temperature = -1}, {.temperature = NAN},  {.temperature = INFINITY},
                                            {.top_p = 1.5},      {.top_p = -0.1},       {.min_p = 2},
                                            {.min_p = NAN},      {.repeat_penalty = -1}};
    ig_sampler *sampler = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(ig_sampler_create(&wrong[i], &sampler), IG_STATUS_INVALID_ARGUMENT);
    assert_int_equal(ig_sampler_create(NULL, &sampler), IG_STATUS_INVALID_ARGUMENT);
    assert_null(sampler);
    ig_sampler_release(NULL);
}

static void memory_may_be_short(void **state) {
    (void)state;
    ig_sampler *sampler = NULL;
    int32_t token = 0;
    for (uint64_t n = 1; n <= 2; n++) {
        igi_alloc_fail_at(n);
        assert_int_equal(ig_sampler_create(&(ig_sampler_desc){0}, &sampler), IG_STATUS_OUT_OF_MEMORY);
        igi_alloc_fail_at(0);
    }
    sampler = make((ig_sampler_desc){.temperature = 1});
    igi_alloc_fail_at(1);
    assert_int_equal(ig_sampler_next(sampler, some, WORDS, &token), IG_STATUS_OUT_OF_MEMORY);
    igi_alloc_fail_at(0);
    assert_int_equal(ig_sampler_next(sampler, some, WORDS, &token), IG_STATUS_OK);
    ig_sampler_release(sampler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_temperature_the_first_of_the_most_likely_comes),
        cmocka_unit_test(tokens_come_as_often_as_they_are_likely),
        cmocka_unit_test(top_k_leaves_the_k_most_likely),
        cmocka_unit_test(top_p_leaves_what_makes_up_p),
        cmocka_unit_test(min_p_leaves_what_is_likely_enough),
        cmocka_unit_test(what_came_lately_is_less_likely),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(special_values_are_never_chosen),
        cmocka_unit_test(the_most_likely_of_many_are_found),
        cmocka_unit_test(wrong_descriptions_are_refused),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
