// SPDX-License-Identifier: Apache-2.0
// ingot demo: a tour in acts.
#include "demo.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "console/device.h"
#include "console/options.h"
#include "console/output.h"
#include "core/clock.h"

static const struct {
    const char *title;
    int (*play)(const demo_stage *stage);
} acts[] = {
    {"A picture: one thread per pixel", demo_draw_picture},
    {"saxpy: how fast memory streams through a kernel", demo_measure_saxpy},
    {"Ring kernels: a token goes around, from kernel to kernel", demo_pass_token},
    {"A wave: tiles that exchange their borders", demo_make_waves},
};

const igi_embedded *demo_find_file(const char *name) {
    for (size_t i = 0; i < demo_kernels_count; i++)
        if (strcmp(demo_kernels[i].name, name) == 0) return &demo_kernels[i];
    return NULL;
}

int demo_compile(const demo_stage *stage, const char *file, ig_pipeline **pipeline, uint64_t *compile_ns) {
    const igi_embedded *embedded = demo_find_file(file);
    if (!embedded) return cli_error(CLI_FAILED, "%s is not part of this build", file);
    ig_library_desc desc = {.source = embedded->data, .source_length = embedded->length, .name = embedded->name};
    ig_library *library = NULL;
    ig_error error = {0};
    uint64_t start = igi_now_ns();
    ig_status status = ig_library_create(stage->device, &desc, &library, &error);
    if (status == IG_STATUS_OK) {
        ig_pipeline_desc kernel = {.kernel = ig_library_kernel(library, 0)->name, .tier = 2};  // its speed is shown
        status = ig_pipeline_create(library, &kernel, pipeline, &error);
    }
    *compile_ns = igi_now_ns() - start;
    ig_library_release(library);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report_and_clear(status, &error);
}

int demo_buffer(const demo_stage *stage, uint64_t length, ig_buffer **buffer) {
    ig_status status = ig_buffer_create(stage->device, &(ig_buffer_desc){.length = length}, buffer);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report(status, NULL);
}

int demo_run(const demo_stage *stage, const demo_dispatch *dispatch, uint64_t *run_ns) {
    ig_commands *commands = NULL;
    ig_status status = ig_commands_create(stage->queue, NULL, &commands);
    if (status != IG_STATUS_OK) return cli_report(status, NULL);
    uint32_t index = 0;
    ig_commands_set_pipeline(commands, dispatch->pipeline);
    for (; index < 2 && dispatch->buffers[index]; index++)
        ig_commands_set_buffer(commands, dispatch->buffers[index], 0, index);
    ig_commands_set_bytes(commands, dispatch->bytes, dispatch->byte_count, index);
    ig_commands_dispatch_threads(commands, dispatch->grid, (ig_size){0});
    status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    ig_timing timing = {0};
    if (status == IG_STATUS_OK) status = ig_commands_get_dispatch_timing(commands, 0, &timing);
    *run_ns = timing.end_ns - timing.start_ns;
    ig_error error = {0};
    if (status != IG_STATUS_OK) ig_commands_get_error(commands, &error);
    ig_commands_release(commands);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report_and_clear(status, &error);
}

static void show_device(const demo_stage *stage) {
    ig_device_properties device;
    ig_device_get_properties(stage->device, &device);
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "device", device.name);
        igi_json_put_string(row, "backend", device.backend);
        igi_json_put_string(row, "ingot_version", ig_version());
        cli_end_row();
    } else {
        printf("Ingot %s on %s%s%s\n", ig_version(), cli_escape(stdout, CLI_BOLD), device.name,
               cli_escape(stdout, CLI_PLAIN));
        if (device.features[0]) printf("  %s: %s\n", device.target, device.features);
    }
}

static int play_acts(const demo_stage *stage) {
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < sizeof acts / sizeof *acts && result == CLI_CONTINUE; i++) {
        if (!cli_json) printf("\n%s%s%s\n", cli_escape(stdout, CLI_BOLD), acts[i].title, cli_escape(stdout, CLI_PLAIN));
        fflush(stdout);
        result = acts[i].play(stage);
    }
    return result;
}

static int make_directory(const char *path) {
    struct stat info;
    if (mkdir(path, 0777) == 0 || (stat(path, &info) == 0 && S_ISDIR(info.st_mode))) return CLI_CONTINUE;
    return cli_error(CLI_BAD_INPUT, "%s: cannot create the directory: %s", path, strerror(errno));
}

static int play(const char *directory) {
    demo_stage stage = {.directory = directory};
    int result = make_directory(directory);
    if (result == CLI_CONTINUE) result = cli_open_device(NULL, &stage.device);
    if (result == CLI_CONTINUE) {
        show_device(&stage);
        ig_status status = ig_queue_create(stage.device, &stage.queue);
        result = status == IG_STATUS_OK ? play_acts(&stage) : cli_report(status, NULL);
    }
    ig_queue_release(stage.queue);
    ig_device_release(stage.device);
    return result == CLI_CONTINUE ? CLI_OK : result;
}

int cmd_demo(int argc, char **argv) {
    const char *directory = "ingot-demo";
    const cli_option options[] = {
        {'o', "out", CLI_TEXT, &directory, "DIR", "where pictures go (default ./ingot-demo)"},
        CLI_OPTION_JSON,
    };
    const cli_syntax syntax = {
        .usage = "[OPTION...]",
        .purpose =
            "Take a tour of a few seconds: the device, a picture computed by a kernel, a measurement, a wave on tiles.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .examples =
            "ingot demo\n"
            "ingot demo -o /tmp/pictures",
    };
    int result = cli_parse(&syntax, argc, argv, NULL);
    return result == CLI_CONTINUE ? play(directory) : result;
}
