// SPDX-License-Identifier: Apache-2.0
// ingot compare: runs the kernels that two libraries have in common on the same inputs, and compares their results.
#include "compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "console/output.h"
#include "console/progress.h"

typedef struct tally {
    uint64_t counts[COMPARE_VERDICT_COUNT];
    uint64_t idle;   // the same, but nothing was written
    uint64_t timed;  // kernels with times
    double logarithms;
    cli_progress progress;
} tally;

static void count(const compare_job *job, tally *t, const compare_row *row) {
    t->counts[row->verdict]++;
    t->idle += row->verdict == COMPARE_SAME && !row->changed;
    if (row->best_ns[0] && row->best_ns[1]) {
        t->timed++;
        t->logarithms += log((double)row->best_ns[0] / (double)row->best_ns[1]);
    }
    cli_progress_end(&t->progress);
    compare_show(job, row);
    fflush(stdout);  // it may take long until the next one
    t->progress.total = row->total;
    cli_progress_update(&t->progress, row->index + 1);
}

// ---- Workers ----

static bool receive(int pipe, compare_row *row) {
    char *at = (char *)row;
    for (size_t left = sizeof *row; left;) {
        ssize_t got = read(pipe, at, left);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got, left -= (size_t)got;
    }
    return true;
}

static pid_t start(const compare_job *job, uint64_t first, int *from) {
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        int result = compare_work(job, first, ends[1]);
        fflush(stdout);
        _exit(result);
    }
    close(ends[1]);
    if (child < 0) close(ends[0]);
    *from = ends[0];
    return child;
}

// The kernel that the worker was busy with when it ended.
static void count_crash(const compare_job *job, tally *t, compare_row *row, int state) {
    row->begun = false;
    row->verdict = COMPARE_NOT_COMPARABLE;
    snprintf(row->reason, sizeof row->reason, "it ended the process it ran in: %s",
             WIFSIGNALED(state) ? strsignal(WTERMSIG(state)) : "it exited");
    count(job, t, row);
}

// Returns CLI_CONTINUE when all kernels are done, COMPARE_MORE when another worker should continue at *next.
static int run_worker(const compare_job *job, tally *t, uint64_t *next) {
    int from = -1, state = 0;
    pid_t child = start(job, *next, &from);
    if (child < 0) return cli_error(CLI_FAILED, "cannot start a process: %s", strerror(errno));
    compare_row row = {0};
    uint64_t before = *next;
    while (receive(from, &row)) {
        if (row.begun) continue;
        count(job, t, &row);
        *next = row.index + 1;
    }
    close(from);
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) continue;
    bool ended = WIFEXITED(state), crashed = row.begun;
    if (crashed) {
        count_crash(job, t, &row, state);
        *next = row.index + 1;
        return COMPARE_MORE;
    }
    if (!ended) return cli_error(CLI_FAILED, "the process that runs the kernels ended: %s", strsignal(WTERMSIG(state)));
    if (WEXITSTATUS(state) == COMPARE_MORE && *next > before) return COMPARE_MORE;
    return WEXITSTATUS(state) == CLI_OK ? CLI_CONTINUE : WEXITSTATUS(state);
}

// ---- The whole ----

static void put_summary(const tally *t, uint64_t total) {
    igi_json *row = cli_begin_row();
    igi_json_put_u64(row, "kernels", total);
    igi_json_put_u64(row, "same", t->counts[COMPARE_SAME]);
    igi_json_put_u64(row, "same_without_writing", t->idle);
    igi_json_put_u64(row, "differ", t->counts[COMPARE_DIFFERENT]);
    igi_json_put_u64(row, "fail_in_both", t->counts[COMPARE_FAILS_IN_BOTH]);
    igi_json_put_u64(row, "fail_in_one", t->counts[COMPARE_FAILS_IN_ONE]);
    igi_json_put_u64(row, "not_comparable", t->counts[COMPARE_NOT_COMPARABLE]);
    if (t->timed) igi_json_put_double(row, "time_ratio", exp(t->logarithms / (double)t->timed));
    cli_end_row();
}

static void print_summary(const tally *t, uint64_t total) {
    static const char *const words[] = {[COMPARE_SAME] = "the same",
                                        [COMPARE_DIFFERENT] = "different",
                                        [COMPARE_FAILS_IN_BOTH] = "failing in both",
                                        [COMPARE_FAILS_IN_ONE] = "failing in one",
                                        [COMPARE_NOT_COMPARABLE] = "not comparable"};
    printf("%" PRIu64 " kernel%s", total, total == 1 ? "" : "s");
    const char *separator = ": ";
    for (size_t i = 0; i < COMPARE_VERDICT_COUNT; i++) {
        if (!t->counts[i]) continue;
        printf("%s%" PRIu64 " %s", separator, t->counts[i], words[i]);
        if (i == COMPARE_SAME && t->idle) printf(" (%" PRIu64 " wrote nothing)", t->idle);
        separator = ", ";
    }
    printf("\n");
    if (t->timed)
        printf("the first takes %.3f times as long as the second (geometric mean of %" PRIu64 ")\n",
               exp(t->logarithms / (double)t->timed), t->timed);
}

