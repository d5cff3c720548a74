// SPDX-License-Identifier: Apache-2.0
// ingot halo: a tiled stencil with halo exchange, in one process or several.
#include "halo.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "console/device.h"
#include "console/options.h"
#include "console/output.h"
#include "console/progress.h"
#include "core/clock.h"
#include "core/file.h"
#include "format.h"

// One run of the command.
typedef struct halo_run {
    halo_options options;
    halo_ranks ranks;
    ig_device *device;
    igi_halo_stencil *stencil;
    ig_halo_layout layout;
    halo_cells cells;
    uint64_t run_ns;
    bool verified;
} halo_run;

// ---- Starting ----

static int start_stencil(const halo_run *run, igi_halo_stencil *stencil) {
    ig_halo_layout layout;
    ig_halo_get_layout(igi_halo_stencil_halo(stencil), &layout);
    float *now = halo_cut_block(&layout, run->cells.now), *before = halo_cut_block(&layout, run->cells.before);
    float *speed = halo_cut_block(&layout, run->cells.speed);
    ig_error error = {0};
    ig_status status = igi_halo_stencil_start(stencil, now, before, speed, &error);
    free(now), free(before), free(speed);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report_and_clear(status, &error);
}

static int open_run(halo_run *run) {
    int result = halo_open_ranks(&run->ranks);
    if (result == CLI_CONTINUE) result = cli_open_device(NULL, &run->device);
    if (result != CLI_CONTINUE) return result;
    run->options.stencil.halo.transport = run->ranks.transport;
    ig_error error = {0};
    ig_status status = igi_halo_stencil_create(run->device, &run->options.stencil, &run->stencil, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    ig_halo_get_layout(igi_halo_stencil_halo(run->stencil), &run->layout);
    result = halo_make_cells(&run->options, &run->layout, &run->cells);
    return result == CLI_CONTINUE ? start_stencil(run, run->stencil) : result;
}

static void close_run(halo_run *run) {
    igi_halo_stencil_release(run->stencil);
    halo_free_cells(&run->cells);
    ig_device_release(run->device);
}

// ---- Stepping ----

static int save_frame(halo_run *run, uint64_t step) {
    float *domain = NULL;
    int result = halo_collect(&run->options, &run->ranks, run->stencil, &domain);
    if (result == CLI_CONTINUE && domain) result = halo_save_frame(&run->options, &run->cells, domain, step);
    free(domain);
    return result;
}

// Steps until a frame is due or progress should be shown, in whole groups between exchanges.
static uint64_t next_steps(const halo_options *options, uint64_t done) {
    enum { AT_MOST = 128 };
    uint64_t every = options->stencil.every, left = options->steps - done;
    uint64_t steps = (AT_MOST + every - 1) / every * every;
    if (options->frames && options->frame_every - done % options->frame_every < steps)
        steps = options->frame_every - done % options->frame_every;
    return steps < left ? steps : left;
}

static int step(halo_run *run) {
    const halo_options *options = &run->options;
    cli_progress progress = {.label = "steps", .total = options->steps};
    ig_error error = {0};
    int result = options->frames ? save_frame(run, 0) : CLI_CONTINUE;
    for (uint64_t done = 0; done < options->steps && result == CLI_CONTINUE;) {
        uint64_t steps = next_steps(options, done), start = igi_now_ns();
        ig_status status = igi_halo_stencil_run(run->stencil, steps, &error);
        run->run_ns += igi_now_ns() - start;
        done += steps;
        if (halo_is_first(&run->ranks)) cli_progress_update(&progress, done);
        if (status != IG_STATUS_OK) {
            cli_progress_end(&progress);
            return cli_report_and_clear(status, &error);
        }
        if (options->frames && done % options->frame_every == 0) result = save_frame(run, done);
    }
    cli_progress_end(&progress);
    return result;
}

// ---- Verifying ----

// The same kernels on one tile as large as the domain, which exchanges only its own ends.
static int run_untiled(const halo_run *run, float *cells) {
    igi_halo_stencil_config config = run->options.stencil;
    config.halo.tile = run->layout.domain;
    config.halo.grid = (ig_size){1, 1, 1};
    config.halo.ranks = (ig_size){0};
    config.halo.halo = config.every = 1;
    config.halo.transport = NULL;
    config.overlaps = false;
    igi_halo_stencil *stencil = NULL;
    ig_error error = {0};
    ig_status status = igi_halo_stencil_create(run->device, &config, &stencil, &error);
    int result = status == IG_STATUS_OK ? start_stencil(run, stencil) : CLI_CONTINUE;
    if (status == IG_STATUS_OK && result == CLI_CONTINUE)
        status = igi_halo_stencil_run(stencil, run->options.steps, &error);
    if (status == IG_STATUS_OK && result == CLI_CONTINUE) status = igi_halo_stencil_read(stencil, cells);
    igi_halo_stencil_release(stencil);
    return status == IG_STATUS_OK ? result : cli_report_and_clear(status, &error);
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int verify(halo_run *run, const float *domain) {
    float *untiled = cli_alloc(run->cells.count * sizeof *untiled);
    int result = run_untiled(run, untiled);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < run->cells.count && result == CLI_CONTINUE; i++)
        wrong += bits_of(untiled[i]) != bits_of(domain[i]);
    free(untiled);
    if (wrong)
        return cli_error(CLI_FAILED, "%llu of %llu cells differ from the untiled result", (unsigned long long)wrong,
                         (unsigned long long)run->cells.count);
    run->verified = result == CLI_CONTINUE;
    return result;
}

// ---- Reporting ----

// Negative if exchanges are part of steps.
static double exchange_share(const halo_run *run) {
    igi_halo_stencil_times times = igi_halo_stencil_get_times(run->stencil);
    uint64_t both = times.step_ns + times.exchange_ns;
    return both ? (double)times.exchange_ns / (double)both : -1;
}

static double megacells(const halo_run *run) {
    return (double)run->cells.count * (double)run->options.steps * 1e3 / (double)(run->run_ns ? run->run_ns : 1);
}

static void put_size(igi_json *row, const char *key, ig_size size) {
    igi_json_key(row, key);
    igi_json_begin_array(row);
    igi_json_u64(row, size.x);
    igi_json_u64(row, size.y);
    igi_json_u64(row, size.z);
    igi_json_end_array(row);
}

static void report_json(const halo_run *run, const ig_halo_stats *stats) {
    const halo_options *options = &run->options;
    igi_json *row = cli_begin_row();
    igi_json_put_string(row, "problem", options->stencil.kind == IGI_STENCIL_HEAT ? "heat" : "wave");
    igi_json_put_u64(row, "dimensions", run->layout.dimensions);
    put_size(row, "grid", run->layout.grid);
    put_size(row, "tile", run->layout.tile);
    put_size(row, "cells", run->layout.domain);
    put_size(row, "ranks", run->layout.ranks);
    igi_json_put_u64(row, "halo", run->layout.halo);
    igi_json_put_u64(row, "every", options->stencil.every);
    igi_json_put_u64(row, "steps", options->steps);
    igi_json_put_u64(row, "run_ns", run->run_ns);
    igi_json_put_double(row, "megacells_per_second", megacells(run));
    if (exchange_share(run) >= 0) igi_json_put_double(row, "exchange_share", exchange_share(run));
    igi_json_put_u64(row, "exchanges", stats->exchanges);
    igi_json_put_u64(row, "messages", stats->messages);
    igi_json_put_u64(row, "bytes", stats->bytes);
    igi_json_put_u64(row, "remote_messages", stats->remote_messages);
    igi_json_put_u64(row, "remote_bytes", stats->remote_bytes);
    if (options->verify) igi_json_put_bool(row, "verified", run->verified);
    if (options->out) igi_json_put_string(row, "file", options->out);
    if (options->frames) igi_json_put_string(row, "frames", options->frames);
    cli_end_row();
}

static void print_size(const char *before, ig_size size, bool three, const char *after) {
    printf("%s%llu x %llu", before, (unsigned long long)size.x, (unsigned long long)size.y);
    if (three) printf(" x %llu", (unsigned long long)size.z);
    printf("%s", after);
}

static void report_text(const halo_run *run, const ig_halo_stats *stats) {
    const halo_options *options = &run->options;
    bool three = run->layout.dimensions == 3;
    char time[CLI_FORMAT_TEXT], bytes[CLI_FORMAT_TEXT];
    printf("%s%s%s", cli_escape(stdout, CLI_BOLD), options->stencil.kind == IGI_STENCIL_HEAT ? "heat" : "wave",
           cli_escape(stdout, CLI_PLAIN));
    print_size(": ", run->layout.domain, three, " cells in ");
    print_size("", run->layout.grid, three, " tiles");
    print_size(" of ", run->layout.tile, three, "");
    printf(", halo %u, exchange every %u step%s", run->layout.halo, options->stencil.every,
           options->stencil.every == 1 ? "" : "s");
    if (run->ranks.transport) printf(", %u processes", run->ranks.transport->rank_count);
    printf("\n%llu steps in %s: %.4g Mcells/s", (unsigned long long)options->steps,
           cli_format_time((double)run->run_ns, time), megacells(run));
    if (exchange_share(run) >= 0) printf(", %.1f %% of it exchange", 100 * exchange_share(run));
    printf("\n");
    printf("%llu exchanges, %llu messages between tiles, %s\n", (unsigned long long)stats->exchanges,
           (unsigned long long)stats->messages, cli_format_bytes(stats->bytes, bytes));
    if (run->verified) printf("verified: bit for bit the untiled result\n");
    if (options->out) printf("result: %s\n", cli_visible(options->out));
    if (options->frames) printf("frames: %s\n", cli_visible(options->frames));
}

// Figures are those of the first process.
static void report(const halo_run *run) {
    ig_halo_stats stats;
    ig_halo_get_stats(igi_halo_stencil_halo(run->stencil), &stats);
    if (cli_json)
        report_json(run, &stats);
    else
        report_text(run, &stats);
}

static int finish(halo_run *run) {
    const halo_options *options = &run->options;
    float *domain = NULL;
    int result = CLI_CONTINUE;
    if (options->out || options->verify) result = halo_collect(options, &run->ranks, run->stencil, &domain);
    if (result == CLI_CONTINUE && domain && options->verify) result = verify(run, domain);
    if (result == CLI_CONTINUE && domain && options->out) result = halo_save_result(options, &run->cells, domain);
    if (result == CLI_CONTINUE && halo_is_first(&run->ranks)) report(run);
    free(domain);
    return result;
}

// ---- Options ----

static int read_problem(const cli_list *operands, halo_options *options) {
    static const char *const problems[] = {"heat", "wave"};
    for (int i = 0; i < 2; i++)
        if (strcmp(operands->items[0], problems[i]) == 0) {
            options->stencil.kind = i == 0 ? IGI_STENCIL_HEAT : IGI_STENCIL_WAVE;
            return CLI_CONTINUE;
        }
    return cli_usage_error("unknown problem '%s'; choose heat or wave", operands->items[0]);
}

static int read_periodic(const char *axes, ig_halo_config *halo) {
    for (; axes && *axes; axes++) {
        if (!strchr("xyz", *axes)) return cli_usage_error("--periodic takes axes such as xy, not '%c'", *axes);
        halo->periodic[*axes - 'x'] = true;
    }
    return CLI_CONTINUE;
}

static int complete(halo_options *options, uint64_t halo, uint64_t every, int dimensions) {
    ig_halo_config *config = &options->stencil.halo;
    config->dimensions = dimensions == 0 ? 2 : 3;
    if (halo > UINT32_MAX || every > UINT32_MAX) return cli_usage_error("--halo and --every are at most 4294967295");
    config->halo = (uint32_t)halo;
    options->stencil.every = (uint32_t)(every ? every : halo);
    options->stencil.coefficient = config->dimensions == 3 ? 0.15f : 0.22f;
    if (config->dimensions == 3 && config->grid.x == 0) config->grid = (ig_size){2, 2, 2};
    if (config->dimensions == 3 && config->tile.x == 0) config->tile = (ig_size){32, 32, 32};
    if (options->obstacles && options->stencil.kind != IGI_STENCIL_WAVE)
        return cli_usage_error("--obstacles needs the problem wave");
    if (options->frame_every == 0) options->frame_every = (options->steps + 9) / 10;
    return CLI_CONTINUE;
}

static int run_all(const halo_options *options) {
    halo_run run = {.options = *options};
    if (options->frames && !igi_make_dirs(options->frames))
        return cli_error(CLI_BAD_INPUT, "%s: cannot create the directory", options->frames);
    int result = open_run(&run);
    if (result == CLI_CONTINUE) result = step(&run);
    if (result == CLI_CONTINUE) result = finish(&run);
    close_run(&run);
    // After a failure the other processes may wait for this one: mpirun ends them when this process exits without
    // closing MPI.
    if (result == CLI_CONTINUE) halo_close_ranks(&run.ranks);
    return result == CLI_CONTINUE ? CLI_OK : result;
}

static const char details[] =
    "Under mpirun each process computes a block of the tiles, and the first one writes the results. In three "
    "dimensions pictures show the middle plane.";

static const char examples[] =
    "ingot halo heat --verify\n"
    "ingot halo wave -g 8,6 --obstacles slits -n 600 -f frames\n"
    "ingot halo heat -d 3 -g 3,3,3 -t 21,20,19 --halo 2 -p xyz -n 1000 -o heat.npy\n"
    "mpirun -n 4 ingot halo wave -g 16,16 -n 1000 --verify";

int cmd_halo(int argc, char **argv) {
    halo_options chosen = {.steps = 100};
    ig_halo_config *halo = &chosen.stencil.halo;
    uint64_t width = 1, every = 0;
    int dimensions = 0;
    const char *periodic = NULL;
    const cli_option options[] = {
        {'d', "dimensions", CLI_CHOICE, &dimensions, "2|3", "number of dimensions (default 2)"},
        {'g', "grid", CLI_SIZE, &halo->grid, "X,Y[,Z]", "number of tiles along each axis (default 4,4; in 3D 2,2,2)"},
        {'t', "tile", CLI_SIZE, &halo->tile, "X,Y[,Z]",
         "cells of a tile along each axis (default 64,64; in 3D 32,32,32)"},
        {'w', "halo", CLI_COUNT, &width, "N", "halo width in cells (default 1)"},
        {'e', "every", CLI_COUNT, &every, "N",
         "steps between exchanges, 1 to the halo width (default: the halo width)"},
        {'n', "steps", CLI_COUNT, &chosen.steps, "N", "number of steps (default 100)"},
        {'p', "periodic", CLI_TEXT, &periodic, "AXES",
         "periodic axes, such as xy (default: none, cells outside are zero)"},
        {0, "obstacles", CLI_CHOICE, &chosen.obstacles, "none|slits|pillars",
         "obstacles in the way of the wave (default none)"},
        {0, "overlap", CLI_FLAG, &chosen.stencil.overlaps, NULL, "compute inner cells while borders are exchanged"},
        {0, "ranks", CLI_SIZE, &halo->ranks, "X,Y[,Z]", "processes along each axis (default: chosen)"},
        {0, "timeout", CLI_SECONDS, &halo->timeout_ns, "SECONDS", "how long to wait for another process (default 60)"},
        {'i', "in", CLI_TEXT, &chosen.in, "FILE.npy", "initial cells"},
        {'o', "out", CLI_TEXT, &chosen.out, "FILE", "write the result, as .npy or .png by its ending"},
        {'f', "frames", CLI_TEXT, &chosen.frames, "DIR", "write pictures to this directory while it runs"},
        {0, "frame-every", CLI_COUNT, &chosen.frame_every, "N",
         "steps between pictures (default: a tenth of the steps)"},
        {0, "verify", CLI_FLAG, &chosen.verify, NULL, "compare bit for bit with the same computation without tiles"},
        CLI_OPTION_JSON,
    };
    const cli_syntax syntax = {
        .usage = "heat|wave [OPTION...]",
        .purpose = "Simulate heat or waves on a domain cut into tiles that exchange their borders.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .details = details,
        .examples = examples,
        .min_operands = 1,
        .max_operands = 1,
        .operand = "a problem, heat or wave",
    };
    cli_list operands = {0};
    int result = cli_parse(&syntax, argc, argv, &operands);
    if (result == CLI_CONTINUE) result = read_problem(&operands, &chosen);
    if (result == CLI_CONTINUE) result = read_periodic(periodic, halo);
    if (result == CLI_CONTINUE && chosen.out && cli_check_ending("out", chosen.out, "|.npy|.png|") != CLI_OK)
        result = CLI_BAD_USAGE;
    if (result == CLI_CONTINUE) result = complete(&chosen, width, every, dimensions);
    cli_list_free(&operands);
    return result == CLI_CONTINUE ? run_all(&chosen) : result;
}
