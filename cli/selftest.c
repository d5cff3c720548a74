// SPDX-License-Identifier: Apache-2.0
// ingot selftest: does everything work on this device? The output is meant for bug reports.
#include "selftest.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "commands.h"
#include "console/device.h"
#include "console/options.h"
#include "console/output.h"
#include "core/clock.h"
#include "core/embedded.h"
#include "format.h"

extern const igi_embedded selftest_files[];

// ---- Results ----

#define SET_TEXT(test, format)                                          \
    do {                                                                \
        va_list arguments;                                              \
        va_start(arguments, format);                                    \
        vsnprintf((test)->text, sizeof(test)->text, format, arguments); \
        va_end(arguments);                                              \
    } while (0)

selftest_result selftest_pass(selftest *test, const char *format, ...) {
    SET_TEXT(test, format);
    return SELFTEST_PASSED;
}

selftest_result selftest_fail(selftest *test, const char *format, ...) {
    SET_TEXT(test, format);
    return SELFTEST_FAILED;
}

selftest_result selftest_skip(selftest *test, const char *format, ...) {
    SET_TEXT(test, format);
    return SELFTEST_SKIPPED;
}

selftest_result selftest_call_failed(selftest *test, const char *call, ig_status status, ig_error *error) {
    const char *message = error && error->message ? error->message : ig_status_text(status);
    selftest_fail(test, "%s: %s", call, message);
    if (error) ig_error_clear(error);
    return SELFTEST_FAILED;
}

// ---- Running kernels ----

ig_buffer *selftest_buffer(selftest *test, uint64_t length) {
    ig_buffer *buffer = NULL;
    ig_status status = ig_buffer_create(test->device, &(ig_buffer_desc){.length = length}, &buffer);
    if (status != IG_STATUS_OK) exit(cli_report(status, NULL));
    return buffer;
}

static void encode(ig_commands *commands, const selftest_run *run, ig_pipeline *pipeline) {
    uint32_t slot = 0;
    ig_commands_set_pipeline(commands, pipeline);
    for (; slot < 4 && run->buffers[slot]; slot++) ig_commands_set_buffer(commands, run->buffers[slot], 0, slot);
    if (run->bytes) ig_commands_set_bytes(commands, run->bytes, run->byte_count, slot);
    if (run->threadgroup_bytes) ig_commands_set_threadgroup_memory(commands, run->threadgroup_bytes, 0);
    if (run->indirect)
        ig_commands_dispatch_indirect(commands, run->indirect, 0, run->group);
    else
        ig_commands_dispatch_threads(commands, run->grid, run->group);
}

ig_status selftest_dispatch(selftest *test, const selftest_run *run, ig_error *error) {
    ig_pipeline *pipeline = NULL;
    ig_commands *commands = NULL;
    ig_pipeline_desc desc = {.kernel = run->kernel, .constants = run->constants, .constant_count = run->constant_count};
    ig_status status = ig_pipeline_create(test->library, &desc, &pipeline, error);
    if (status == IG_STATUS_OK) status = ig_commands_create(test->queue, NULL, &commands);
    if (status == IG_STATUS_OK) {
        encode(commands, run, pipeline);  // the first error is reported by commit
        status = ig_commands_commit(commands);
        if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
        if (status != IG_STATUS_OK) ig_commands_get_error(commands, error);
    }
    ig_commands_release(commands);
    ig_pipeline_release(pipeline);
    return status;
}

// ---- The report ----

static const char *const words[] = {"passed", "FAILED", "skipped"};
static const cli_style styles[] = {CLI_GREEN, CLI_RED, CLI_YELLOW};

