// SPDX-License-Identifier: Apache-2.0
// Worker threads: loops cover every index once, tasks run once, pools end from anywhere.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "core/clock.h"
#include "core/loop-row.h"
#include "core/memory.h"
#include "core/pool.h"

// ---- Loops ----

typedef struct cover {
    atomic_uchar *seen;
    uint64_t count;
    atomic_uint_fast64_t calls;
    atomic_bool outside;
    unsigned spin;  // makes each index take time
} cover;

static void mark(void *context, uint64_t begin, uint64_t end) {
    cover *c = context;
    atomic_fetch_add(&c->calls, 1);
    if (begin >= end || end > c->count) {
        atomic_store(&c->outside, true);
        return;
    }
    for (uint64_t i = begin; i < end; i++) {
        atomic_fetch_add(&c->seen[i], 1);
        for (volatile unsigned k = 0; k < c->spin; k++) {
        }
    }
}

static bool covers(igi_pool *pool, uint64_t count, unsigned spin) {
    cover c = {.seen = calloc(count + 1, sizeof(atomic_uchar)), .count = count, .spin = spin};
    igi_pool_loop(pool, count, mark, &c);
    bool right = !atomic_load(&c.outside);
    for (uint64_t i = 0; i < count; i++) right = right && atomic_load(&c.seen[i]) == 1;
    free((void *)c.seen);
    return right;
}

static void loops_cover_every_index_once(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 2, 3, 7, 31, 32, 33, 64, 127, 1000, 4097, 100000};
    static const uint32_t threads[] = {1, 2, 3, 8, 16};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        igi_pool *pool = igi_pool_create(threads[t]);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (unsigned spin = 0; spin <= 1000; spin += 500)
                if (counts[i] * spin <= 5000000) assert_true(covers(pool, counts[i], spin));
        igi_pool_destroy(pool);
    }
}

typedef struct giant {
    atomic_uint_fast64_t covered, calls;
} giant;

static void add_up(void *context, uint64_t begin, uint64_t end) {
    giant *g = context;
    atomic_fetch_add(&g->covered, end - begin);
    if (atomic_fetch_add(&g->calls, 1) == 0) usleep(100);  // long enough to be shared
}

static void loops_near_2_to_the_64_end(void **state) {
    (void)state;
    static const uint64_t counts[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - (1ull << 33), 1ull << 63};
    for (uint32_t threads = 1; threads <= 4; threads++) {
        igi_pool *pool = igi_pool_create(threads);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            giant g = {0};
            igi_pool_loop(pool, counts[i], add_up, &g);
            assert_true(atomic_load(&g.covered) == counts[i]);
            assert_true(atomic_load(&g.calls) < 100000);
        }
        igi_pool_destroy(pool);
    }
}

static void sleep_a_little(void *context, uint64_t begin, uint64_t end) {
    (void)begin, (void)end;
    pthread_t *threads = context;
    threads[begin] = pthread_self();
    usleep(20000);
}

static void note_thread(void *context, uint64_t begin, uint64_t end) {
    (void)end;
    ((pthread_t *)context)[begin] = pthread_self();
    usleep(200000);
}

static void loops_known_to_last_are_shared_at_once(void **state) {
    (void)state;
    igi_pool *pool = igi_pool_create(2);
    pthread_t threads[2];
    igi_pool_loop_lasting(pool, 2, 400000000, note_thread, threads);
    // A thread that had tried the first piece alone would have come too late for the second.
    assert_false(pthread_equal(threads[0], threads[1]));
    igi_pool_destroy(pool);
}

static void short_loops_in_a_row_wake_a_worker(void **state) {
    (void)state;
    igi_loop_row row = {0};
    uint64_t now = 1000000;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 7; i++, now += 5000) assert_false(igi_loop_row_add(&row, now, 4000));
        assert_true(igi_loop_row_add(&row, now, 4000));
    }
}

static void short_loops_far_apart_wake_nobody(void **state) {
    (void)state;
    igi_loop_row row = {0};
    for (uint64_t i = 0; i < 100; i++) assert_false(igi_loop_row_add(&row, i * IGI_ROW_GAP_NS, 4000));
}

static void long_loops_are_shared_among_threads(void **state) {
    (void)state;
    igi_pool *pool = igi_pool_create(4);
    pthread_t threads[16];
    uint64_t start = igi_now_ns();
    igi_pool_loop(pool, 16, sleep_a_little, threads);
    uint64_t elapsed = igi_now_ns() - start;
    int distinct = 0;
    for (int i = 0; i < 16; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++) seen = seen || pthread_equal(threads[i], threads[k]);
        distinct += !seen;
    }
    assert_true(distinct >= 2 && distinct <= 4);  // this thread and, of four workers, all but one, which it replaces
    assert_true(elapsed < 16 * 20000000ull);
    igi_pool_destroy(pool);
}

// ---- Loops of several threads ----

typedef struct caller {
    pthread_t thread;
    igi_pool *pool;
    bool right;
} caller;

static void *loop_often(void *argument) {
    caller *c = argument;
    c->right = true;
    for (uint64_t round = 0; round < 200; round++) {
        uint64_t count = 1 + round * 13 % 700;
        cover v = {.seen = calloc(count, sizeof(atomic_uchar)), .count = count, .spin = round % 3 ? 0 : 200};
        igi_pool_loop(c->pool, count, mark, &v);
        for (uint64_t i = 0; i < count; i++) c->right = c->right && atomic_load(&v.seen[i]) == 1;
        free((void *)v.seen);
    }
    return NULL;
}

