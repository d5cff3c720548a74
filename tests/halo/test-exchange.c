// SPDX-License-Identifier: Apache-2.0
// Halo exchange in one process and between processes: every cell of every rim, errors, figures.
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "halo-helpers.h"

static ig_halo *make_halo(const ig_halo_config *config) {
    ig_halo *halo = NULL;
    ig_error error = {0};
    if (ig_halo_create(device, config, &halo, &error) != IG_STATUS_OK) fail_msg("%s", error.message);
    return halo;
}

// ---- Every cell ----

// Odd sizes and counts, single tiles, halos up to the tile, every kind of unit.
static const ig_halo_config shapes[] = {
    {.grid = {3, 2}, .tile = {5, 7}, .halo = 1},
    {.grid = {3, 5}, .tile = {5, 4}, .halo = 4, .neighbours = IG_NEIGHBOURS_ALL, .element_bytes = 1},
    {.grid = {1, 1}, .tile = {6, 3}, .halo = 3, .neighbours = IG_NEIGHBOURS_ALL, .element_bytes = 6},
    {.grid = {2, 1}, .tile = {33, 17}, .halo = 2, .neighbours = IG_NEIGHBOURS_ALL, .element_bytes = 8},
    {.grid = {1, 3}, .tile = {4, 9}, .halo = 3, .element_bytes = 3},
    {.grid = {4, 4}, .tile = {16, 16}, .halo = 1, .neighbours = IG_NEIGHBOURS_ALL, .element_bytes = 48},
    {.dimensions = 3, .grid = {3, 2, 3}, .tile = {5, 4, 3}, .halo = 1},
    {.dimensions = 3,
     .grid = {2, 3, 3},
     .tile = {5, 3, 4},
     .halo = 3,
     .neighbours = IG_NEIGHBOURS_ALL,
     .element_bytes = 2},
    {.dimensions = 3,
     .grid = {3, 1, 2},
     .tile = {7, 6, 5},
     .halo = 2,
     .neighbours = IG_NEIGHBOURS_ALL,
     .element_bytes = 20},
    {.dimensions = 3, .grid = {1, 1, 3}, .tile = {2, 2, 2}, .halo = 2, .element_bytes = 16},
};

static void set_periodic(ig_halo_config *config, unsigned bits) {
    for (int i = 0; i < 3; i++) config->periodic[i] = bits >> i & 1;
}

static void every_rim_cell_comes_from_its_neighbour(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(shapes); i++)
        for (unsigned bits = 0; bits < 8; bits += 1 + (i + bits) % 3) {
            ig_halo_config config = shapes[i];
            set_periodic(&config, bits);
            ig_halo *halo = make_halo(&config);
            fill_domain(halo, 0, 0xee);
            assert_ok(ig_halo_exchange(halo, IG_HALO_FIELD(0), NULL));
            if (count_wrong_cells(halo, &config, 0, 0xee)) fail_msg("shape %zu, periodic %u is wrong", i, bits);
            ig_halo_release(halo);
        }
}

// ---- Between processes ----

typedef struct rank_case {
    const ig_halo_config *config;
    _Atomic uint64_t wrong, failed;
} rank_case;

static void exchange_as_rank(const ig_halo_transport *transport, void *user) {
    rank_case *test = user;
    ig_halo_config config = *test->config;
    config.transport = transport;
    config.fields = 3;
    ig_halo *halo = NULL;
    if (ig_halo_create(device, &config, &halo, NULL) != IG_STATUS_OK) {
        test->failed++;
        return;
    }
    for (uint32_t field = 0; field < 3; field++) fill_domain(halo, field, 0x55);
    // Two of three at once, twice over.
    for (int round = 0; round < 2; round++) {
        test->failed += ig_halo_exchange_begin(halo, IG_HALO_FIELD(0) | IG_HALO_FIELD(2), NULL) != IG_STATUS_OK;
        test->failed += ig_halo_exchange_finish(halo, NULL) != IG_STATUS_OK;
    }
    test->wrong += count_wrong_cells(halo, &config, 0, 0x55) + count_wrong_cells(halo, &config, 2, 0x55);
    test->wrong += count_wrong_cells(halo, &config, 1, 0x55) == 0 && config.periodic[0];
    ig_halo_release(halo);
}

