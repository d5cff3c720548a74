// SPDX-License-Identifier: Apache-2.0
// Hybrid logical clocks: their rules, and their guarantees with many threads.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ring-helpers.h"
#include "ring/hlc.h"

static ig_hlc *make_clock(uint64_t node) {
    ig_hlc *clock;
    assert_ok(ig_hlc_create(node, &clock));
    return clock;
}

static void assert_moment(ig_hlc_timestamp moment, uint64_t physical, uint64_t logical, uint64_t node) {
    assert_int_equal(moment.physical, physical);
    assert_int_equal(moment.logical, logical);
    assert_int_equal(moment.node, node);
}

static void ticks_follow_the_wall_and_count_when_it_stands(void **state) {
    (void)state;
    ig_hlc *clock = make_clock(7);
    assert_moment(igi_ring_hlc_tick_at(clock, 100), 100, 0, 7);
    assert_moment(igi_ring_hlc_tick_at(clock, 100), 100, 1, 7);
    assert_moment(igi_ring_hlc_tick_at(clock, 99), 100, 2, 7);
    assert_moment(igi_ring_hlc_tick_at(clock, 101), 101, 0, 7);
    assert_moment(ig_hlc_read(clock), 101, 0, 7);
    ig_hlc_release(clock);
}

static void updates_take_the_latest_of_three(void **state) {
    (void)state;
    static const struct {
        uint64_t local_p, local_l, wall;
        ig_hlc_timestamp received;
        uint64_t physical, logical;
    } cases[] = {
        {100, 5, 90, {100, 9, 1}, 100, 10},                                     // both equal: the larger count
        {100, 9, 90, {100, 5, 1}, 100, 10}, {100, 5, 90, {80, 50, 1}, 100, 6},  // ours
        {100, 5, 90, {120, 8, 1}, 120, 9},                                      // theirs
        {100, 5, 130, {120, 8, 1}, 130, 0},                                     // the wall
        {100, 5, 100, {90, 8, 1}, 100, 6},                                      // ours and the wall
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        ig_hlc *clock = make_clock(2);
        igi_ring_hlc_tick_at(clock, cases[i].local_p);
        for (uint64_t k = 0; k < cases[i].local_l; k++) igi_ring_hlc_tick_at(clock, 0);
        ig_hlc_timestamp now;
        assert_ok(igi_ring_hlc_update_at(clock, cases[i].received, cases[i].wall, UINT64_MAX, &now));
        assert_moment(now, cases[i].physical, cases[i].logical, 2);
        ig_hlc_release(clock);
    }
}

static void clocks_too_far_ahead_are_refused(void **state) {
    (void)state;
    ig_hlc *clock = make_clock(0);
    igi_ring_hlc_tick_at(clock, 1000);
    ig_hlc_timestamp now = {1, 2, 3};
    uint64_t horizon = 1000 + IG_HLC_SKEW_US;
    assert_status(igi_ring_hlc_update_at(clock, (ig_hlc_timestamp){horizon + 1, 0, 1}, 1000, horizon, &now),
                  IG_STATUS_CLOCK_SKEW);
    assert_status(igi_ring_hlc_update_at(clock, (ig_hlc_timestamp){1000, UINT64_MAX, 1}, 1000, horizon, &now),
                  IG_STATUS_CLOCK_SKEW);
    assert_moment(now, 1, 2, 3);
    assert_moment(ig_hlc_read(clock), 1000, 0, 0);
    assert_ok(igi_ring_hlc_update_at(clock, (ig_hlc_timestamp){horizon, 0, 1}, 1000, horizon, &now));
    // A time that the clock has already reached does not advance it.
    assert_ok(igi_ring_hlc_update_at(clock, (ig_hlc_timestamp){horizon, 0, 1}, 500, 1000, &now));
    ig_hlc_release(clock);
}

static void packing_keeps_the_order(void **state) {
    (void)state;
    random_state random = {11};
    for (int i = 0; i < 1000; i++) {
        ig_hlc_timestamp a = {random_below(&random, 3), random_below(&random, 3), random_below(&random, 3)};
        ig_hlc_timestamp b = {random_below(&random, 3), random_below(&random, 3), random_below(&random, 3)};
        uint64_t pa[2], pb[2];
        assert_ok(ig_hlc_pack(a, pa));
        assert_ok(ig_hlc_pack(b, pb));
        int packed = pa[1] != pb[1] ? (pa[1] < pb[1] ? -1 : 1) : pa[0] == pb[0] ? 0 : pa[0] < pb[0] ? -1 : 1;
        assert_int_equal(ig_hlc_compare(a, b), packed);
        assert_int_equal(ig_hlc_compare(ig_hlc_unpack(pa), a), 0);
    }
    uint64_t untouched[2] = {1, 2};
    assert_status(ig_hlc_pack((ig_hlc_timestamp){0, 1ull << 48, 0}, untouched), IG_STATUS_OVERFLOW);
    assert_status(ig_hlc_pack((ig_hlc_timestamp){0, 0, 1 << 16}, untouched), IG_STATUS_OVERFLOW);
    assert_int_equal(untouched[0], 1);
}

// ---- Many threads ----

enum { THREADS = 8 };
static size_t ticks_per_thread = 1000000;

typedef struct ticker {
    ig_hlc *clock, *other;
    ig_hlc_timestamp *moments;
    bool monotonic;
} ticker;

static void *tick_and_update(void *argument) {
    ticker *t = argument;
    t->monotonic = true;
    for (size_t i = 0; i < ticks_per_thread; i++) {
        if (i % 4 == 3)
            t->monotonic &= ig_hlc_update(t->clock, ig_hlc_tick(t->other), &t->moments[i]) == IG_STATUS_OK;
        else
            t->moments[i] = ig_hlc_tick(t->clock);
        if (i) t->monotonic &= ig_hlc_compare(t->moments[i - 1], t->moments[i]) < 0;
    }
    return NULL;
}

static int by_time(const void *a, const void *b) {
    return ig_hlc_compare(*(const ig_hlc_timestamp *)a, *(const ig_hlc_timestamp *)b);
}

static void moments_are_unique_and_monotonic_for_all_threads(void **state) {
    (void)state;
    ig_hlc *clock = make_clock(1), *other = make_clock(2);
    size_t total = THREADS * ticks_per_thread;
    ig_hlc_timestamp *moments = calloc(total, sizeof *moments);
    assert_non_null(moments);
    ticker tickers[THREADS];
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        tickers[i] = (ticker){clock, other, moments + i * ticks_per_thread, false};
        assert_int_equal(pthread_create(&threads[i], NULL, tick_and_update, &tickers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(tickers[i].monotonic);
    }
    qsort(moments, total, sizeof *moments, by_time);
    for (size_t i = 1; i < total; i++)
        if (ig_hlc_compare(moments[i - 1], moments[i]) == 0) fail_msg("moment %zu was given twice", i);
    free(moments);
    ig_hlc_release(clock);
    ig_hlc_release(other);
}

int main(int argc, char **argv) {
    if (argc > 1) ticks_per_thread = strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_follow_the_wall_and_count_when_it_stands),
        cmocka_unit_test(updates_take_the_latest_of_three),
        cmocka_unit_test(clocks_too_far_ahead_are_refused),
        cmocka_unit_test(packing_keeps_the_order),
        cmocka_unit_test(moments_are_unique_and_monotonic_for_all_threads),
    };
    return cmocka_run_group_tests_name("hlc", tests, NULL, NULL);
}
