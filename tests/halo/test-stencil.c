// SPDX-License-Identifier: Apache-2.0
// Tiled stencils compute the same bits as the untiled computation, which is done here in plain C: heat and waves, two
// and three dimensions, every halo, open and periodic, one process and several. With "soak" as an argument, all
// combinations run, 1000 steps each; without it, a sample.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "halo-helpers.h"
#include "halo/stencil.h"

static bool soak;

// ---- The untiled computation ----

typedef struct plain {
    igi_halo_stencil_kind kind;
    int64_t size[3];
    int dimensions;
    bool periodic[3];
    float coefficient;
    float *now, *other, *speed;
} plain;

static int64_t cell_count(const plain *p) {
    return p->size[0] * p->size[1] * p->size[2];
}

static float value_at(const plain *p, const int64_t at[3], int axis, int step) {
    int64_t place[] = {at[0], at[1], at[2]};
    place[axis] += step;
    if (place[axis] < 0 || place[axis] >= p->size[axis]) {
        if (!p->periodic[axis]) return 0;
        place[axis] = (place[axis] + p->size[axis]) % p->size[axis];
    }
    return p->now[(place[2] * p->size[1] + place[1]) * p->size[0] + place[0]];
}

static float curvature(const plain *p, const int64_t at[3]) {
    float sums[3] = {0};
    for (int axis = 0; axis < 3; axis++)
        if (axis < p->dimensions) sums[axis] = value_at(p, at, axis, -1) + value_at(p, at, axis, 1);
    float around = sums[0] + sums[1], here = value_at(p, at, 0, 0);
    if (p->dimensions == 2) return fmaf(-4, here, around);
    return fmaf(-6, here, around + sums[2]);
}

static void step_plain(plain *p) {
    for (int64_t i = 0; i < cell_count(p); i++) {
        int64_t at[] = {i % p->size[0], i / p->size[0] % p->size[1], i / p->size[0] / p->size[1]};
        float bend = curvature(p, at);
        p->other[i] = p->kind == IGI_STENCIL_HEAT ? fmaf(p->coefficient, bend, p->now[i])
                                                  : fmaf(p->speed[i], bend, fmaf(2, p->now[i], -p->other[i]));
    }
    float *next = p->other;
    p->other = p->now, p->now = next;
}

static void start_plain(plain *p) {
    size_t bytes = (size_t)cell_count(p) * sizeof(float);
    p->now = malloc(bytes), p->other = malloc(bytes), p->speed = malloc(bytes);
    random_state random = {7};
    for (int64_t i = 0; i < cell_count(p); i++) {
        p->now[i] = (float)random_below(&random, 1000) / 1000;
        p->other[i] = p->now[i] * 0.97f;
        p->speed[i] = random_below(&random, 9) == 0 ? 0 : 0.11f;
    }
}

static void free_plain(plain *p) {
    free(p->now), free(p->other), free(p->speed);
}

// ---- The same on tiles ----

typedef struct tiled_case {
    igi_halo_stencil_config config;
    plain *start, *end;  // of the whole domain
    uint64_t steps;
    _Atomic uint64_t wrong;
} tiled_case;

// A rank's block of an array of the whole domain.
static float *cut_block(const ig_halo_layout *layout, const float *domain) {
    float *block = malloc(layout->block_bytes), *next = block;
    for (uint64_t z = 0; z < layout->cells.z; z++)
        for (uint64_t y = 0; y < layout->cells.y; y++, next += layout->cells.x) {
            uint64_t row =
                (layout->first.z * layout->tile.z + z) * layout->domain.y + layout->first.y * layout->tile.y + y;
            memcpy(next, domain + row * layout->domain.x + layout->first.x * layout->tile.x,
                   layout->cells.x * sizeof *next);
        }
    return block;
}

static bool run_tiled(const tiled_case *test, igi_halo_stencil *stencil) {
    ig_halo_layout layout;
    ig_halo_get_layout(igi_halo_stencil_halo(stencil), &layout);
    float *now = cut_block(&layout, test->start->now), *before = cut_block(&layout, test->start->other);
    float *speed = cut_block(&layout, test->start->speed), *wanted = cut_block(&layout, test->end->now);
    ig_error error = {0};
    // In two parts: the second starts where the first ended.
    bool good = igi_halo_stencil_start(stencil, now, before, speed, &error) == IG_STATUS_OK &&
                igi_halo_stencil_run(stencil, test->steps / 3, &error) == IG_STATUS_OK &&
                igi_halo_stencil_run(stencil, test->steps - test->steps / 3, &error) == IG_STATUS_OK &&
                igi_halo_stencil_read(stencil, now) == IG_STATUS_OK && memcmp(now, wanted, layout.block_bytes) == 0;
    if (error.message) print_error("%s\n", error.message);
    ig_error_clear(&error);
    free(now), free(before), free(speed), free(wanted);
    return good;
}

static void run_as_rank(const ig_halo_transport *transport, void *user) {
    tiled_case *test = user;
    igi_halo_stencil_config config = test->config;
    if (transport->rank_count > 1) config.halo.transport = transport;
    igi_halo_stencil *stencil = NULL;
    ig_error error = {0};
    if (igi_halo_stencil_create(device, &config, &stencil, &error) != IG_STATUS_OK) {
        print_error("%s\n", error.message);
        test->wrong++;
    } else if (!run_tiled(test, stencil)) {
        test->wrong++;
    }
    ig_error_clear(&error);
    igi_halo_stencil_release(stencil);
}

// ---- Combinations ----

