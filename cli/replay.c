// SPDX-License-Identifier: Apache-2.0
// ingot replay: runs a captured dispatch again.
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "console/device.h"
#include "console/diagnostics.h"
#include "console/options.h"
#include "console/output.h"

static const char widths[] = "1|4|8|16|32";
static const char *const width_names[] = {"1", "4", "8", "16", "32"};

// ---- Making what it needs ----

// The capture is run as it is: the environment neither captures it again nor chooses another order of threads.
static int open_device(replay_job *job) {
    uint64_t schedule = job->schedule ? job->schedule : job->captured.schedule;
    ig_device_desc desc = {.check = job->checks,
                           .schedule = schedule,
                           .capture_dir = "",
                           .capture_dispatch = "",
                           .kernel_log = {.callback = cli_show_kernel_log}};
    if (job->width >= 0) setenv("INGOT_SIMT_WIDTH", width_names[job->width], 1);
    return cli_open_device(&desc, &job->device);
}

static int compile(replay_job *job) {
    const capture *captured = &job->captured;
    ig_library_desc library = {.path = captured->source_path,
                               .defines = captured->defines,
                               .define_count = captured->define_count,
                               .language_version = captured->language_version,
                               .math_mode = captured->math};
    ig_error error = {0};
    ig_status status = ig_library_create(job->device, &library, &job->library, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    if (cli_json) cli_put_diagnostics(ig_library_log(job->library));
    ig_pipeline_desc pipeline = {.kernel = captured->kernel,
                                 .constants = captured->constants,
                                 .constant_count = captured->constant_count,
                                 .unset_constants_are_zero = captured->unset_constants_are_zero,
                                 .stage_input = captured->stage.input.attribute_count ? &captured->stage.input : NULL};
    status = ig_pipeline_create(job->library, &pipeline, &job->pipeline, &error);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report_and_clear(status, &error);
}

static int create_buffers(replay_job *job) {
    ig_status status = ig_queue_create(job->device, &job->queue);
    for (size_t i = 0; i < job->captured.buffer_count && status == IG_STATUS_OK; i++) {
        const capture_buffer *buffer = &job->captured.buffers[i];
        ig_buffer_desc desc = {.length = buffer->before.bytes, .bytes = buffer->before.data, .label = buffer->label};
        status = ig_buffer_create(job->device, &desc, &job->buffers[i]);
    }
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report(status, NULL);
}

// ---- Running ----

static void encode(replay_job *job, ig_commands *commands) {
    ig_commands_set_pipeline(commands, job->pipeline);
    for (size_t i = 0; i < job->captured.argument_count; i++) {
        const capture_argument *argument = &job->captured.arguments[i];
        switch (argument->kind) {
            case CAPTURE_BUFFER:
                ig_commands_set_buffer(commands, job->buffers[argument->buffer], argument->offset, argument->index);
                break;
            case CAPTURE_BYTES:
                ig_commands_set_bytes(commands, argument->bytes.data, argument->bytes.bytes, argument->index);
                break;
            case CAPTURE_THREADGROUP:
                ig_commands_set_threadgroup_memory(commands, argument->length, argument->index);
                break;
            case CAPTURE_TEXTURE: replay_bind_texture(job, commands, i); break;
            case CAPTURE_SAMPLER: ig_commands_set_sampler(commands, job->samplers[i], argument->index); break;
        }
    }
    const capture_stage *stage = &job->captured.stage;
    for (uint32_t i = 0; i < sizeof stage->strides / sizeof *stage->strides; i++)
        if (stage->strides[i]) ig_commands_set_attribute_stride(commands, stage->strides[i], i);
    ig_commands_set_stage_region(commands, stage->origin, stage->size);
    ig_commands_dispatch_threads(commands, job->captured.grid, job->captured.group);
}

// Failed again, perhaps as it did before.
static int report_failure(const replay_job *job, const ig_commands *commands, ig_status status) {
    ig_error error = {0};
    ig_commands_get_error(commands, &error);
    bool same = (status == IG_STATUS_KERNEL_FAULT && strcmp(job->captured.reason, "fault") == 0) ||
                (status == IG_STATUS_TIMEOUT && strcmp(job->captured.reason, "timeout") == 0);
    int result = cli_report_and_clear(status, &error);
    if (same) cli_note("it also failed when it was captured: %s", job->captured.error);
    return result == CLI_FAILED && same ? CLI_BAD_INPUT : result;
}

static int dispatch(replay_job *job) {
    uint64_t deadline = job->deadline_ns ? job->deadline_ns : job->captured.deadline_ns;
    ig_commands_desc desc = {.deadline_ns = deadline};
    ig_commands *commands = NULL;
    ig_status status = ig_commands_create(job->queue, &desc, &commands);
    if (status != IG_STATUS_OK) return cli_report(status, NULL);
    encode(job, commands);
    status = cli_findings_run(&job->findings, job->check, commands);
    int result = status == IG_STATUS_OK ? CLI_CONTINUE : report_failure(job, commands, status);
    ig_commands_release(commands);
    return result;
}

// ---- Telling ----

static void print_size(const char *what, ig_size size) {
    printf(", %s %" PRIu64 " x %" PRIu64 " x %" PRIu64, what, size.x, size.y, size.z);
}

static void introduce(const replay_job *job) {
    const capture *captured = &job->captured;
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "capture", job->directory);
        igi_json_put_string(row, "kernel", captured->kernel);
        igi_json_put_string(row, "reason", captured->reason);
        igi_json_put_string(row, "error", captured->error);
        cli_end_row();
        return;
    }
    printf("kernel '%s'", cli_visible(captured->kernel));
    print_size("grid", captured->grid);
    print_size("threadgroups of", captured->group);
    printf("; captured: %s%s%s\n", cli_visible(captured->reason), *captured->error ? ": " : "",
           cli_visible(captured->error));
}

