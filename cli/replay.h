// SPDX-License-Identifier: Apache-2.0
// The parts of `ingot replay`: running a capture, and comparing what it computes with what was captured.
#ifndef INGOT_CLI_REPLAY_H
#define INGOT_CLI_REPLAY_H

#include "capture.h"
#include "findings.h"

typedef struct replay_job {
    // As given by the options:
    const char *directory;
    bool check;
    cli_findings findings;
    int width;  // place among the widths; -1: chosen as always
    double tolerance;
    uint64_t deadline_ns, schedule;
    // While running:
    uint32_t checks;
    capture captured;
    ig_device *device;
    ig_library *library;
    ig_pipeline *pipeline;
    ig_queue *queue;
    ig_buffer *buffers[CAPTURE_MAX_ITEMS];
    ig_texture *textures[CAPTURE_MAX_ITEMS];
    ig_texture *views[CAPTURE_MAX_ITEMS];  // by argument; NULL: the texture itself
    ig_texture_sampler *samplers[CAPTURE_MAX_ITEMS];
} replay_job;

// replay-textures.c. CLI_CONTINUE, or what to exit with after a message. pre: the buffers are there.
int replay_create_textures(replay_job *job);
void replay_free_textures(replay_job *job);
void replay_bind_texture(const replay_job *job, ig_commands *commands, size_t argument);
// All pixels as a capture has them, for the caller to free; NULL: not enough memory.
void *replay_read_pixels(const replay_job *job, size_t texture);

// Shows, for each buffer and texture whose contents after the dispatch are known, what differs. Counts those that do, and those that
// were compared.
int replay_compare(const replay_job *job, size_t *different, size_t *compared);

#endif