static void several_threads_loop_at_once(void **state) {
    (void)state;
    igi_pool *pool = igi_pool_create(3);
    caller callers[6];
    for (int i = 0; i < 6; i++) {
        callers[i] = (caller){.pool = pool};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, loop_often, &callers[i]), 0);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_true(callers[i].right);
    }
    igi_pool_destroy(pool);
}

// ---- Tasks ----

typedef struct job {
    igi_task task;
    atomic_int runs;
    igi_pool *pool;
    int again;  // how often it submits itself again
    bool loops;
} job;

static void run_job(igi_task *task) {
    job *j = (job *)task;
    if (j->loops && !covers(j->pool, 500, 100)) return;
    int again = j->again;  // after its last run it may no longer exist
    if (atomic_fetch_add(&j->runs, 1) < again) igi_pool_submit(j->pool, task);
}

static void tasks_run_once_each(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        igi_pool *pool = igi_pool_create(threads);
        job *jobs = calloc(5000, sizeof *jobs);
        for (int i = 0; i < 5000; i++) {
            jobs[i].task.run = run_job;
            igi_pool_submit(pool, &jobs[i].task);
        }
        igi_pool_destroy(pool);  // runs what was submitted
        for (int i = 0; i < 5000; i++) assert_int_equal(atomic_load(&jobs[i].runs), 1);
        free(jobs);
    }
}

static void tasks_may_submit_themselves_again(void **state) {
    (void)state;
    igi_pool *pool = igi_pool_create(4);
    job jobs[20] = {0};
    for (int i = 0; i < 20; i++) {
        jobs[i].task.run = run_job;
        jobs[i].pool = pool;
        jobs[i].again = 100;
        igi_pool_submit(pool, &jobs[i].task);
    }
    igi_pool_destroy(pool);
    for (int i = 0; i < 20; i++) assert_int_equal(atomic_load(&jobs[i].runs), 101);
}

static void tasks_may_loop(void **state) {
    (void)state;
    igi_pool *pool = igi_pool_create(3);
    job jobs[30] = {0};
    for (int i = 0; i < 30; i++) {
        jobs[i].task.run = run_job;
        jobs[i].pool = pool;
        jobs[i].loops = true;
        igi_pool_submit(pool, &jobs[i].task);
    }
    igi_pool_destroy(pool);
    for (int i = 0; i < 30; i++) assert_int_equal(atomic_load(&jobs[i].runs), 1);
}

enum { SUBMITTERS = 4, EACH = 500, ALL = SUBMITTERS * EACH };

static void *submit_many(void *argument) {
    job *jobs = argument;
    for (int i = 0; i < EACH; i++) {
        jobs[i].task.run = run_job;
        igi_pool_submit(jobs[i].pool, &jobs[i].task);
    }
    return NULL;
}

static void tasks_may_come_from_any_thread(void **state) {
    (void)state;
    igi_pool *pool = igi_pool_create(2);
    job *jobs = calloc(ALL, sizeof *jobs);
    pthread_t threads[SUBMITTERS];
    for (int i = 0; i < ALL; i++) jobs[i].pool = pool;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &jobs[(size_t)EACH * (size_t)i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    igi_pool_destroy(pool);
    for (int i = 0; i < ALL; i++) assert_int_equal(atomic_load(&jobs[i].runs), 1);
    free(jobs);
}

// ---- The end ----

typedef struct ending {
    igi_task task;
    igi_pool *pool;
    atomic_int *ended;
} ending;

static void end_from_inside(igi_task *task) {
    ending *e = (ending *)task;
    atomic_int *ended = e->ended;
    igi_pool_destroy(e->pool);
    atomic_fetch_add(ended, 1);
}

static void a_pool_may_be_destroyed_by_its_own_worker(void **state) {
    (void)state;
    atomic_int ended = 0;
    for (uint32_t i = 0; i < 100; i++) {
        ending e = {.task.run = end_from_inside, .pool = igi_pool_create(1 + i % 4), .ended = &ended};
        job before = {.task.run = run_job};
        igi_pool_submit(e.pool, &before.task);
        igi_pool_submit(e.pool, &e.task);
        while (atomic_load(&ended) != (int)i + 1 || !atomic_load(&before.runs)) usleep(100);
    }
    usleep(20000);  // detached workers that are ending still hold stacks, which leak checkers would see
}

static void pools_come_and_go(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 200; i++) igi_pool_destroy(igi_pool_create(1 + i % 8));
    igi_pool_destroy(NULL);
}

static void a_pool_short_of_memory_is_not_made(void **state) {
    (void)state;
    igi_alloc_fail_at(1);
    igi_pool *pool = igi_pool_create(2);
    igi_alloc_fail_at(0);
    assert_null(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_cover_every_index_once),
        cmocka_unit_test(loops_near_2_to_the_64_end),
        cmocka_unit_test(long_loops_are_shared_among_threads),
        cmocka_unit_test(loops_known_to_last_are_shared_at_once),
        cmocka_unit_test(short_loops_in_a_row_wake_a_worker),
        cmocka_unit_test(short_loops_far_apart_wake_nobody),
        cmocka_unit_test(several_threads_loop_at_once),
        cmocka_unit_test(tasks_run_once_each),
        cmocka_unit_test(tasks_may_submit_themselves_again),
        cmocka_unit_test(tasks_may_loop),
        cmocka_unit_test(tasks_may_come_from_any_thread),
        cmocka_unit_test(a_pool_may_be_destroyed_by_its_own_worker),
        cmocka_unit_test(pools_come_and_go),
        cmocka_unit_test(a_pool_short_of_memory_is_not_made),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