static void rims_cross_processes(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(shapes); i++)
        for (uint32_t ranks = 2; ranks <= 4; ranks++) {
            ig_halo_config config = shapes[i];
            if (config.grid.x * config.grid.y * (config.grid.z ? config.grid.z : 1) < 6) continue;
            set_periodic(&config, (unsigned)(3 * i + ranks));
            rank_case test = {.config = &config};
            run_ranks(ranks, exchange_as_rank, &test);
            if (test.wrong || test.failed) fail_msg("shape %zu on %u ranks is wrong", i, ranks);
        }
}

static void other_arrangements_of_processes(void **state) {
    (void)state;
    static const ig_size arrangements[] = {{4, 1, 1}, {1, 4, 1}, {2, 2, 1}};
    for (size_t i = 0; i < LENGTH(arrangements); i++) {
        ig_halo_config config = {.grid = {5, 4}, .tile = {3, 4}, .halo = 2, .ranks = arrangements[i]};
        config.neighbours = IG_NEIGHBOURS_ALL;
        set_periodic(&config, 3);
        rank_case test = {.config = &config};
        run_ranks(4, exchange_as_rank, &test);
        assert_int_equal(test.wrong + test.failed, 0);
    }
}

static void leave_or_wait(const ig_halo_transport *transport, void *user) {
    _Atomic int *good = user;
    ig_halo_config config = {.transport = transport, .timeout_ns = 50000000};
    ig_halo *halo = NULL;
    if (ig_halo_create(device, &config, &halo, NULL) != IG_STATUS_OK) return;
    if (transport->rank == 0) {
        ig_error error = {0};
        bool timed_out = ig_halo_exchange(halo, 1, &error) == IG_STATUS_TIMEOUT && strstr(error.message, "rank 1");
        bool stays_broken = ig_halo_exchange(halo, 1, &error) == IG_STATUS_WRONG_STATE;
        *good = timed_out && stays_broken;
        ig_error_clear(&error);
    }
    ig_halo_release(halo);
}

static void a_lost_process_is_an_error(void **state) {
    (void)state;
    _Atomic int good = 0;
    run_ranks(2, leave_or_wait, (void *)&good);
    assert_true(good);
}

// ---- Forms ----

static void encoded_exchanges_see_what_was_written_before(void **state) {
    (void)state;
    ig_halo_config config = {.grid = {3, 3}, .tile = {8, 8}, .periodic = {true, true}, .fields = 2};
    ig_halo *halo = make_halo(&config);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_halo_layout layout;
    ig_halo_get_layout(halo, &layout);
    fill_domain(halo, 0, 0xaa);
    // The second field becomes the first, including rims; both are exchanged after that.
    ig_halo_fill(halo, 1, (unsigned char[]){0xbb, 0xbb, 0xbb, 0xbb});
    assert_ok(ig_commands_copy(commands, ig_halo_field(halo, 0), 0, ig_halo_field(halo, 1), 0, layout.field_bytes));
    assert_ok(ig_halo_encode_exchange(halo, commands, IG_HALO_FIELD(0) | IG_HALO_FIELD(1)));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    for (uint32_t field = 0; field < 2; field++) assert_int_equal(count_wrong_cells(halo, &config, field, 0xaa), 0);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_halo_release(halo);
}

static void scatter_and_gather_are_inverse(void **state) {
    (void)state;
    ig_halo_config config = {.dimensions = 3, .grid = {2, 3, 2}, .tile = {3, 4, 5}, .halo = 2, .element_bytes = 3};
    ig_halo *halo = make_halo(&config);
    ig_halo_layout layout;
    ig_halo_get_layout(halo, &layout);
    assert_int_equal(layout.block_bytes, 2 * 3 * 2 * 3 * 4 * 5 * 3);
    unsigned char *in = malloc(layout.block_bytes), *out = calloc(1, layout.block_bytes);
    for (uint64_t i = 0; i < layout.block_bytes; i++) in[i] = (unsigned char)(i * 7 >> 2);
    assert_ok(ig_halo_scatter(halo, 0, in));
    assert_ok(ig_halo_gather(halo, 0, out));
    assert_memory_equal(in, out, layout.block_bytes);
    assert_int_equal(ig_halo_scatter(halo, 1, in), IG_STATUS_INVALID_ARGUMENT);
    free(in), free(out);
    ig_halo_release(halo);
}

