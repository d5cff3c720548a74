// SPDX-License-Identifier: Apache-2.0
// ingot run: runs one kernel on arrays from files, generators and constants.
#include "run.h"

#include <stdlib.h>

#include "commands.h"
#include "console/device.h"
#include "console/progress.h"

static void encode(run_job *job, ig_commands *commands) {
    ig_commands_set_pipeline(commands, job->pipeline);
    for (size_t i = 0; i < job->argument_count; i++) {
        const run_argument *argument = &job->arguments[i];
        if (argument->buffer) {
            ig_commands_set_buffer(commands, argument->buffer, 0, argument->index);
        } else {
            ig_commands_set_bytes(commands, argument->spec.values, argument->spec.bytes, argument->index);
        }
    }
    run_encode_objects(job, commands);
    run_encode_stage(job, commands);
    for (size_t i = 0; i < job->threadgroup.count; i++)
        ig_commands_set_threadgroup_memory(commands, job->threadgroup.items[i].number, job->threadgroup.items[i].index);
    if (job->grid.x) {
        ig_commands_dispatch_threads(commands, job->grid, job->group);
    } else {
        ig_commands_dispatch_threadgroups(commands, job->groups, job->group);
    }
}

// Runs the kernel once. Encoding errors are reported by the commit.
static int run_once(run_job *job, uint64_t *nanoseconds) {
    ig_commands *commands = NULL;
    ig_commands_desc desc = {.deadline_ns = job->deadline_ns};
    ig_status status = ig_commands_create(job->queue, &desc, &commands);
    if (status != IG_STATUS_OK) return cli_report(status, NULL);
    encode(job, commands);
    status = cli_findings_run(&job->findings, job->check, commands);
    ig_timing timing = {0};
    if (status == IG_STATUS_OK) status = ig_commands_get_dispatch_timing(commands, 0, &timing);
    *nanoseconds = timing.end_ns - timing.start_ns;
    int result = CLI_CONTINUE;
    if (status != IG_STATUS_OK) {
        ig_error error = {0};
        ig_commands_get_error(commands, &error);
        result = cli_report_and_clear(status, &error);
    }
    ig_commands_release(commands);
    return result;
}

// With --time there is one more run first, so that one-time costs of the pipeline are not measured.
static int run_all(run_job *job) {
    size_t runs = run_count(job), warm_up = job->time && runs > 1;
    job->nanoseconds = cli_alloc(runs * sizeof *job->nanoseconds);
    cli_progress progress = {.label = "running", .total = runs};
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < warm_up + runs && result == CLI_CONTINUE; i++) {
        if (i) run_refill_buffers(job);
        result = run_once(job, &job->nanoseconds[i < warm_up ? 0 : i - warm_up]);
        cli_progress_update(&progress, i);
    }
    cli_progress_end(&progress);
    return result;
}

static int create_queue(run_job *job) {
    ig_status status = ig_queue_create(job->device, &job->queue);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report(status, NULL);
}

int run_prepare_and_run(run_job *job) {
    const ig_kernel_info *kernel = NULL;
    ig_device_desc desc = {.check = job->checks,
                           .schedule = job->schedule,
                           .profile = job->profile,
                           .profile_lines = job->profile_lines,
                           .trace = job->trace,
                           .kernel_log = {.callback = cli_show_kernel_log}};
    if (job->time || job->profile || job->trace) job->source.tier = 2;  // quick code says little about the kernel
    int result = cli_open_device(&desc, &job->device);
    if (result == CLI_CONTINUE) result = cli_source_compile(&job->source, job->device, &job->library, &job->compile_ns);
    if (result == CLI_CONTINUE) result = cli_source_choose_kernel(&job->source, job->library, &kernel);
    if (result == CLI_CONTINUE)
        result = cli_source_specialise(&job->source, job->library, kernel->name, &job->pipeline);
    if (result == CLI_CONTINUE) result = run_bind_arguments(job);
    if (result == CLI_CONTINUE) result = run_create_buffers(job);
    if (result == CLI_CONTINUE) result = create_queue(job);
    if (result == CLI_CONTINUE) result = run_all(job);
    return result;
}

