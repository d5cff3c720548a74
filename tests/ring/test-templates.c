// SPDX-License-Identifier: Apache-2.0
// The templates of src/kernels: the base ring kernel, and halo exchange from kernel to kernel.
#include "ring-helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As the templates have them.
enum { ADD_VALUE = 1, READ_TOTAL = 2, TOTAL_CHANGED = 3 };
enum { CONFIGURE = 1, START = 2, DONE = 4 };

typedef struct total {
    float total;
    uint32_t count;
} total;

typedef struct halo_plan {
    uint32_t width, height, x, y, grid_x, grid_y;
    float rate;
} halo_plan;

// Every way to run a handler in MSL.
static const struct {
    uint32_t block;
    ig_ring_mode mode;
} runs[] = {{1, IG_RING_PERSISTENT}, {1, IG_RING_EVENT_DRIVEN}, {32, IG_RING_PERSISTENT}, {32, IG_RING_EVENT_DRIVEN}};
enum { RUNS = sizeof runs / sizeof *runs };

// ---- The base kernel ----

static float ask(ig_ring_kernel *kernel, uint64_t type, float value) {
    ig_message question = IG_MESSAGE(type, &value), answer = {0};
    assert_ok(ig_ring_request(kernel, &question, &answer, SECONDS(20)));
    const float *got = IG_MESSAGE_AS(float, type, &answer);
    assert_non_null(got);
    float result = *got;
    ig_message_clear(&answer);
    return result;
}

static ig_ring_kernel *launch_accumulator(const char *name, uint32_t block, ig_ring_mode mode) {
    return launch(&(ig_ring_launch_desc){.name = name,
                                         .kernel = "accumulator",
                                         .path = KERNEL_DIR "/ring-kernel.metal",
                                         .block = block,
                                         .mode = mode,
                                         .k2k = true});
}

static void the_base_kernel_keeps_a_total(void **state) {
    (void)state;
    for (int r = 0; r < RUNS; r++) {
        ig_ring_kernel *kernel = launch_accumulator("accumulator", runs[r].block, runs[r].mode);
        assert_float_equal(ask(kernel, ADD_VALUE, 1), 1, 0);
        assert_float_equal(ask(kernel, ADD_VALUE, 2.5f), 3.5, 0);
        assert_float_equal(ask(kernel, READ_TOTAL, 100), 3.5, 0);
        end_kernel(kernel);
    }
}

// The receiver does not know the message and fails, which shows that the total arrived.
static void the_base_kernel_tells_the_next(void **state) {
    (void)state;
    ig_ring_kernel *first = launch_accumulator("first", 1, IG_RING_EVENT_DRIVEN);
    ig_ring_kernel *next = launch_accumulator("next", 1, IG_RING_EVENT_DRIVEN);
    assert_ok(ig_ring_connect(first, next));
    ask(first, ADD_VALUE, 4);
    for (int i = 0; i < 5000 && !status_of(next).dead_letters; i++) sleep_ms(1);
    ig_message letter = {0};
    assert_ok(ig_ring_receive_dead(next, &letter));
    assert_int_equal(letter.header.message_type, TOTAL_CHANGED);
    const total *told = IG_MESSAGE_AS(total, TOTAL_CHANGED, &letter);
    assert_non_null(told);
    assert_float_equal(told->total, 4, 0);
    assert_int_equal(told->count, 1);
    assert_int_equal(status_of(next).last_error, IG_RING_ERROR_INVALID_MESSAGE);
    ig_message_clear(&letter);
    end_kernel(first);
    ig_ring_kernel_release(next);
}

// ---- Halo exchange ----

enum { COLUMNS = 24, ROWS = 10, STEPS = 25, MAX_TILES = 6 };

typedef struct tiled {
    uint32_t grid_x, grid_y, width, height;
    ig_ring_kernel *kernels[MAX_TILES];
    ig_buffer *planes[MAX_TILES];
} tiled;