static int report_result(const replay_job *job) {
    size_t different = 0, compared = 0;
    int result = replay_compare(job, &different, &compared);
    if (result != CLI_CONTINUE) return result;
    const char *verdict = different ? "different" : compared ? "same" : "ran";
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "result", verdict);
        cli_end_row();
    } else if (!compared) {
        printf("it ran to its end; the capture has no results to compare with\n");
        if (strcmp(job->captured.reason, "check") == 0 && !job->check)
            cli_note("--check looks for what was found then");
    } else {
        printf("%s\n", different ? "the results differ" : "the results are the same");
    }
    return different ? CLI_BAD_INPUT : CLI_CONTINUE;
}

static int run(replay_job *job) {
    ig_error error = {0};
    ig_status status = capture_load(job->directory, &job->captured, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    int result = job->check ? cli_findings_open(&job->findings, &job->checks) : CLI_CONTINUE;
    if (result == CLI_CONTINUE) introduce(job);
    if (result == CLI_CONTINUE) result = open_device(job);
    if (result == CLI_CONTINUE) result = compile(job);
    if (result == CLI_CONTINUE) result = create_buffers(job);
    if (result == CLI_CONTINUE) result = replay_create_textures(job);
    if (result == CLI_CONTINUE) result = dispatch(job);
    if (result != CLI_CONTINUE) return result;
    result = report_result(job);
    int found = job->check ? cli_findings_close(&job->findings) : CLI_OK;
    return result == CLI_CONTINUE ? found : result;
}

static void free_job(replay_job *job) {
    replay_free_textures(job);
    for (size_t i = 0; i < job->captured.buffer_count; i++) ig_buffer_release(job->buffers[i]);
    ig_queue_release(job->queue);
    ig_pipeline_release(job->pipeline);
    ig_library_release(job->library);
    ig_device_release(job->device);
    capture_free(&job->captured);
}

int cmd_replay(int argc, char **argv) {
    replay_job job = {.width = -1};
    cli_list operands = {0};
    const cli_option options[] = {
        {0, "check", CLI_FLAG, &job.check, NULL, "look for mistakes while it runs, as `ingot check` does"},
        {0, "only", CLI_TEXT, &job.findings.only, "CHECKS",
         "with --check: some of memory, races, init, sync, arithmetic"},
        {'w', "width", CLI_CHOICE, &job.width, widths, "threads that run per step (default: chosen per kernel)"},
        {'t', "tolerance", CLI_NUMBER, &job.tolerance, "X",
         "floats may differ by X, or X times the captured value if that is above 1 (default: bit for bit)"},
        {0, "schedule", CLI_WHOLE, &job.schedule, "SEED", "run threads one at a time, in a random order from SEED"},
        {0, "deadline", CLI_SECONDS, &job.deadline_ns, "SECONDS",
         "stop a longer run (default: as when it was captured)"},
        CLI_OPTION_JSON,
    };
    const cli_syntax syntax = {
        .usage = "DIR [OPTION...]",
        .purpose = "Run a captured dispatch again and compare its results; exit with 1 if they differ.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .details =
            "A program writes captures when INGOT_CAPTURE_DIR is set: of dispatches that fail, and of those that "
            "INGOT_CAPTURE_DISPATCH chooses.",
        .examples =
            "INGOT_CAPTURE_DIR=captures INGOT_CAPTURE_DISPATCH='sum*:0' ./program\n"
            "ingot replay captures/0001-sum\n"
            "ingot replay captures/0001-sum --check --width 1",
        .min_operands = 1,
        .max_operands = 1,
        .operand = "DIR",
    };
    int result = cli_parse(&syntax, argc, argv, &operands);
    if (result == CLI_CONTINUE) {
        job.directory = operands.items[0];
        result = run(&job);
    }
    free_job(&job);
    cli_list_free(&operands);
    return result;
}
