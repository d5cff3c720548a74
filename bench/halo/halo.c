// SPDX-License-Identifier: Apache-2.0
// ingot bench halo: stencils on tiles, and the same without tiles in plain C with OpenMP.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/common/load.h"
#include "bench/common/median.h"
#include "bench/common/module.h"
#include "bench/common/row.h"
#include "bench/suites.h"
#include "console/device.h"
#include "console/options.h"
#include "console/output.h"
#include "core/clock.h"
#include "halo/stencil.h"
#include "openmp.h"

typedef struct halo_case {
    const char *name;
    igi_halo_stencil_kind kind;
    uint32_t dimensions, halo;
    uint64_t tile, grid;  // along each axis
    uint64_t steps;       // of one measurement
} halo_case;

// 1024 and 2048 cells along each of two axes fit into a large cache; 4096, and 256 in three dimensions, do not.
static const halo_case cases[] = {
    {"heat 1024^2, tiles 64^2", IGI_STENCIL_HEAT, 2, 1, 64, 16, 256},
    {"heat 1024^2, tiles 256^2", IGI_STENCIL_HEAT, 2, 1, 256, 4, 256},
    {"heat 2048^2, tiles 64^2", IGI_STENCIL_HEAT, 2, 1, 64, 32, 64},
    {"heat 2048^2, tiles 64^2, halo 4", IGI_STENCIL_HEAT, 2, 4, 64, 32, 64},
    {"heat 2048^2, tiles 256^2", IGI_STENCIL_HEAT, 2, 1, 256, 8, 64},
    {"heat 4096^2, tiles 64^2", IGI_STENCIL_HEAT, 2, 1, 64, 64, 16},
    {"heat 4096^2, tiles 256^2", IGI_STENCIL_HEAT, 2, 1, 256, 16, 16},
    {"wave 2048^2, tiles 256^2", IGI_STENCIL_WAVE, 2, 1, 256, 8, 64},
    {"heat 256^3, tiles 64^3", IGI_STENCIL_HEAT, 3, 1, 64, 4, 16},
};

static const float coefficient = 0.1f;

// Both sides of one case, prepared once and measured in turns.
typedef struct halo_bench {
    const halo_case *test;
    igi_halo_stencil *stencil;
    igi_halo_stencil *separate;       // the same, with exchanges measured separately from steps
    const halo_openmp_steps *openmp;  // NULL: no peer
    halo_openmp_domain domain;
    float *arrays[3];
    uint64_t cells;  // of the domain
} halo_bench;

// ---- Ingot ----

