// SPDX-License-Identifier: Apache-2.0
// ingot ring: runs ring kernels of a .metal file, with messages from the shell.
#include "ring.h"

#include "commands.h"
#include "console/device.h"

static int open_run(ring_run *run) {
    ig_device_desc desc = {0};
    int result = run->check ? cli_findings_open(&run->findings, &desc.check) : CLI_CONTINUE;
    if (result == CLI_CONTINUE) result = cli_open_device(&desc, &run->device);
    if (result != CLI_CONTINUE) return result;
    ig_status status = ig_ring_runtime_create(run->device, NULL, &run->runtime);
    return status == IG_STATUS_OK ? ring_launch_actors(run) : cli_report(status, NULL);
}

static void close_run(ring_run *run) {
    ring_free_actors(run);
    if (run->runtime) ig_ring_runtime_shutdown(run->runtime);
    ig_device_release(run->device);
    ring_free_items(run);
    cli_list_free(&run->kernel_texts), cli_list_free(&run->connections);
    cli_list_free(&run->sends), cli_list_free(&run->files);
}

static int run_ring(ring_run *run) {
    if (run->block > 1024) return cli_usage_error("--block takes at most 1024 threads");
    if (run->shared_memory > UINT32_MAX) return cli_usage_error("--shared takes at most the device's 32768 bytes");
    int result = ring_read_items(run);
    if (result == CLI_CONTINUE && !run->item_count && !run->lines && !run->status)
        result = cli_usage_error("nothing to send: give --send SPEC, --file FILE or --lines");
    if (result == CLI_CONTINUE) result = open_run(run);
    if (result == CLI_CONTINUE) result = ring_exchange(run);
    if (run->check && result == CLI_CONTINUE) result = cli_findings_close(&run->findings);
    return result;
}

static const char details[] =
    "Ring kernels are defined with INGOT_RING_KERNEL(name, handler) from <ingot/ring>. SPEC is text:WORDS, or as in "
    "'ingot run': u32:7, f32:1,2,3, f32[64]:iota, FILE.npy. Replies go to stdout. Messages that could not be handled "
    "are dead letters: they are reported on stderr with the reason, and the exit code is 1.";

static const char examples[] =
    "ingot ring ring-pipeline.metal -k count --send u32:7 --status\n"
    "printf 'one\\ntwo\\n' | ingot ring ring-pipeline.metal -k upper --lines\n"
    "echo to be or not | ingot ring ring-pipeline.metal -k upper -k reverse -c upper,reverse -l";

int cmd_ring(int argc, char **argv) {
    ring_run run = {.repeat = 1, .timeout_ns = 10000000000u};
    const cli_option options[] = {
        {'k', "kernel", CLI_TEXTS, &run.kernel_texts, "[NAME=]KERNEL",
         "launch this ring kernel; may be repeated; messages go to the first"},
        {'c', "connect", CLI_TEXTS, &run.connections, "FROM,TO[,...]", "connect kernels: each sends to the next"},
        {'m', "mode", CLI_CHOICE, &run.mode, "persistent|event",
         "keep the kernel running, or enter it when messages arrive (default persistent)"},
        {'b', "block", CLI_COUNT, &run.block, "N", "threads that handle one message together (default 256)"},
        {0, "shared", CLI_COUNT, &run.shared_memory, "BYTES", "threadgroup memory for context.shared() (default none)"},
        {'s', "send", CLI_TEXTS, &run.sends, "SPEC", "send a message; may be repeated"},
        {'f', "file", CLI_TEXTS, &run.files, "FILE", "send the bytes of a file; may be repeated"},
        {'l', "lines", CLI_FLAG, &run.lines, NULL, "send each line of stdin"},
        {'t', "type", CLI_COUNT, &run.message_type, "N", "message type (default 0)"},
        {'r', "repeat", CLI_COUNT, &run.repeat, "N", "send the messages of --send and --file N times"},
        {'p', "print", CLI_TEXT, &run.print, "FORMAT",
         "print replies as text, hex or a type such as f32 (default: as sent)"},
        {0, "restart", CLI_COUNT, &run.restarts, "N", "restart a kernel whose handler fails, at most N times"},
        {0, "deadline", CLI_SECONDS, &run.deadline_ns, "S",
         "time limit of a handler for one message (default: --timeout)"},
        {0, "timeout", CLI_SECONDS, &run.timeout_ns, "S",
         "how long to wait for room for a message, and for replies at the end (default 10)"},
        {0, "check", CLI_FLAG, &run.check, NULL,
         "look for errors in handlers: out-of-bounds accesses, races, uninitialised values"},
        {0, "status", CLI_FLAG, &run.status, NULL, "print what each kernel did"},
        CLI_OPTION_JSON,
    };
    const cli_syntax syntax = {
        .usage = "FILE.metal [-k KERNEL]... [-s SPEC]... [--lines] [OPTION...]",
        .purpose = "Launch ring kernels and exchange messages with them.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .details = details,
        .examples = examples,
        .min_operands = 1,
        .max_operands = 1,
        .operand = "a .metal file",
    };
    cli_list operands = {0};
    int result = cli_parse(&syntax, argc, argv, &operands);
    if (result == CLI_CONTINUE) {
        run.path = operands.items[0];
        result = run_ring(&run);
    }
    close_run(&run);
    cli_list_free(&operands);
    return result == CLI_CONTINUE ? CLI_OK : result;
}
