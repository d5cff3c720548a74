// SPDX-License-Identifier: Apache-2.0
// Runs clang, and interprets how it ended.
#include "msl/clang-run.h"

#include <string.h>

#include "core/file.h"
#include "core/sandbox.h"
#include "msl/clang-path.h"

static const uint64_t default_timeout_ns = 60ull * 1000000000u;
// More than any kernel needs to compile, and within the reach of every machine.
static const igi_process_limits limits = {.memory_bytes = 4ull << 30, .output_bytes = 256ull << 20, .open_files = 256};

// ---- Environment ----

// What programs need in order to run. Other variables could change what clang does (CPATH, CCC_OVERRIDE_OPTIONS and
// many more), and are not part of the cache key.
static const char *const kept_variables[] = {"PATH", "HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"};
// We parse the messages, and the time of compilation must not be an input.
static const char *const set_variables[] = {"LC_ALL=C", "SOURCE_DATE_EPOCH=0"};

enum {
    KEPT = sizeof kept_variables / sizeof *kept_variables,
    SET = sizeof set_variables / sizeof *set_variables,
    VARIABLES = KEPT + SET + 1,
};

static void free_environment(char **environment) {
    for (size_t i = 0; environment[i]; i++) free(environment[i]);
}

static bool make_environment(const char *directory, char *environment[VARIABLES + 1]) {
    size_t count = 0;
    bool made = true;
    for (size_t i = 0; i < KEPT && made; i++) {
        const char *value = getenv(kept_variables[i]);
        if (!value) continue;
        environment[count] = igi_format("%s=%s", kept_variables[i], value);
        made = environment[count++] != NULL;
    }
    for (size_t i = 0; i < SET && made; i++) made = (environment[count++] = igi_strdup(set_variables[i])) != NULL;
    if (made) made = (environment[count++] = igi_format("TMPDIR=%s", directory)) != NULL;
    environment[count] = NULL;
    return made;
}

// ---- Files ----

// Where systems keep programs, their libraries, and the files that locate those.
static const char *const system_places[] = {"/usr",
                                            "/bin",
                                            "/sbin",
                                            "/lib",
                                            "/lib32",
                                            "/lib64",
                                            "/opt",
                                            "/nix/store",
                                            "/gnu/store",
                                            "/etc/ld.so.cache",
                                            "/etc/ld.so.conf",
                                            "/etc/ld.so.conf.d",
                                            "/etc/alternatives",
                                            "/dev/zero",
                                            "/dev/urandom"};

static void add_path(igi_msl_arguments *list, const char *directory, const char *name) {
    igi_msl_add_owned_argument(list, igi_path_join(directory, name));
}

// A clang installed elsewhere has its libraries next to it or in ../lib.
static void add_clang_places(igi_msl_arguments *list, const char *clang) {
    char *real = realpath(clang, NULL), *directory = real ? igi_path_dirname(real) : NULL;
    if (directory) {
        igi_msl_add_argument(list, directory);
        add_path(list, directory, "../lib"), add_path(list, directory, "../lib64"),
            add_path(list, directory, "../libexec");
    }
    free(real), free(directory);
    const char *named = getenv("LD_LIBRARY_PATH");
    while (named && *named) {
        size_t length = strcspn(named, ":");
        if (length) igi_msl_add_owned_argument(list, igi_strndup(named, length));
        named += length + (named[length] == ':');
    }
}

// The sources are in `directory`, as copies: no file of the user needs to be readable.
static igi_sandbox make_sandbox(const igi_msl_toolchain *tools, const char *directory) {
    igi_msl_arguments readable = {0};
    for (size_t i = 0; i < sizeof system_places / sizeof *system_places; i++)
        igi_msl_add_argument(&readable, system_places[i]);
    add_clang_places(&readable, tools->clang);
    igi_msl_add_argument(&readable, tools->directory);
    if (tools->pch) igi_msl_add_argument(&readable, tools->pch);
    const char *const writable[] = {directory, "/dev/null", NULL};
    igi_sandbox sandbox = {-1};
    if (!readable.failed) sandbox = igi_sandbox_create((const char *const *)readable.items, writable);
    igi_msl_free_arguments(&readable);
    return sandbox;
}

// ---- Running ----

void igi_msl_run_clang(const igi_msl_toolchain *tools, const igi_msl_arguments *arguments, const char *directory,
                       const igi_msl_request *request, igi_process *process) {
    char *environment[VARIABLES + 1] = {NULL};
    igi_sandbox sandbox = make_sandbox(tools, directory);
    *process = (igi_process){.arguments = arguments->items,
                             .environment = environment,
                             .timeout_ns = request->timeout_ns ? request->timeout_ns : default_timeout_ns,
                             .limits = limits,
                             .sandbox = &sandbox,
                             .exit = IGI_EXIT_SYSTEM};
    if (!arguments->failed && make_environment(directory, environment)) igi_process_run(process);
    process->arguments = process->environment = NULL;
    process->sandbox = NULL;
    igi_sandbox_destroy(&sandbox);
    free_environment(environment);
}

bool igi_msl_clang_crashed(const igi_process *process) {
    const char *text = process->errors.data;
    return process->exit == IGI_EXIT_SIGNAL ||
           (process->exit == IGI_EXIT_CODE && process->code && text && strstr(text, "frontend command failed"));
}

ig_status igi_msl_judge_clang(const igi_process *process, igi_msl_diagnostics *diagnostics, ig_error *error) {
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
        case IGI_EXIT_TOO_MUCH_OUTPUT:
            return igi_error_set(error, IG_STATUS_OVERFLOW,
                                 "clang was stopped because it wrote more than %u MiB; make the source smaller",
                                 (unsigned)(limits.output_bytes >> 20));
        case IGI_EXIT_SYSTEM: return igi_error_set(error, IG_STATUS_SYSTEM, "cannot start clang");
        case IGI_EXIT_CODE: break;
    }
    if (igi_msl_clang_crashed(process))
        return igi_error_set(error, IG_STATUS_COMPILER_CRASHED,
                             "clang crashed on this source; it may be a bug of clang: try to simplify the source");
    if (process->errors.data) igi_msl_diagnostics_add_clang(diagnostics, process->errors.data);
    if (diagnostics->log.failed) return igi_error_no_memory(error);
    if (diagnostics->error_count) return IG_STATUS_COMPILE_FAILED;
    if (process->code)
        return igi_error_set(error, IG_STATUS_COMPILER_CRASHED, "clang failed with code %d: %.300s", process->code,
                             process->errors.data ? process->errors.data : "no message");
    return IG_STATUS_OK;
}