static int open_stencil(ig_device *device, const halo_bench *bench, bool separate, igi_halo_stencil **stencil) {
    const halo_case *test = bench->test;
    uint64_t depth = test->dimensions == 3 ? test->tile : 1, layers = test->dimensions == 3 ? test->grid : 1;
    igi_halo_stencil_config config = {.kind = test->kind,
                                      .coefficient = coefficient,
                                      .separate = separate,
                                      .halo = {.dimensions = test->dimensions,
                                               .grid = {test->grid, test->grid, layers},
                                               .tile = {test->tile, test->tile, depth},
                                               .halo = test->halo}};
    ig_error error = {0};
    ig_status status = igi_halo_stencil_create(device, &config, stencil, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    float *start = cli_alloc(bench->cells * sizeof *start);
    for (uint64_t i = 0; i < bench->cells; i++) start[i] = (float)(i % 1000) * 1e-3f;
    status = igi_halo_stencil_start(*stencil, start, start, start, &error);
    free(start);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report_and_clear(status, &error);
}

static double run_stencil(const halo_bench *bench, uint64_t steps) {
    uint64_t start = igi_now_ns();
    if (igi_halo_stencil_run(bench->stencil, steps, NULL) != IG_STATUS_OK) return -1;
    return (double)(igi_now_ns() - start) * 1e-9;
}

// The time of the steps without their exchanges.
static double run_steps_alone(const halo_bench *bench, uint64_t steps) {
    uint64_t before = igi_halo_stencil_get_times(bench->separate).step_ns;
    if (igi_halo_stencil_run(bench->separate, steps, NULL) != IG_STATUS_OK) return -1;
    return (double)(igi_halo_stencil_get_times(bench->separate).step_ns - before) * 1e-9;
}

// ---- The peer ----

static void open_domain(halo_bench *bench) {
    const halo_case *test = bench->test;
    size_t side = test->tile * test->grid, depth = test->dimensions == 3 ? side : 1;
    size_t padded = (side + 2) * (side + 2) * (depth > 1 ? depth + 2 : 1);
    for (int i = 0; i < 3; i++) {
        bench->arrays[i] = cli_alloc(padded * sizeof(float));
        for (size_t k = 0; k < padded; k++) bench->arrays[i][k] = (float)(k % 1000) * 1e-3f;
    }
    bench->domain = (halo_openmp_domain){side, side, depth, coefficient, NULL, NULL, bench->arrays[2]};
}

static double run_openmp(halo_bench *bench, uint64_t steps) {
    const halo_case *test = bench->test;
    void (*step)(const halo_openmp_domain *) = test->kind == IGI_STENCIL_WAVE ? bench->openmp->wave_2d
                                               : test->dimensions == 3        ? bench->openmp->heat_3d
                                                                              : bench->openmp->heat_2d;
    uint64_t start = igi_now_ns();
    for (uint64_t i = 0; i < steps; i++) {
        bench->domain.now = bench->arrays[i % 2];
        bench->domain.other = bench->arrays[1 - i % 2];
        step(&bench->domain);
    }
    return (double)(igi_now_ns() - start) * 1e-9;
}

// ---- Measuring ----

typedef struct measured {
    double seconds, alone, peer_seconds;
} measured;

// Threads of OpenMP keep spinning for a while.
static void let_threads_rest(void) {
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

// Each begins with a few steps that bring its arrays back into the caches.
static bool measure_turn(halo_bench *bench, measured *turn) {
    uint64_t steps = bench->test->steps, few = steps / 8;
    if (run_stencil(bench, few) < 0) return false;
    turn->seconds = run_stencil(bench, steps);
    if (run_steps_alone(bench, few) < 0) return false;
    turn->alone = run_steps_alone(bench, steps / 2) * 2;
    if (bench->openmp) {
        run_openmp(bench, few);
        turn->peer_seconds = run_openmp(bench, steps);
        let_threads_rest();
    }
    return turn->seconds >= 0 && turn->alone >= 0;
}

static double median_of(const measured *turns, uint64_t count, size_t offset) {
    double *values = cli_alloc(count * sizeof *values);
    for (uint64_t i = 0; i < count; i++) memcpy(&values[i], (const char *)&turns[i] + offset, sizeof *values);
    double median = bench_median_of(values, count);
    free(values);
    return median;
}

static void report(const halo_bench *bench, const halo_case *test, const measured *turns, uint64_t count) {
    double work = (double)bench->cells * (double)test->steps * 1e-6;
    bench_row row = {.suite = "halo", .name = test->name, .unit = "Mcell/s"};
    row.value = work / median_of(turns, count, offsetof(measured, seconds));
    double peer = median_of(turns, count, offsetof(measured, peer_seconds));
    if (peer > 0) bench_add_peer(&row, "openmp", work / peer);
    bench_report(&row);
    char name[64];
    snprintf(name, sizeof name, "%s: exchange", test->name);
    bench_row share = {.suite = "halo", .name = name, .unit = "%", .lower_is_better = true};
    double alone = median_of(turns, count, offsetof(measured, alone));
    double all = median_of(turns, count, offsetof(measured, seconds));
    share.value = alone < all ? 100 * (1 - alone / all) : 0;
    bench_report(&share);
}

static int measure(ig_device *device, const halo_openmp_steps *openmp, const halo_case *test, uint64_t repeats) {
    halo_bench bench = {.test = test, .openmp = openmp};
    bench.cells =
        test->tile * test->grid * test->tile * test->grid * (test->dimensions == 3 ? test->tile * test->grid : 1);
    measured *turns = cli_alloc(repeats * sizeof *turns);
    memset(turns, 0, repeats * sizeof *turns);
    int result = open_stencil(device, &bench, false, &bench.stencil);
    if (result == CLI_CONTINUE) result = open_stencil(device, &bench, true, &bench.separate);
    if (result == CLI_CONTINUE && openmp) open_domain(&bench);
    for (uint64_t i = 0; i < repeats && result == CLI_CONTINUE; i++) {
        if (!measure_turn(&bench, &turns[i])) result = cli_error(CLI_FAILED, "%s: the stencil failed", test->name);
    }
    if (result == CLI_CONTINUE) report(&bench, test, turns, repeats);
    igi_halo_stencil_release(bench.stencil);
    igi_halo_stencil_release(bench.separate);
    for (int i = 0; i < 3; i++) free(bench.arrays[i]);
    free(turns);
    return result;
}

// Cases whose names contain one of the given words.
static bool is_wanted(const cli_list *words, const halo_case *test) {
    for (size_t i = 0; i < words->count; i++)
        if (strstr(test->name, words->items[i])) return true;
    return words->count == 0;
}

int bench_halo(const bench_context *context) {
    void *module = bench_load_module("ingot-bench-halo-openmp");
    const halo_openmp_steps *openmp = module ? dlsym(module, "halo_openmp") : NULL;
    ig_device *device = NULL;
    bench_load load = bench_load_now();
    int result = cli_open_device(NULL, &device);
    for (size_t i = 0; i < sizeof cases / sizeof *cases && result == CLI_CONTINUE; i++)
        if (is_wanted(&context->kernels, &cases[i])) result = measure(device, openmp, &cases[i], context->repeats);
    ig_device_release(device);
    bench_warn_of_load(&load);
    return result;
}
