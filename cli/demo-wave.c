// SPDX-License-Identifier: Apache-2.0
// ingot demo, a wave: tiles that exchange their borders, and a wall with two slits.
#include <stdlib.h>

#include "console/options.h"
#include "console/output.h"
#include "core/clock.h"
#include "core/file.h"
#include "demo.h"
#include "format.h"
#include "halo.h"

enum { STEPS = 1200 };
static const halo_options wave = {
    .stencil = {.kind = IGI_STENCIL_WAVE, .every = 1, .halo = {.dimensions = 2, .grid = {10, 6}, .tile = {96, 100}}},
    .obstacles = HALO_SLITS,
};

static void show(const char *path, const ig_halo_stats *stats, uint64_t cells, uint64_t run_ns) {
    double megacells = (double)cells * STEPS * 1e3 / (double)run_ns;
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "act", "wave");
        igi_json_put_string(row, "file", path);
        igi_json_put_u64(row, "tiles", stats->tiles);
        igi_json_put_u64(row, "steps", STEPS);
        igi_json_put_u64(row, "messages", stats->messages);
        igi_json_put_u64(row, "run_ns", run_ns);
        igi_json_put_double(row, "megacells_per_second", megacells);
        cli_end_row();
        return;
    }
    char run[CLI_FORMAT_TEXT];
    printf("  %llu tiles, %d steps in %s: %.0f Mcells/s, %llu messages between tiles\n",
           (unsigned long long)stats->tiles, STEPS, cli_format_time((double)run_ns, run), megacells,
           (unsigned long long)stats->messages);
    printf("  picture: %s%s%s\n", cli_escape(stdout, CLI_GREEN), cli_visible(path), cli_escape(stdout, CLI_PLAIN));
}

static int save(const demo_stage *stage, const igi_halo_stencil *stencil, const halo_cells *cells, uint64_t run_ns) {
    halo_ranks alone = {0};
    float *domain = NULL;
    char *path = igi_path_join(stage->directory, "wave.png");
    int result = path ? halo_collect(&wave, &alone, stencil, &domain) : cli_report(IG_STATUS_OUT_OF_MEMORY, NULL);
    if (result == CLI_CONTINUE) result = halo_save_picture(&wave, path, cells, domain);
    ig_halo_stats stats;
    ig_halo_get_stats(igi_halo_stencil_halo(stencil), &stats);
    if (result == CLI_CONTINUE) show(path, &stats, cells->count, run_ns);
    free(domain), free(path);
    return result;
}

static int run(const demo_stage *stage, igi_halo_stencil *stencil) {
    ig_halo_layout layout;
    halo_cells cells;
    ig_error error = {0};
    ig_halo_get_layout(igi_halo_stencil_halo(stencil), &layout);
    int result = halo_make_cells(&wave, &layout, &cells);
    ig_status status = igi_halo_stencil_start(stencil, cells.now, cells.before, cells.speed, &error);
    uint64_t start = igi_now_ns();
    if (status == IG_STATUS_OK) status = igi_halo_stencil_run(stencil, STEPS, &error);
    uint64_t run_ns = igi_now_ns() - start;
    if (status != IG_STATUS_OK) result = cli_report_and_clear(status, &error);
    if (result == CLI_CONTINUE) result = save(stage, stencil, &cells, run_ns);
    halo_free_cells(&cells);
    return result;
}

int demo_make_waves(const demo_stage *stage) {
    igi_halo_stencil *stencil = NULL;
    ig_error error = {0};
    ig_status status = igi_halo_stencil_create(stage->device, &wave.stencil, &stencil, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    int result = run(stage, stencil);
    igi_halo_stencil_release(stencil);
    return result;
}
