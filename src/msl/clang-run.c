// SPDX-License-Identifier: Apache-2.0
// Running clang, and what its end means.
#include "msl/clang-run.h"

#include <string.h>

#include "msl/clang-path.h"

static const uint64_t default_timeout_ns = 60ull * 1000000000u;
static const uint64_t memory_limit = 16ull << 30;

// ---- Environment ----

// What programs need to run at all. Everything else could steer clang (CPATH, CCC_OVERRIDE_OPTIONS and many more), and
// is no part of a cache key.
static const char *const kept_variables[] = {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"};
// Messages are read by us; and the time of compilation is no input.
static const char *const set_variables[] = {"LC_ALL=C", "SOURCE_DATE_EPOCH=0"};

enum {
    KEPT = sizeof kept_variables / sizeof *kept_variables,
    SET = sizeof set_variables / sizeof *set_variables,
};

static void free_environment(char **environment) {
    for (size_t i = 0; environment[i]; i++) free(environment[i]);
}

static bool make_environment(char *environment[KEPT + SET + 1]) {
    size_t count = 0;
    bool made = true;
    for (size_t i = 0; i < KEPT && made; i++) {
        const char *value = getenv(kept_variables[i]);
        if (!value) continue;
        environment[count] = igi_format("%s=%s", kept_variables[i], value);
        made = environment[count++] != NULL;
    }
    for (size_t i = 0; i < SET && made; i++) made = (environment[count++] = igi_strdup(set_variables[i])) != NULL;
    environment[count] = NULL;
    return made;
}

// ---- Running ----

void igi_msl_run_clang(const igi_msl_arguments *arguments, const igi_msl_request *request, igi_process *process) {
    char *environment[KEPT + SET + 1] = {NULL};
    *process = (igi_process){.arguments = arguments->items,
                             .environment = environment,
                             .timeout_ns = request->timeout_ns ? request->timeout_ns : default_timeout_ns,
                             .memory_limit = memory_limit,
                             .exit = IGI_EXIT_SYSTEM};
    if (!arguments->failed && make_environment(environment)) igi_process_run(process);
    process->arguments = NULL;
    process->environment = NULL;
    free_environment(environment);
}

bool igi_msl_clang_crashed(const igi_process *process) {
    const char *text = process->errors.data;
    return process->exit == IGI_EXIT_SIGNAL ||
           (process->exit == IGI_EXIT_CODE && process->code && text && strstr(text, "frontend command failed"));
}

ig_status igi_msl_judge_clang(const igi_process *process, igi_diagnostics *diagnostics, ig_error *error) {
    if (process->errors.failed || process->output.failed) return igi_error_no_memory(error);
    switch (process->exit) {
        case IGI_EXIT_NOT_FOUND: return igi_msl_missing_clang(error);
        case IGI_EXIT_TIMEOUT:
            return igi_error_set(error, IG_STATUS_COMPILER_TIMEOUT,
                                 "clang was stopped because it took longer than the time allowed; simplify the source "
                                 "or raise timeout_ns");
        case IGI_EXIT_SIGNAL:
            return igi_error_set(error, IG_STATUS_COMPILER_CRASHED, "clang ended with signal %d (%s)", process->code,
                                 strsignal(process->code));
        case IGI_EXIT_SYSTEM: return igi_error_set(error, IG_STATUS_SYSTEM, "cannot start clang");
        case IGI_EXIT_CODE: break;
    }
    if (igi_msl_clang_crashed(process))
        return igi_error_set(error, IG_STATUS_COMPILER_CRASHED,
                             "clang crashed on this source; it may be a bug of clang: try to simplify the source");
    if (process->errors.data) igi_diagnostics_add_clang(diagnostics, process->errors.data);
    if (diagnostics->log.failed) return igi_error_no_memory(error);
    if (diagnostics->error_count) return IG_STATUS_COMPILE_FAILED;
    if (process->code)
        return igi_error_set(error, IG_STATUS_COMPILER_CRASHED, "clang failed with code %d: %.300s", process->code,
                             process->errors.data ? process->errors.data : "no message");
    return IG_STATUS_OK;
}
