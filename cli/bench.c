// SPDX-License-Identifier: Apache-2.0
// ingot bench: measured figures, each beside its peers of the same run.
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "bench-simt.h"
#include "commands.h"
#include "console/options.h"
#include "console/output.h"
#include "core/nearest.h"

static const struct {
    const char *name;
    int (*run)(const bench_context *context);
} suites[] = {
    {"device", bench_device}, {"simt", bench_simt}, {"ops", bench_ops},
    {"ring", bench_ring},     {"halo", bench_halo}, {"llm", bench_llm},
};
enum { SUITE_COUNT = sizeof suites / sizeof *suites };

const char *bench_source(const char *name) {
    for (size_t i = 0; i < bench_kernels_count; i++)
        if (strcmp(bench_kernels[i].name, name) == 0) return bench_kernels[i].data;
    return "";
}

static bool contains(const char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

bool bench_chosen(const bench_context *context, const char *name) {
    return context->kernels.count == 0 || contains(context->kernels.items, context->kernels.count, name);
}

int bench_check_chosen(const bench_context *context, const char *noun, const char *const *names, size_t count) {
    for (size_t i = 0; i < context->kernels.count; i++) {
        const char *given = context->kernels.items[i], *nearest = igi_nearest(given, names, count);
        if (contains(names, count, given)) continue;
        if (nearest) return cli_usage_error("there is no %s '%s'; did you mean '%s'?", noun, given, nearest);
        return cli_usage_error("there is no %s '%s'", noun, given);
    }
    return CLI_CONTINUE;
}

void bench_add_compared_peer(bench_row *row, bench_peer peer) {
    if (peer.value > 0 && row->peer_count < BENCH_MAX_PEERS) row->peers[row->peer_count++] = peer;
}

void bench_add_peer(bench_row *row, const char *name, double value) {
    bench_add_compared_peer(row, (bench_peer){.name = name, .value = value});
}

double bench_ratio(const bench_row *row, const bench_peer *peer) {
    if (peer->ratio > 0) return peer->ratio;
    return row->lower_is_better ? peer->value / row->value : row->value / peer->value;
}

static void report_json(const bench_row *row) {
    igi_json *json = cli_begin_row();
    igi_json_put_string(json, "suite", row->suite);
    igi_json_put_string(json, "case", row->name);
    igi_json_put_double(json, "value", row->value);
    igi_json_put_string(json, "unit", row->unit);
    igi_json_put_string(json, "better", row->lower_is_better ? "lower" : "higher");
    igi_json_key(json, "peers");
    igi_json_begin_object(json);
    for (size_t i = 0; i < row->peer_count; i++) igi_json_put_double(json, row->peers[i].name, row->peers[i].value);
    igi_json_end_object(json);
    igi_json_key(json, "ratio");
    igi_json_begin_object(json);
    for (size_t i = 0; i < row->peer_count; i++)
        igi_json_put_double(json, row->peers[i].name, bench_ratio(row, &row->peers[i]));
    igi_json_end_object(json);
    cli_end_row();
}

void bench_report(const bench_row *row) {
    if (cli_json) {
        report_json(row);
        return;
    }
    printf("%-8s %-34s %10.4g %-6s", row->suite, row->name, row->value, row->unit);
    for (size_t i = 0; i < row->peer_count; i++)
        printf("  %s %.4g (%.2fx)", row->peers[i].name, row->peers[i].value, bench_ratio(row, &row->peers[i]));
    printf("\n");
    fflush(stdout);
}

static int ascending(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

double bench_median_of(double *values, size_t count) {
    if (count == 0) return 0;
    qsort(values, count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double bench_median(uint64_t repeats, double (*measure)(void *context), void *context) {
    double *values = cli_alloc(repeats * sizeof *values);
    bool failed = false;
    for (uint64_t i = 0; i < repeats && !failed; i++) {
        values[i] = measure(context);
        failed = values[i] < 0;
    }
    double median = failed ? -1 : bench_median_of(values, repeats);
    free(values);
    return median;
}

static int check_names(const cli_list *names) {
    for (size_t i = 0; i < names->count; i++) {
        bool known = false;
        for (size_t k = 0; k < SUITE_COUNT; k++) known |= strcmp(suites[k].name, names->items[i]) == 0;
        if (!known)
            return cli_usage_error("there is no suite '%s'; this version has: device simt ops ring halo llm",
                                   names->items[i]);
    }
    return CLI_CONTINUE;
}

int cmd_bench(int argc, char **argv) {
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
        .details =
            "Suites: device (compiling and dispatching; peer: PoCL), simt (kernels; peers: one thread at a time, plain "
            "C with OpenMP, "
            "STREAM, OpenBLAS, every OpenCL with a CPU), ops (tensors, on each backend; peers: OpenBLAS, STREAM, NumPy "
            "and PyTorch of python3 or INGOT_PYTHON), ring (messages to and between ring kernels; peers: CAF, ZeroMQ, "
            "nng, Erlang), halo (stencils on tiles; peer: plain C with OpenMP without tiles), llm (a language model; "
            "peer: llama.cpp "
            "by the Python package xllamacpp). A ratio above 1 means "
            "Ingot is better.",
        .examples =
            "ingot bench\n  ingot bench device -r 21 --json\n  ingot bench simt -k softmax -k matmul-tiled\n"
            "ingot bench ops --tune\n  ingot bench ring --seconds 60\n"
            "ingot bench llm -m model.gguf\n",
        .max_operands = SIZE_MAX,
        .operand = "a suite",
    };
    // How the simt suite starts its peers: not for people, so not in the table.
    if (argc == 3 && strcmp(argv[1], "--peer") == 0) return simt_serve(argv[2]);
    cli_list names = {0};
    int result = cli_parse(&syntax, argc, argv, &names);
    if (result == CLI_CONTINUE) result = check_names(&names);
    if (names.count == 0 && context.tune) cli_list_add(&names, "ops");
    if (names.count == 0 && context.kernels.count > 0) cli_list_add(&names, "simt");
    for (size_t i = 0; i < SUITE_COUNT && result == CLI_CONTINUE; i++)
        if (names.count == 0 || contains(names.items, names.count, suites[i].name)) result = suites[i].run(&context);
    cli_list_free(&names);
    cli_list_free(&context.kernels);
    return result == CLI_CONTINUE ? CLI_OK : result;
}