static void exchanges_do_not_nest(void **state) {
    (void)state;
    ig_halo_config config = {.fields = 2};
    ig_halo *halo = make_halo(&config);
    ig_error error = {0};
    assert_int_equal(ig_halo_exchange_finish(halo, &error), IG_STATUS_WRONG_STATE);
    assert_int_equal(ig_halo_exchange(halo, 4, &error), IG_STATUS_INVALID_ARGUMENT);
    assert_contains(error.message, "2 fields");
    assert_ok(ig_halo_exchange_begin(halo, 1, &error));
    assert_int_equal(ig_halo_exchange_begin(halo, 2, &error), IG_STATUS_WRONG_STATE);
    assert_int_equal(ig_halo_reset(halo), IG_STATUS_WRONG_STATE);
    assert_ok(ig_halo_exchange_finish(halo, &error));
    // Released in the middle: the exchange ends first.
    assert_ok(ig_halo_exchange_begin(halo, 3, &error));
    ig_error_clear(&error);
    ig_halo_release(halo);
}

// ---- Figures and defaults ----

static void figures_count_tiles_messages_and_bytes(void **state) {
    (void)state;
    ig_halo *halo = make_halo(&(ig_halo_config){0});
    ig_halo_stats stats;
    assert_ok(ig_halo_exchange(halo, 1, NULL));
    assert_ok(ig_halo_exchange(halo, 1, NULL));
    ig_halo_get_stats(halo, &stats);
    // 4 x 4 tiles have 24 borders, crossed both ways, of 64 cells of 4 bytes.
    assert_int_equal(stats.exchanges, 2);
    assert_int_equal(stats.messages, 2 * 48);
    assert_int_equal(stats.bytes, 2 * 48 * 64 * 4);
    assert_int_equal(stats.remote_messages, 0);
    assert_int_equal(stats.tiles, 16);
    assert_int_equal(stats.grid.x, 4);
    assert_true(stats.time_ns > 0);
    assert_ok(ig_halo_reset(halo));
    ig_halo_get_stats(halo, &stats);
    assert_int_equal(stats.exchanges + stats.messages + stats.bytes + stats.time_ns, 0);
    ig_halo_release(halo);
}

static void moore_neighbourhoods_have_26_messages(void **state) {
    (void)state;
    ig_halo_config config = ig_halo_config_3d((ig_size){3, 3, 3}, (ig_size){4, 4, 4}, 1);
    config.neighbours = IG_NEIGHBOURS_ALL;
    set_periodic(&config, 7);
    ig_halo *halo = make_halo(&config);
    ig_halo_stats stats;
    assert_ok(ig_halo_exchange(halo, 1, NULL));
    ig_halo_get_stats(halo, &stats);
    assert_int_equal(stats.messages, 27 * 26);
    assert_int_equal(stats.bytes, 27 * (6 * 6 * 6 - 4 * 4 * 4) * 4);
    ig_halo_release(halo);
}

// ---- Routes ----

static void expect_routes(const ig_halo_config *config, uint64_t tile, uint32_t self, const uint32_t *dests,
                          uint32_t count) {
    ig_halo *halo = make_halo(config);
    ig_k2k_routing_table table;
    assert_ok(ig_halo_get_routes(halo, tile, &table));
    assert_int_equal(table.self_id, self);
    assert_int_equal(table.route_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(table.routes[i].dest, dests[i]);
        assert_int_equal(table.routes[i].is_active, 1);
        assert_int_equal(table.routes[i].bandwidth_hint, 16);
    }
    assert_int_equal(ig_halo_get_routes(halo, 1000, &table), IG_STATUS_OUT_OF_RANGE);
    ig_halo_release(halo);
}

static void routes_follow_the_slots_of_ring_kernels(void **state) {
    (void)state;
    assert_int_equal(sizeof(ig_k2k_routing_table), 864);
    // N, S, W, E of the tile in the middle, then corners; a corner tile has two.
    ig_halo_config plane = {.grid = {3, 3}, .tile = {8, 8}};
    expect_routes(&plane, 4, 4, (const uint32_t[]){1, 7, 3, 5}, 4);
    expect_routes(&plane, 0, 0, (const uint32_t[]){3, 1}, 2);
    plane.neighbours = IG_NEIGHBOURS_ALL;
    expect_routes(&plane, 4, 4, (const uint32_t[]){1, 7, 3, 5, 0, 2, 6, 8}, 8);
    set_periodic(&plane, 1);
    expect_routes(&plane, 0, 0, (const uint32_t[]){3, 2, 1, 5, 4}, 5);
    ig_halo_config space = ig_halo_config_3d((ig_size){3, 3, 3}, (ig_size){8, 8, 8}, 2);
    expect_routes(&space, 13, 13, (const uint32_t[]){12, 14, 10, 16, 4, 22}, 6);
}

