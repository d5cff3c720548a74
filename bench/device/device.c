// SPDX-License-Identifier: Apache-2.0
// ingot bench device: the cost of compiling and dispatching.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/common/median.h"
#include "bench/common/opencl.h"
#include "bench/common/row.h"
#include "bench/common/sources.h"
#include "bench/suites.h"
#include "console/options.h"
#include "console/output.h"
#include "core/clock.h"
#include "core/file.h"

enum { MANY = 1000 };

typedef struct device_bench {
    char *directory;  // for caches of this run
    unsigned counter;
    ig_device *device;
    ig_queue *queue;
    uint32_t tier;       // that is compiled
    const char *file;    // of kernels that is compiled
    const char *kernel;  // that is compiled; NULL: all of the file
    ig_pipeline *empty;
    opencl_platform *pocl;
} device_bench;

static double milliseconds_since(uint64_t start) {
    return (double)(igi_now_ns() - start) * 1e-6;
}

// ---- Compiling ----

// Library and pipelines of all seven kernels, or of one; `source` may carry a comment that makes it new.
static double compile_all(const device_bench *bench, ig_device *device, const char *source) {
    ig_library *library = NULL;
    uint64_t start = igi_now_ns();
    bool ok = ig_library_create(device, &(ig_library_desc){.source = source}, &library, NULL) == IG_STATUS_OK;
    ig_pipeline *pipelines[16] = {0};
    size_t count = ok ? ig_library_kernel_count(library) : 0;
    for (size_t i = 0; i < count && i < 16 && ok; i++) {
        ig_pipeline_desc desc = {.kernel = ig_library_kernel(library, i)->name, .tier = bench->tier};
        if (bench->kernel && strcmp(bench->kernel, desc.kernel) != 0) continue;
        if (bench->kernel) start = igi_now_ns();  // without the library
        ok = ig_pipeline_create(library, &desc, &pipelines[i], NULL) == IG_STATUS_OK;
    }
    double elapsed = milliseconds_since(start);
    for (size_t i = 0; i < 16; i++) ig_pipeline_release(pipelines[i]);
    ig_library_release(library);
    return ok ? elapsed : -1;
}

static char *fresh_source(device_bench *bench) {
    return igi_format("// %u\n%s", bench->counter++, bench_source(bench->file));
}

// A source that no cache has seen; the standard headers are precompiled already, as on all runs but the first.
static double compile_cold(void *context) {
    device_bench *bench = context;
    char *source = fresh_source(bench);
    double elapsed = source ? compile_all(bench, bench->device, source) : -1;
    free(source);
    return elapsed;
}

// The same source on a new device, as in a new process: everything comes from disk.
static double compile_cached(void *context) {
    device_bench *bench = context;
    ig_device *device = NULL;
    if (ig_device_create(&(ig_device_desc){.cache_dir = bench->directory}, &device, NULL) != IG_STATUS_OK) return -1;
    double elapsed = compile_all(bench, device, bench_source("seven.metal"));
    ig_device_release(device);
    return elapsed;
}

static double compile_in_memory(void *context) {
    device_bench *bench = context;
    return compile_all(bench, bench->device, bench_source("seven.metal"));
}

// ---- Compiling in a process of its own, which ends with what it used ----

static int compile_here(device_bench *bench) {
    ig_device *device = NULL;
    setenv("INGOT_CODEGEN", "in-process", 1);
    if (ig_device_create(&(ig_device_desc){.cache_dir = bench->directory}, &device, NULL) != IG_STATUS_OK) return 1;
    char *source = fresh_source(bench);
    return !source || compile_all(bench, device, source) < 0;
}

static bool measure_usage(device_bench *bench, struct rusage *usage) {
    int status = 1;
    bench->counter += 1000;  // the child's sources are new to the cache
    pid_t child = fork();
    if (child == 0) _exit(compile_here(bench));
    return child > 0 && wait4(child, &status, 0, usage) == child && status == 0;
}

static double processor_time(void *context) {
    struct rusage used;
    if (!measure_usage(context, &used)) return -1;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-3;
}

static double peak_memory(void *context) {
    struct rusage used;
    return measure_usage(context, &used) ? (double)used.ru_maxrss / 1024 : -1;
}

static double build_in_pocl(void *context) {
    static const opencl_launch launches[] = {
        {"add", "bbb", {256}, {64}},
        {"saxpy", "bbf", {256}, {64}},
        {"sum", "bbu", {256}, {256}},
        {"softmax", "bbu", {256}, {256}},
        {"transpose", "bbv", {16, 16}, {16, 16}},
        {"matmul", "bbbu", {16, 16}, {16, 16}},
        {"mandelbrot", "bv", {16, 16}, {16, 16}},
    };
    device_bench *bench = context;
    double seconds =
        opencl_build_seconds(bench->pocl, bench_source("seven.cl"), launches, sizeof launches / sizeof *launches);
    return seconds < 0 ? -1 : seconds * 1e3;
}

// ---- Dispatching ----

static double run_dispatches(device_bench *bench, int count) {
    ig_commands *commands = NULL;
    if (ig_commands_create(bench->queue, NULL, &commands) != IG_STATUS_OK) return -1;
    ig_commands_set_pipeline(commands, bench->empty);
    for (int i = 0; i < count; i++) ig_commands_dispatch_threads(commands, (ig_size){1, 1, 1}, (ig_size){1, 1, 1});
    uint64_t start = igi_now_ns();
    bool ok = ig_commands_commit(commands) == IG_STATUS_OK && ig_commands_wait(commands, IG_FOREVER) == IG_STATUS_OK;
    double elapsed = (double)(igi_now_ns() - start) * 1e-3;
    ig_commands_release(commands);
    return ok ? elapsed / count : -1;
}

