// SPDX-License-Identifier: Apache-2.0
// ingot demo, saxpy: memory bandwidth, and every element checked.
#include "console/options.h"
#include "console/output.h"
#include "demo.h"

enum { ELEMENTS = 1 << 24, RUNS = 8 };
static const float factor = 0.5f;

// Small integers and a power of two: every result is exact, so the check is for equality.
static void fill(float *y, float *x) {
    for (size_t i = 0; i < ELEMENTS; i++) {
        x[i] = (float)(i & 0xffff);
        y[i] = 1;
    }
}

static size_t count_wrong(const float *y, const float *x) {
    size_t wrong = 0;
    for (size_t i = 0; i < ELEMENTS; i++) wrong += y[i] != 1 + RUNS * factor * x[i];
    return wrong;
}

static int show(uint64_t best_ns, size_t wrong) {
    double gigabytes = 3.0 * sizeof(float) * ELEMENTS / (double)best_ns;
    if (wrong) return cli_error(CLI_FAILED, "saxpy: %zu of %d elements are wrong", wrong, ELEMENTS);
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "act", "saxpy");
        igi_json_put_u64(row, "elements", ELEMENTS);
        igi_json_put_u64(row, "best_ns", best_ns);
        igi_json_put_double(row, "gigabytes_per_second", gigabytes);
        cli_end_row();
    } else {
        printf("  %d floats, best of %d runs: %.1f GB/s; every element is right\n", ELEMENTS, RUNS, gigabytes);
    }
    return CLI_CONTINUE;
}

static int measure(const demo_stage *stage, const demo_dispatch *dispatch) {
    float *y = ig_buffer_contents(dispatch->buffers[0]), *x = ig_buffer_contents(dispatch->buffers[1]);
    uint64_t best_ns = UINT64_MAX;
    fill(y, x);
    for (int i = 0; i < RUNS; i++) {
        uint64_t run_ns;
        int result = demo_run(stage, dispatch, &run_ns);
        if (result != CLI_CONTINUE) return result;
        if (run_ns < best_ns) best_ns = run_ns;
    }
    return show(best_ns, count_wrong(y, x));
}

int demo_measure_saxpy(const demo_stage *stage) {
    demo_dispatch dispatch = {.bytes = &factor, .byte_count = sizeof factor, .grid = {ELEMENTS, 1, 1}};
    uint64_t compile_ns;
    int result = demo_compile(stage, "saxpy.metal", &dispatch.pipeline, &compile_ns);
    for (int i = 0; i < 2 && result == CLI_CONTINUE; i++)
        result = demo_buffer(stage, ELEMENTS * sizeof(float), &dispatch.buffers[i]);
    if (result == CLI_CONTINUE) result = measure(stage, &dispatch);
    for (int i = 0; i < 2; i++) ig_buffer_release(dispatch.buffers[i]);
    ig_pipeline_release(dispatch.pipeline);
    return result;
}
