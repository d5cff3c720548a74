// SPDX-License-Identifier: Apache-2.0
// The suites of `ingot bench` and how a row is reported.
#ifndef INGOT_CLI_BENCH_H
#define INGOT_CLI_BENCH_H

#include <ingot/device.h>

#include "console/options.h"
#include "core/embedded.h"

enum { BENCH_MAX_PEERS = 16 };

typedef struct bench_peer {
    const char *name;
    double value;
    double ratio;  // measured as such, above 1 where Ingot is better; 0: that of the values
} bench_peer;

// One measured case and the same work done by others in the same run.
typedef struct bench_row {
    const char *suite, *name;
    double value;
    const char *unit;
    bool lower_is_better;
    bench_peer peers[BENCH_MAX_PEERS];
    size_t peer_count;
} bench_row;

typedef struct bench_context {
    uint64_t repeats;
    cli_list kernels;       // of the suites simt, ops, ring and halo; empty: all
    bool tune;              // the suite ops measures thresholds first
    uint64_t sustained_ns;  // of the suite ring
    const char *model;      // of the suite llm; NULL: INGOT_MODEL
} bench_context;

// Whether -k names it, or nothing.
bool bench_chosen(const bench_context *context, const char *name);
// CLI_CONTINUE, or the exit code after having said which name of -k is not a `noun` of the suite.
int bench_check_chosen(const bench_context *context, const char *noun, const char *const *names, size_t count);

// Nothing where its value is not positive.
void bench_add_peer(bench_row *row, const char *name, double value);
void bench_add_compared_peer(bench_row *row, bench_peer peer);
// Above 1: Ingot is better.
double bench_ratio(const bench_row *row, const bench_peer *peer);
void bench_report(const bench_row *row);

// Ratios to each peer, by groups of cases, for their means at the end.
enum { BENCH_MAX_MEANS = 48 };
typedef struct bench_mean {
    char peer[32];
    const char *group, *worst_case;
    double logarithms, worst;
    size_t count;
} bench_mean;
typedef struct bench_summary {
    const char *suite;
    bench_mean means[BENCH_MAX_MEANS];
    size_t count;
} bench_summary;
// `name` and `group` ("": one for all) are kept, not copied.
void bench_summary_add(bench_summary *summary, const bench_row *row, const char *name, const char *group);
void bench_summary_report(const bench_summary *summary);

// Sorts them; 0 of none.
double bench_median_of(double *values, size_t count);
// Median of `repeats` calls of measure, which gives one figure or a negative one when it failed.
double bench_median(uint64_t repeats, double (*measure)(void *context), void *context);

// What the machine has done so far, to tell how much of it was not us.
typedef struct bench_load {
    uint64_t ns;
    double busy, ours;  // seconds of CPU time
} bench_load;
bench_load bench_load_now(void);
// Share of all cores that others used since then, 0 to 1. Children count as ours once they have been waited for.
double bench_load_of_others(const bench_load *start);
// Says so when that was much.
void bench_warn_of_load(const bench_load *start);

// Suites return CLI_CONTINUE, or the exit code after having said what is wrong.
int bench_device(const bench_context *context);
int bench_simt(const bench_context *context);
int bench_ops(const bench_context *context);
int bench_ring(const bench_context *context);
int bench_halo(const bench_context *context);
int bench_llm(const bench_context *context);

// A module with peers: beside this program in a build directory, else where it was installed. NULL: there is none.
void *bench_load_module(const char *name);

// A peer in a child of python3, or of what INGOT_PYTHON names: runs a script of bench/ with up to four arguments, NULL
// behind the last. NULL: it ended before it said anything. Between answers it is stopped, because its threads would go
// on spinning for longer than anybody wants to wait.
typedef struct bench_python bench_python;
bench_python *bench_python_start(const char *script, const char *const *arguments);
// One line there, one number back; negative when it has no such thing.
double bench_python_ask(bench_python *python, const char *line);
void bench_python_end(bench_python *python);

extern const igi_embedded bench_kernels[];
extern const size_t bench_kernels_count;
const char *bench_source(const char *name);

#endif