static void show_machine(const selftest *test) {
    ig_device_properties device;
    struct utsname system;
    ig_device_get_properties(test->device, &device);
    if (uname(&system) != 0) memset(&system, 0, sizeof system);
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "ingot_version", ig_version());
        igi_json_put_string(row, "system", system.sysname);
        igi_json_put_string(row, "release", system.release);
        igi_json_put_string(row, "machine", system.machine);
        igi_json_put_string(row, "device", device.name);
        igi_json_put_string(row, "backend", device.backend);
        igi_json_put_string(row, "features", device.features);
        cli_end_row();
        return;
    }
    char memory[CLI_FORMAT_TEXT];
    printf("Ingot %s on %s %s (%s)\n", ig_version(), system.sysname, system.release, system.machine);
    printf("%s: backend %s, %s, %s, Metal %u.%u\n\n", device.name, device.backend, device.features,
           cli_format_bytes(device.memory_bytes, memory), device.language_version / 100,
           device.language_version / 10 % 10);
}

static void show_result(const char *name, selftest_result result, const selftest *test, uint64_t elapsed_ns) {
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "check", name);
        igi_json_put_string(row, "result", result == SELFTEST_FAILED ? "failed" : words[result]);
        igi_json_put_string(row, "detail", test->text);
        igi_json_put_u64(row, "elapsed_ns", elapsed_ns);
        cli_end_row();
        return;
    }
    printf("  %s%-7s%s  %-18s %s\n", cli_escape(stdout, styles[result]), words[result], cli_escape(stdout, CLI_PLAIN),
           name, test->text);
    fflush(stdout);
}

static void run_checks(selftest *test, const selftest_check *checks, size_t counts[3]) {
    for (; checks->name; checks++) {
        uint64_t start_ns = igi_now_ns();
        test->text[0] = 0;
        selftest_result result = checks->run(test);
        show_result(checks->name, result, test, igi_now_ns() - start_ns);
        counts[result]++;
    }
}

static int show_counts(const size_t counts[3]) {
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_u64(row, "passed", counts[SELFTEST_PASSED]);
        igi_json_put_u64(row, "failed", counts[SELFTEST_FAILED]);
        igi_json_put_u64(row, "skipped", counts[SELFTEST_SKIPPED]);
        cli_end_row();
    } else {
        printf("\n%zu passed, %zu failed, %zu skipped\n", counts[0], counts[1], counts[2]);
    }
    return counts[SELFTEST_FAILED] ? CLI_FAILED : CLI_OK;
}

// ---- The command ----

static int prepare(selftest *test) {
    int result = cli_open_device(NULL, &test->device);
    if (result != CLI_CONTINUE) return result;
    const igi_embedded *source = &selftest_files[0];
    ig_library_desc desc = {.source = source->data, .source_length = source->length, .name = source->name};
    ig_error error = {0};
    ig_status status = ig_library_create(test->device, &desc, &test->library, &error);
    if (status == IG_STATUS_OK) status = ig_queue_create(test->device, &test->queue);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report_and_clear(status, &error);
}

static int run_all(selftest *test) {
    size_t counts[3] = {0};
    show_machine(test);
    run_checks(test, selftest_device_checks, counts);
    run_checks(test, selftest_kernel_checks, counts);
    run_checks(test, selftest_layer_checks, counts);
    return show_counts(counts);
}

int cmd_selftest(int argc, char **argv) {
    const cli_option options[] = {CLI_OPTION_JSON};
    const cli_syntax syntax = {
        .usage = "[--json]",
        .purpose = "Check that Ingot works on this machine's device, from buffers to ring kernels.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .details =
            "Every result is compared with the host's. The report is meant to be pasted into a bug report. "
            "The first run compiles every built-in kernel, which takes a minute or two on two cores, and longer on a "
            "busy "
            "machine; later runs take seconds.",
        .examples =
            "ingot selftest\n"
            "INGOT_DEVICE=metal ingot selftest --json",
    };
    int result = cli_parse(&syntax, argc, argv, NULL);
    if (result != CLI_CONTINUE) return result;
    selftest test = {0};
    result = prepare(&test);
    if (result == CLI_CONTINUE) result = run_all(&test);
    ig_queue_release(test.queue);
    ig_library_release(test.library);
    ig_device_release(test.device);
    return result;
}