static double dispatch_once(void *context) {
    return run_dispatches(context, 1);
}

// A single dispatch is shorter than the clock's resolution: each figure is the median of many.
static double dispatch_one(void *context) {
    return bench_median(101, dispatch_once, context);
}

static double dispatch_many(void *context) {
    return run_dispatches(context, MANY);
}

// ---- The suite ----

static int measure(device_bench *bench, const bench_context *context, bench_row *row, double (*how)(void *)) {
    row->suite = "device";
    row->lower_is_better = true;
    row->value = bench_median(context->repeats, how, bench);
    return row->value < 0 ? cli_error(CLI_FAILED, "the case '%s' failed", row->name) : CLI_CONTINUE;
}

static int measure_kernels(device_bench *bench, const bench_context *context) {
    static const char *const kernels[] = {"add",       "saxpy",  "sum",        "softmax",
                                          "transpose", "matmul", "mandelbrot", "attention"};
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels && result == CLI_CONTINUE; i++) {
        char name[64];
        snprintf(name, sizeof name, "compile %s, cold, tier %u", kernels[i], bench->tier);
        bench_row row = {.name = name, .unit = "ms"};
        bench->kernel = kernels[i];
        bench->file = strcmp(kernels[i], "attention") == 0 ? "attention.metal" : "seven.metal";
        result = measure(bench, context, &row, compile_cold);
        if (result == CLI_CONTINUE) bench_report(&row);
    }
    bench->kernel = NULL;
    bench->file = "seven.metal";
    return result;
}

// What compiling costs in one tier: all kernels, each, and what the compiler uses.
static int measure_tier(device_bench *bench, const bench_context *context, uint32_t tier) {
    static const struct {
        const char *name, *unit;
        double (*how)(void *);
    } cases[] = {{"compile 7 kernels, cold, tier %u", "ms", compile_cold},
                 {"compile 7 kernels, processor time, tier %u", "ms", processor_time},
                 {"compile 7 kernels, peak memory, tier %u", "MiB", peak_memory}};
    int result = CLI_CONTINUE;
    bench->tier = tier;
    for (size_t i = 0; i < sizeof cases / sizeof *cases && result == CLI_CONTINUE; i++) {
        char *name = igi_format(cases[i].name, tier);
        bench_row row = {.name = name ? name : "compile", .unit = cases[i].unit};
        result = measure(bench, context, &row, cases[i].how);
        if (result == CLI_CONTINUE && bench->pocl && cases[i].how == compile_cold)
            bench_add_peer(&row, "pocl", bench_median(3, build_in_pocl, bench));
        if (result == CLI_CONTINUE) bench_report(&row);
        free(name);
    }
    return result == CLI_CONTINUE ? measure_kernels(bench, context) : result;
}

static int run_cases(device_bench *bench, const bench_context *context) {
    bench_row cached = {.name = "compile 7 kernels, disk cache", .unit = "ms"};
    bench_row memory = {.name = "compile 7 kernels, memory", .unit = "ms"};
    bench_row one = {.name = "empty dispatch, commit to done", .unit = "us"};
    bench_row many = {.name = "1000 dispatches, each", .unit = "us"};
    bench->tier = 2;
    compile_all(bench, bench->device, bench_source("seven.metal"));  // fills the caches and precompiles the headers
    int result = measure_tier(bench, context, 1);
    if (result == CLI_CONTINUE) result = measure_tier(bench, context, 2);
    if (result != CLI_CONTINUE) return result;
    const struct {
        bench_row *row;
        double (*how)(void *);
    } cases[] = {{&cached, compile_cached}, {&memory, compile_in_memory}, {&one, dispatch_one}, {&many, dispatch_many}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases && result == CLI_CONTINUE; i++) {
        result = measure(bench, context, cases[i].row, cases[i].how);
        if (result == CLI_CONTINUE) bench_report(cases[i].row);
    }
    return result;
}

static ig_status make_empty(device_bench *bench, ig_error *error) {
    static const char source[] = "kernel void nothing() {}";
    ig_library *library = NULL;
    ig_status status = ig_library_create(bench->device, &(ig_library_desc){.source = source}, &library, error);
    if (status == IG_STATUS_OK)
        status = ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "nothing", .tier = 2}, &bench->empty, error);
    ig_library_release(library);
    return status == IG_STATUS_OK ? ig_queue_create(bench->device, &bench->queue) : status;
}

int bench_device(const bench_context *context) {
    device_bench bench = {.directory = igi_make_temp_dir(), .file = "seven.metal"};
    ig_error error = {0};
    if (!bench.directory) return cli_error(CLI_FAILED, "cannot make a temporary directory");
    ig_status status = ig_device_create(&(ig_device_desc){.cache_dir = bench.directory}, &bench.device, &error);
    if (status == IG_STATUS_OK) status = make_empty(&bench, &error);
    bench.pocl = opencl_open("Portable Computing Language");
    int result = status == IG_STATUS_OK ? run_cases(&bench, context) : cli_report(status, &error);
    opencl_close(bench.pocl);
    ig_pipeline_release(bench.empty);
    ig_queue_release(bench.queue);
    ig_device_release(bench.device);
    igi_remove_tree(bench.directory);
    free(bench.directory);
    ig_error_clear(&error);
    return result;
}
