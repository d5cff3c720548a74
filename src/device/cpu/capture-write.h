// SPDX-License-Identifier: Apache-2.0
// The parts that write a capture: capture-write.c and capture-write-textures.c.
#ifndef INGOT_DEVICE_CPU_CAPTURE_WRITE_H
#define INGOT_DEVICE_CPU_CAPTURE_WRITE_H

#include "core/json.h"
#include "device/cpu/capture.h"

typedef struct cpu_capture_writer {
    const cpu_capture *capture;
    const struct cpu_origin *origin;
    char *directory;
    bool has_results;
    igi_json json;
    ig_status status;  // of the first failure; nothing is written after it
    ig_error *error;
} cpu_capture_writer;

// Writes an array of one dimension into the directory.
void igi_cpu_capture_save(cpu_capture_writer *w, const char *name, ig_type type, const void *data, uint64_t bytes);

// The member "textures" of the description, and its files.
void igi_cpu_capture_put_textures(cpu_capture_writer *w);
// Members of an argument.
void igi_cpu_capture_put_view(cpu_capture_writer *w, const ig_texture *texture);
void igi_cpu_capture_put_sampler(cpu_capture_writer *w, const ig_texture_sampler *sampler);

#endif