static int run(run_job *job) {
    size_t different = 0;
    int result = job->check ? cli_findings_open(&job->findings, &job->checks) : CLI_CONTINUE;
    if (result == CLI_CONTINUE) result = run_prepare_and_run(job);
    bool silent = job->check && !job->prints.count && !job->outs.count && !job->time && !job->profile;
    if (result == CLI_CONTINUE && !silent) result = run_show_results(job);
    if (result == CLI_CONTINUE && job->schedules) result = run_compare_schedules(job, &different);
    if (job->check && result == CLI_CONTINUE) result = cli_findings_close(&job->findings);
    if (result == CLI_OK && different) result = CLI_BAD_INPUT;
    return result == CLI_CONTINUE ? CLI_OK : result;
}

static const char details[] =
    "SPEC is one of\n"
    "  FILE.npy              the array in a NumPy file\n"
    "  f32[64,32]            zeros\n"
    "  f32[1000]:iota        0, 1, 2, ...\n"
    "  f32[1000]:random:7    random numbers from seed 7: floats in [0,1), integers of any value\n"
    "  f32[1000]:0.5         the same value everywhere\n"
    "  u32:7  f32:1,2,3      a constant\n"
    "  raw:SPEC              the bytes of any of these, whatever type the kernel has\n"
    "  texture:FILE.png      a texture with the picture, as rgba8_unorm\n"
    "  texture:rgba8_unorm[480,640]   a texture of zeros: height and width\n"
    "  functions:NAME,NAME   a table of [[visible]] functions; - is none\n"
    "  sampler:linear,repeat a sampler, of these words: nearest, linear, mipmaps, pixel, clamp, repeat,\n"
    "                        mirror, zero, border\n"
    "where the type is one of f32 f16 bf16 i8 u8 i16 u16 i32 u32 i64 u64 bool. It must be the type of the "
    "kernel's argument: vectors, matrices and atomics count as their elements, integers may differ in sign, "
    "and "
    "a structure takes any type.";

static const char run_examples[] =
    "ingot run saxpy.metal --grid 8 --arg 0=f32[8] --arg 1=f32[8]:iota --arg 2=f32:2 --print 0\n"
    "ingot run blur.metal --kernel blur --grid 640,480 --group 16,16 --arg 0=in.npy \\\n"
    "    --arg 1=f32[480,640] --out 1=out.npy\n"
    "ingot run halve.metal --grid 480,300 --arg 0=texture:photo.png --arg 0=sampler:linear \\\n"
    "    --arg 1=texture:rgba8_unorm[300,480] --out 1=half.png\n"
    "ingot run shade.metal --grid 100 --arg 0=f32[400] --arg 1=points.npy --attribute 0=1:f32x3 \\\n"
    "    --attribute 1=1:u8x4n:12 --layout 1=16 --out 0=colours.npy\n"
    "ingot run sum.metal --groups 64 --group 256 --arg 0=f32[1000000]:random --arg 1=f32[64] \\\n"
    "    --threadgroup 0=1024 --constant 0=bool:true --time --repeat 100";
static const char check_examples[] =
    "ingot check sum.metal --groups 4 --group 256 --arg 0=f32[1000]:random --arg 1=f32[4]\n"
    "ingot check sum.metal --only memory,races --suppress known.txt --sarif findings.sarif --grid 1000 \\\n"
    "    --arg 0=f32[1000]:random --arg 1=f32[4]";

int cmd_run(int argc, char **argv) {
    return run_command(argc, argv, false);
}

int cmd_check(int argc, char **argv) {
    return run_command(argc, argv, true);
}