static float *cell(const tiled *t, uint32_t x, uint32_t y, uint32_t step) {
    uint32_t stride = t->width + 2, tile = y / t->height * t->grid_x + x / t->width;
    float *plane = (float *)ig_buffer_contents(t->planes[tile]) + (size_t)(step & 1) * stride * (t->height + 2);
    return &plane[(1 + y % t->height) * stride + 1 + x % t->width];
}

static void launch_tile(tiled *t, uint32_t number, uint32_t block, ig_ring_mode mode) {
    char name[16];
    snprintf(name, sizeof name, "tile-%u", number);
    uint64_t bytes = 2ull * (t->width + 2) * (t->height + 2) * sizeof(float);
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = bytes}, &t->planes[number]));
    t->kernels[number] = launch(&(ig_ring_launch_desc){.name = name,
                                                       .kernel = "k2k_halo",
                                                       .path = KERNEL_DIR "/k2k-halo.metal",
                                                       .block = block,
                                                       .mode = mode,
                                                       .buffers = {t->planes[number]},
                                                       .max_payload = 1024,
                                                       .k2k = true});
    halo_plan plan = {t->width, t->height, number % t->grid_x, number / t->grid_x, t->grid_x, t->grid_y, 0.2f};
    ig_message message = IG_MESSAGE(CONFIGURE, &plan), answer = {0};
    assert_ok(ig_ring_request(t->kernels[number], &message, &answer, SECONDS(20)));
    ig_message_clear(&answer);
}

static void start_tiles(tiled *t) {
    uint32_t steps = STEPS, count = t->grid_x * t->grid_y;
    ig_message message = IG_MESSAGE(START, &steps), answer = {0};
    for (uint32_t i = 0; i < count; i++) assert_ok(ig_ring_send(t->kernels[i], &message, SECONDS(20), NULL));
    for (uint32_t i = 0; i < count; i++) {
        assert_ok(ig_ring_receive(t->kernels[i], &answer, SECONDS(20)));
        assert_int_equal(answer.header.message_type, DONE);
    }
    ig_message_clear(&answer);
}

// Heat of a hot corner and a hot spot after the steps; `result` has COLUMNS x ROWS cells.
static void diffuse(uint32_t grid_x, uint32_t grid_y, uint32_t block, ig_ring_mode mode, float *result) {
    tiled t = {grid_x, grid_y, COLUMNS / grid_x, ROWS / grid_y, {0}, {0}};
    uint32_t count = grid_x * grid_y, grid[3] = {grid_x, grid_y, 1};
    for (uint32_t i = 0; i < count; i++) launch_tile(&t, i, block, mode);
    if (count > 1) assert_ok(ig_ring_connect_grid(t.kernels, grid, IG_NEIGHBOURS_FACES, false));
    *cell(&t, 0, 0, 0) = 100;
    *cell(&t, 11, 4, 0) = 50;
    start_tiles(&t);
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < COLUMNS; x++) result[y * COLUMNS + x] = *cell(&t, x, y, STEPS);
    for (uint32_t i = 0; i < count; i++) {
        end_kernel(t.kernels[i]);
        ig_buffer_release(t.planes[i]);
    }
}

static void tiles_that_exchange_faces_compute_what_one_tile_does(void **state) {
    (void)state;
    static float whole[COLUMNS * ROWS], tiles[COLUMNS * ROWS];
    diffuse(1, 1, 32, IG_RING_EVENT_DRIVEN, whole);
    assert_true(whole[0] > 0 && whole[0] < 100);
    for (int r = 0; r < RUNS; r++) {
        diffuse(3, 2, runs[r].block, runs[r].mode, tiles);
        assert_memory_equal(tiles, whole, sizeof whole);
    }
}

int main(void) {
#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, open_runtime, close_runtime)
    const struct CMUnitTest tests[] = {
        WITH_RUNTIME(the_base_kernel_keeps_a_total),
        WITH_RUNTIME(the_base_kernel_tells_the_next),
        WITH_RUNTIME(tiles_that_exchange_faces_compute_what_one_tile_does),
    };
    return cmocka_run_group_tests_name("templates", tests, open_test_device, close_test_device);
}
