// SPDX-License-Identifier: Apache-2.0
// ingot demo, a picture: a ray-marched stack of gold bars.
#include <stdlib.h>

#include "console/options.h"
#include "console/output.h"
#include "core/file.h"
#include "demo.h"
#include "format.h"
#include "picture.h"

enum { WIDTH = 960, HEIGHT = 600, PIXEL_BYTES = 4 };

typedef struct picture_times {
    uint64_t compile_ns, run_ns;
} picture_times;

static void show(const char *path, const picture_times *times) {
    double megapixels = WIDTH * HEIGHT / 1e6 / ((double)times->run_ns / 1e9);
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "act", "picture");
        igi_json_put_string(row, "file", path);
        igi_json_put_u64(row, "compile_ns", times->compile_ns);
        igi_json_put_u64(row, "run_ns", times->run_ns);
        igi_json_put_double(row, "megapixels_per_second", megapixels);
        cli_end_row();
        return;
    }
    char compile[CLI_FORMAT_TEXT], run[CLI_FORMAT_TEXT];
    printf("  compiled in %s, computed in %s: %.2f Mpixel/s of 4 samples each\n",
           cli_format_time((double)times->compile_ns, compile), cli_format_time((double)times->run_ns, run),
           megapixels);
    printf("  picture: %s%s%s\n", cli_escape(stdout, CLI_GREEN), cli_visible(path), cli_escape(stdout, CLI_PLAIN));
}

static int save(const demo_stage *stage, const ig_buffer *pixels, const picture_times *times) {
    char *path = igi_path_join(stage->directory, "ingots.png");
    if (!path) return cli_report(IG_STATUS_OUT_OF_MEMORY, NULL);
    ig_error error = {0};
    ig_status status = cli_picture_save(path, WIDTH, HEIGHT, ig_buffer_contents(pixels), &error);
    if (status == IG_STATUS_OK) show(path, times);
    free(path);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report_and_clear(status, &error);
}

int demo_draw_picture(const demo_stage *stage) {
    const uint32_t size[2] = {WIDTH, HEIGHT};
    demo_dispatch dispatch = {.bytes = size, .byte_count = sizeof size, .grid = {WIDTH, HEIGHT, 1}};
    picture_times times = {0};
    int result = demo_compile(stage, "ingots.metal", &dispatch.pipeline, &times.compile_ns);
    if (result == CLI_CONTINUE)
        result = demo_buffer(stage, UINT64_C(1) * WIDTH * HEIGHT * PIXEL_BYTES, &dispatch.buffers[0]);
    if (result == CLI_CONTINUE) result = demo_run(stage, &dispatch, &times.run_ns);
    if (result == CLI_CONTINUE) result = save(stage, dispatch.buffers[0], &times);
    ig_buffer_release(dispatch.buffers[0]);
    ig_pipeline_release(dispatch.pipeline);
    return result;
}