int run_command(int argc, char **argv, bool checking) {
    run_job job = {.check = checking};
    cli_list operands = {0};
    const cli_option options[] = {
        {'k', "kernel", CLI_TEXT, &job.source.kernel, "NAME", "the kernel; not needed when the file has only one"},
        {'g', "grid", CLI_SIZE, &job.grid, "X[,Y[,Z]]", "how many threads to run"},
        {0, "groups", CLI_SIZE, &job.groups, "X[,Y[,Z]]", "how many threadgroups to run, instead of --grid"},
        {0, "group", CLI_SIZE, &job.group, "X[,Y[,Z]]", "threads per threadgroup (default: chosen by Ingot)"},
        {'a', "arg", CLI_TEXTS, &job.argument_texts, "INDEX=SPEC",
         "the initial contents of a buffer argument; see SPEC"},
        {0, "threadgroup", CLI_TEXTS, &job.threadgroup_texts, "INDEX=BYTES", "size of a threadgroup argument"},
        {0, "attribute", CLI_TEXTS, &job.stage.attribute_texts, "N=BUFFER:FORMAT[:OFFSET]",
         "where [[attribute(N)]] of a [[stage_in]] is, and how it is stored: f32x3, u8x4n (normalised), "
         "bgra8_unorm..."},
        {0, "layout", CLI_TEXTS, &job.stage.layout_texts, "BUFFER=STRIDE[,WORD]...",
         "bytes from one element to the next, and words: x, y, x-indexed, y-indexed, constant, rate=N, dynamic"},
        {0, "indices", CLI_TEXT, &job.stage.indices_text, "BUFFER=u16|u32",
         "the buffer of indices for the indexed steps"},
        {0, "region", CLI_TEXT, &job.stage.region_text, "X,Y,Z:W,H,D", "origin and size of the region of [[stage_in]]"},
        {'o', "out", CLI_TEXTS, &job.out_texts, "INDEX=FILE",
         "write the argument to a .npy file, or a texture to a .png file"},
        {'p', "print", CLI_TEXTS, &job.print_texts, "INDEX[:COUNT]",
         "print the argument's first elements after the run (default 16)"},
        {'r', "repeat", CLI_COUNT, &job.repeat, "N", "run N times, each time from the initial arguments"},
        {'t', "time", CLI_FLAG, &job.time, NULL, "print the best and median time and the spread (10 runs)"},
        {0, "profile", CLI_FLAG, &job.profile, NULL, "print what it cost: time, share, threads, bytes, compilation"},
        {0, "profile-lines", CLI_FLAG, &job.profile_lines, NULL, "--profile, and the source lines that cost most"},
        {0, "trace", CLI_TEXT, &job.trace, "FILE.json", "write a trace for Perfetto and chrome://tracing"},
        {0, "deadline", CLI_SECONDS, &job.deadline_ns, "SECONDS", "stop a run that takes longer"},
        CLI_SOURCE_OPTIONS(job.source),
        CLI_OPTION_JSON,
        {0, "schedule", CLI_WHOLE, &job.schedule, "SEED", "run threads one at a time, in a random order from SEED"},
        // Only of `check` from here on; the last one is only of `run`.
        {0, "schedules", CLI_COUNT, &job.schedules, "N",
         "also run it unchecked in N random orders of threads, and compare the results bit for bit"},
        {0, "only", CLI_TEXT, &job.findings.only, "CHECKS",
         "check only these: memory, races, init, sync, arithmetic (default: all but arithmetic)"},
        {0, "suppress", CLI_TEXT, &job.findings.suppress_path, "FILE",
         "hide findings that match a line of FILE: KIND [KERNEL [FILE [LINE]]]"},
        {0, "limit", CLI_COUNT, &job.findings.limit, "N", "show at most N findings (default 100)"},
        {0, "sarif", CLI_TEXT, &job.findings.sarif_path, "FILE", "write the findings to FILE as SARIF"},
        {0, "check", CLI_FLAG, &job.check, NULL, "look for mistakes while it runs, as `ingot check` does"},
    };
    const cli_syntax syntax = {
        .usage = "FILE.metal --grid X[,Y[,Z]] [--arg INDEX=SPEC]... [OPTION...]",
        .purpose = checking ? "Run one kernel and report the errors in it; exit with 1 if there are any."
                            : "Run one kernel of a Metal source file or of a .metallib.",
        .options = options,
        .option_count = sizeof options / sizeof *options - checking,
        .details = details,
        .examples = checking ? check_examples : run_examples,
        .min_operands = 1,
        .max_operands = 1,
        .operand = "FILE.metal",
    };
    int result = cli_parse(&syntax, argc, argv, &operands);
    if (result == CLI_CONTINUE) result = run_read_options(&job);
    if (result == CLI_CONTINUE) {
        job.source.path = operands.items[0];
        result = run(&job);
    }
    run_free(&job);
    cli_list_free(&operands);
    return result;
}