static void inboxes_hold_the_largest_face(void **state) {
    (void)state;
    ig_halo_config config = {.grid = {2, 1}, .tile = {8, 40}, .halo = 2, .inbox_messages = 3};
    ig_halo *halo = make_halo(&config);
    ig_k2k_routing_table table;
    assert_ok(ig_halo_get_routes(halo, 0, &table));
    // Two columns of 40 floats after 32 bytes, in whole lines, three times after a header.
    assert_int_equal(table.routes[0].inbox_offset, 64 + 3 * 384);
    ig_halo_release(halo);
}

// ---- Errors ----

static void wrong_configurations_are_named(void **state) {
    (void)state;
    static const struct {
        ig_halo_config config;
        ig_status status;
        const char *part;
    } cases[] = {
        {{.dimensions = 4}, IG_STATUS_INVALID_ARGUMENT, "dimensions is 4"},
        {{.grid = {2, 2, 2}}, IG_STATUS_INVALID_ARGUMENT, "grid.z is 2"},
        {{.tile = {8, 8, 8}}, IG_STATUS_INVALID_ARGUMENT, "tile.z is 8"},
        {{.tile = {8, 3}, .halo = 4}, IG_STATUS_INVALID_ARGUMENT, "tile.y is 3, less than the halo of 4"},
        {{.dimensions = 3, .halo = 2}, IG_STATUS_INVALID_ARGUMENT, "tile.z is 1"},
        {{.fields = 33}, IG_STATUS_INVALID_ARGUMENT, "fields is 33"},
        {{.element_bytes = 1 << 21}, IG_STATUS_INVALID_ARGUMENT, "element_bytes"},
        {{.tile = {UINT64_MAX, 1}}, IG_STATUS_INVALID_ARGUMENT, "tile.x"},
        {{.grid = {1, UINT64_MAX}}, IG_STATUS_INVALID_ARGUMENT, "grid.y"},
        {{.grid = {1 << 20, 1 << 20}, .tile = {1 << 10, 1 << 10}}, IG_STATUS_OVERFLOW, "grid and tile"},
        {{.ranks = {2, 1, 1}}, IG_STATUS_INVALID_ARGUMENT, "ranks"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        ig_halo *halo = NULL;
        ig_error error = {0};
        assert_int_equal(ig_halo_create(device, &cases[i].config, &halo, &error), cases[i].status);
        assert_null(halo);
        assert_contains(error.message, cases[i].part);
        ig_error_clear(&error);
    }
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    ig_halo_config config = {.tile = {9, 9}};
    ig_halo_release(make_halo(&config));  // compiles
    ig_status status = IG_STATUS_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != IG_STATUS_OK && n < 2000; n++) {
        ig_halo *halo = NULL;
        ig_error error = {0};
        igi_alloc_fail_at(n);
        status = ig_halo_create(device, &config, &halo, &error);
        if (status == IG_STATUS_OK) status = ig_halo_exchange(halo, 1, &error);
        igi_alloc_fail_at(0);
        ig_halo_release(halo);
        ig_error_clear(&error);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rim_cell_comes_from_its_neighbour),
        cmocka_unit_test(rims_cross_processes),
        cmocka_unit_test(other_arrangements_of_processes),
        cmocka_unit_test(a_lost_process_is_an_error),
        cmocka_unit_test(encoded_exchanges_see_what_was_written_before),
        cmocka_unit_test(scatter_and_gather_are_inverse),
        cmocka_unit_test(exchanges_do_not_nest),
        cmocka_unit_test(figures_count_tiles_messages_and_bytes),
        cmocka_unit_test(moore_neighbourhoods_have_26_messages),
        cmocka_unit_test(routes_follow_the_slots_of_ring_kernels),
        cmocka_unit_test(inboxes_hold_the_largest_face),
        cmocka_unit_test(wrong_configurations_are_named),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests_name("halo exchange", tests, open_test_device, close_test_device);
}
