// SPDX-License-Identifier: Apache-2.0
// The acts of `ingot demo` and what they share.
#ifndef INGOT_CLI_DEMO_H
#define INGOT_CLI_DEMO_H

#include <ingot/device.h>

#include "core/embedded.h"

typedef struct demo_stage {
    ig_device *device;
    ig_queue *queue;
    const char *directory;  // for pictures
} demo_stage;

extern const igi_embedded demo_kernels[];
extern const size_t demo_kernels_count;

// All return CLI_CONTINUE, or the exit code after printing an error.
int demo_draw_picture(const demo_stage *stage);
int demo_measure_saxpy(const demo_stage *stage);
int demo_pass_token(const demo_stage *stage);

// NULL if this build does not have it.
const igi_embedded *demo_find_file(const char *name);
int demo_make_waves(const demo_stage *stage);

// Compiles the embedded file of this name, which has one kernel. owns: *pipeline is the caller's.
int demo_compile(const demo_stage *stage, const char *file, ig_pipeline **pipeline, uint64_t *compile_ns);

// One dispatch of a grid with up to two buffers followed by some bytes, run to completion.
typedef struct demo_dispatch {
    ig_pipeline *pipeline;
    ig_buffer *buffers[2];
    const void *bytes;  // bound after the last buffer
    size_t byte_count;
    ig_size grid;
} demo_dispatch;
int demo_run(const demo_stage *stage, const demo_dispatch *dispatch, uint64_t *run_ns);

int demo_buffer(const demo_stage *stage, uint64_t length, ig_buffer **buffer);

#endif