typedef struct combination {
    uint32_t dimensions, kind, halo, shape, ends, ranks;
    bool overlaps, each_step;
} combination;

static void read_number(uint32_t *number, uint32_t count, uint32_t *digit) {
    *digit = *number % count;
    *number /= count;
}

static bool combination_of(uint32_t number, combination *c) {
    static const uint32_t rank_counts[] = {1, 2, 4};
    uint32_t dimensions, halo, ranks, overlaps, each;
    read_number(&number, 2, &dimensions), read_number(&number, 2, &c->kind), read_number(&number, 4, &halo);
    read_number(&number, 3, &ranks), read_number(&number, 3, &c->ends), read_number(&number, 2, &c->shape);
    read_number(&number, 2, &overlaps), read_number(&number, 2, &each);
    c->dimensions = 2 + dimensions, c->halo = 1 + halo, c->ranks = rank_counts[ranks];
    c->overlaps = overlaps, c->each_step = each;
    return number == 0;
}

// Several processes overlap anyway, and a halo of one cell lasts one step.
static bool is_double(const combination *c) {
    return (c->overlaps && c->ranks > 1) || (c->each_step && c->halo == 1);
}

static void configure(const combination *c, tiled_case *test, plain *p) {
    static const ig_size tiles[2][2] = {{{5, 7, 1}, {101, 4, 1}}, {{5, 4, 5}, {9, 5, 4}}};
    static const ig_size grids[2][2] = {{{3, 3, 1}, {1, 5, 1}}, {{3, 2, 1}, {1, 3, 3}}};
    bool periodic[] = {c->ends > 0, c->ends == 1, c->ends == 1};
    ig_halo_config halo = {.dimensions = c->dimensions,
                           .grid = grids[c->dimensions - 2][c->shape],
                           .tile = tiles[c->dimensions - 2][c->shape],
                           .halo = c->halo};
    memcpy(halo.periodic, periodic, sizeof periodic);
    test->config = (igi_halo_stencil_config){.kind = c->kind,
                                             .halo = halo,
                                             .every = c->each_step ? 1 : c->halo,
                                             .coefficient = 0.13f,
                                             .overlaps = c->overlaps};
    *p = (plain){.kind = c->kind, .dimensions = (int)c->dimensions, .coefficient = 0.13f};
    memcpy(p->periodic, periodic, sizeof periodic);
    p->size[0] = (int64_t)(halo.grid.x * halo.tile.x), p->size[1] = (int64_t)(halo.grid.y * halo.tile.y);
    p->size[2] = (int64_t)(halo.grid.z * halo.tile.z);
}

static void check(uint32_t number, const combination *c, uint64_t steps) {
    plain start, end;
    tiled_case test = {.start = &start, .end = &end, .steps = steps};
    configure(c, &test, &start);
    end = start;
    start_plain(&start), start_plain(&end);
    for (uint64_t i = 0; i < steps; i++) step_plain(&end);
    run_ranks(c->ranks, run_as_rank, &test);
    free_plain(&start), free_plain(&end);
    if (test.wrong)
        fail_msg("%u: %uD, %s, halo %u, shape %u, ends %u, %u ranks, overlaps %d, each step %d: differs", number,
                 c->dimensions, c->kind ? "wave" : "heat", c->halo, c->shape, c->ends, c->ranks, c->overlaps,
                 c->each_step);
}

static void tiles_give_the_bits_of_the_untiled_computation(void **state) {
    (void)state;
    combination c;
    // The sample steps through all combinations of two digits.
    for (uint32_t number = 0; combination_of(number, &c); number += soak ? 1 : 53)
        if (!is_double(&c)) check(number, &c, soak ? 1000 : 50);
}

static void a_halo_does_not_last_longer_than_it_is_wide(void **state) {
    (void)state;
    igi_halo_stencil_config config = {.halo = {.halo = 2}, .every = 3};
    igi_halo_stencil *stencil = NULL;
    ig_error error = {0};
    assert_status(igi_halo_stencil_create(device, &config, &stencil, &error), IG_STATUS_INVALID_ARGUMENT);
    assert_contains(error.message, "every is 3");
    ig_error_clear(&error);
}

static void failed_allocations_are_survived(void **state) {
    (void)state;
    igi_halo_stencil_config config = {.halo = {.grid = {2, 2}, .tile = {8, 8}, .halo = 2}};
    float cells[16 * 16] = {1};
    ig_status status = IG_STATUS_OUT_OF_MEMORY;
    for (uint64_t n = 0; status != IG_STATUS_OK && n < 3000; n += 1 + n / 8) {
        igi_halo_stencil *stencil = NULL;
        igi_alloc_fail_at(n);
        status = igi_halo_stencil_create(device, &config, &stencil, NULL);
        if (status == IG_STATUS_OK) status = igi_halo_stencil_start(stencil, cells, NULL, NULL, NULL);
        if (status == IG_STATUS_OK) status = igi_halo_stencil_run(stencil, 3, NULL);
        igi_alloc_fail_at(0);
        igi_halo_stencil_release(stencil);
        if (n == 0) status = IG_STATUS_OUT_OF_MEMORY;  // compiled
    }
    assert_ok(status);
}

int main(int argc, char **argv) {
    soak = argc > 1 && strcmp(argv[1], "soak") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_give_the_bits_of_the_untiled_computation),
        cmocka_unit_test(a_halo_does_not_last_longer_than_it_is_wide),
        cmocka_unit_test(failed_allocations_are_survived),
    };
    return cmocka_run_group_tests_name("stencils on tiles", tests, open_test_device, close_test_device);
}
