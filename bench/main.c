// SPDX-License-Identifier: Apache-2.0
// ingot-bench, which `ingot bench` runs: figures with those of peers measured in the same run.
#include <stdlib.h>
#include <string.h>

#include "bench/common/level.h"
#include "bench/simt/simt.h"
#include "bench/suites.h"
#include "console/options.h"
#include "console/output.h"

static const struct {
    const char *name;
    int (*run)(const bench_context *context);
} suites[] = {
    {"device", bench_device}, {"simt", bench_simt}, {"ops", bench_ops},     {"ring", bench_ring},
    {"halo", bench_halo},     {"llm", bench_llm},   {"check", bench_check},
};
enum { SUITE_COUNT = sizeof suites / sizeof *suites };

static int check_names(const cli_list *names) {
    for (size_t i = 0; i < names->count; i++) {
        bool known = false;
        for (size_t k = 0; k < SUITE_COUNT; k++) known |= strcmp(suites[k].name, names->items[i]) == 0;
        if (!known)
            return cli_usage_error("unknown suite '%s'; choose from device, simt, ops, ring, halo, llm and check",
                                   names->items[i]);
    }
    return CLI_CONTINUE;
}

static const char details[] =
    "Suites\n"
    "  device   compiling and dispatching; peer: PoCL\n"
    "  simt     kernels; peers: one thread at a time, OpenMP, STREAM, OpenBLAS, OpenCV, OpenCL on the CPU\n"
    "  ops      tensor operations on each backend; peers: OpenBLAS, STREAM, NumPy, PyTorch\n"
    "  ring     messages to and between ring kernels; peers: CAF, ZeroMQ, nng, Erlang\n"
    "  halo     stencils on tiles; peer: C with OpenMP, without tiles\n"
    "  llm      a language model; peer: llama.cpp, through the Python package xllamacpp\n"
    "  check    what checking costs, as a multiple of the normal run; peer: Oclgrind; only if named\n"
    "A ratio above 1 means that Ingot is better. Peers in Python run in python3, or in INGOT_PYTHON.";

static const char examples[] =
    "ingot bench\n"
    "ingot bench device -r 21 --json\n"
    "ingot bench simt -k softmax -k matmul-tiled\n"
    "ingot bench ops --tune\n"
    "ingot bench ring --seconds 60\n"
    "ingot bench llm -m model.gguf";

static int run(int argc, char **argv) {
    bench_context context = {.repeats = 9, .sustained_ns = 3000000000u};
    const cli_option options[] = {
        {'r', "repeat", CLI_COUNT, &context.repeats, "N", "measure each case N times, report the median (default 9)"},
        {'k', "kernel", CLI_TEXTS, &context.kernels, "NAME",
         "measure only this case (suites simt, ops, ring, halo); may be repeated"},
        {0, "tune", CLI_FLAG, &context.tune, NULL, "first measure and store the dispatch thresholds (suite ops)"},
        {0, "seconds", CLI_SECONDS, &context.sustained_ns, "S",
         "how long to measure the sustained rate (suite ring, default 3)"},
        {'m', "model", CLI_TEXT, &context.model, "MODEL.gguf", "the model (suite llm, default INGOT_MODEL)"},
        CLI_OPTION_JSON,
    };
    const cli_syntax syntax = {
        .usage = "[SUITE...] [-r N] [-k NAME]... [--tune] [--seconds S] [-m MODEL.gguf] [--json]",
        .purpose = "Measure Ingot and the peers found on this machine in the same run.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .details = details,
        .examples = examples,
        .max_operands = SIZE_MAX,
        .operand = "a suite",
    };
    bench_limit_peers();
    // The simt suite starts its peers this way. It is not for users, so it is not in the table.
    if (argc == 3 && strcmp(argv[1], "--peer") == 0) return simt_serve(argv[2]);
    cli_list names = {0};
    int result = cli_parse(&syntax, argc, argv, &names);
    if (result == CLI_CONTINUE) result = check_names(&names);
    if (names.count == 0 && context.tune) cli_list_add(&names, "ops");
    if (names.count == 0 && context.kernels.count > 0) cli_list_add(&names, "simt");
    for (size_t i = 0; i < SUITE_COUNT && result == CLI_CONTINUE; i++) {
        // The first suite measures each tier; the others optimised code, from the first dispatch on.
        if (suites[i].run != bench_device) setenv("INGOT_TIER", "2", 0);
        if (names.count == 0 ? suites[i].run != bench_check : bench_contains(names.items, names.count, suites[i].name))
            result = suites[i].run(&context);
    }
    cli_list_free(&names);
    cli_list_free(&context.kernels);
    return result == CLI_CONTINUE ? CLI_OK : result;
}

int main(int argc, char **argv) {
    cli_begin_command("bench");
    cli_show_library_log();
    return cli_finish(run(argc, argv));
}