static int run(compare_job *job) {
    int result = cli_source_read_options(&job->source);
    if (result == CLI_CONTINUE && job->rules_path) result = compare_rules_load(job->rules_path, &job->rules);
    if (result != CLI_CONTINUE) return result;
    tally t = {.progress = {.label = "comparing"}};
    uint64_t next = 0;
    result = COMPARE_MORE;
    while (result == COMPARE_MORE) result = run_worker(job, &t, &next);
    cli_progress_end(&t.progress);
    if (result != CLI_CONTINUE) return result;
    (cli_json ? put_summary : print_summary)(&t, next);
    return t.counts[COMPARE_DIFFERENT] || t.counts[COMPARE_FAILS_IN_ONE] ? CLI_BAD_INPUT : CLI_OK;
}

static const char details[] =
    "Buffers hold generated numbers that fit their types: floats from -2 to 2, small integers; sizes and strides are "
    "8. "
    "The same seed gives the same numbers. What does not suit a kernel is given by a file of rules:\n"
    "  [gemm_* gemv]              for kernels that match a pattern; later sections override earlier ones\n"
    "  groups 2,2                 threadgroups to run, or grid: threads\n"
    "  group 32,4                 threads of a threadgroup\n"
    "  value M=64                 arguments, members of structures and function constants called M\n"
    "  constant 10=bool:true      a function constant, as --constant of ingot run\n"
    "  arg 3=f32[64]:iota         a buffer, as --arg of ingot run\n"
    "  threadgroup 0=4096         bytes of threadgroup memory\n"
    "  skip REASON                leave the kernels out\n"
    "If one of the files is a .metallib, the source of the other counts denormals as zero, as Apple's compiler does. "
    "Give --math safe for a library that was compiled with -fno-fast-math.";

int cmd_compare(int argc, char **argv) {
    compare_job job = {.size = 256 << 10, .every = 1, .deadline_ns = UINT64_C(20000000000)};
    cli_list operands = {0};
    const cli_option options[] = {
        {'k', "kernel", CLI_TEXT, &job.pattern, "PATTERN", "only kernels whose names match"},
        {'r', "rules", CLI_TEXT, &job.rules_path, "FILE", "how kernels run, and on what"},
        {'u', "ulps", CLI_WHOLE, &job.ulps, "N",
         "floats may differ by N units in the last place (default: bit for bit)"},
        {'s', "seed", CLI_WHOLE, &job.seed, "N", "generate other numbers (default 0)"},
        {0, "size", CLI_COUNT, &job.size, "BYTES", "length of generated buffers (default 262144)"},
        {0, "every", CLI_COUNT, &job.every, "N", "only every Nth kernel"},
        {0, "limit", CLI_COUNT, &job.limit, "N", "at most N kernels"},
        {0, "deadline", CLI_SECONDS, &job.deadline_ns, "SECONDS", "stop a kernel that runs longer (default 20)"},
        {'t', "time", CLI_COUNT, &job.time_runs, "N",
         "run each pair N times more, in turns, and compare the best times"},
        {'a', "all", CLI_FLAG, &job.all, NULL, "also show kernels that are the same"},
        CLI_SOURCE_OPTIONS(job.source),
        CLI_OPTION_JSON,
    };
    const cli_syntax syntax = {
        .usage = "A B [OPTION...]",
        .purpose =
            "Run the kernels that two libraries, .metal or .metallib, have in common on the same inputs, and "
            "compare their results; exit with 1 if they differ.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .details = details,
        .examples =
            "ingot compare old.metal new.metal\n"
            "ingot compare default.metallib kernels.metal -k 'reduce_*' --math safe\n"
            "ingot compare mlx.metallib unary.metal -I mlx --math safe --every 50 --json",
        .min_operands = 2,
        .max_operands = 2,
        .operand = "library",
    };
    int result = cli_parse(&syntax, argc, argv, &operands);
    if (result == CLI_CONTINUE) {
        job.paths[0] = operands.items[0];
        job.paths[1] = operands.items[1];
        result = run(&job);
    }
    compare_rules_free(&job.rules);
    cli_source_free(&job.source);
    cli_list_free(&operands);
    return result;
}
