// SPDX-License-Identifier: Apache-2.0
// Dispatches written to disk: those that fail, and those that were chosen. `ingot replay` runs them again.
#ifndef INGOT_DEVICE_CPU_CAPTURE_H
#define INGOT_DEVICE_CPU_CAPTURE_H

#include "device/cpu/capture-choice.h"
#include "device/cpu/cpu.h"

// The format of a description, capture.json; docs/checking.md describes it.
enum { IGI_CAPTURE_FORMAT = 1, IGI_CAPTURE_MOST = 100 };

// Of a device.
typedef struct cpu_captures {
    igi_refcount references;  // the device's, and those of dispatches that are running
    char *directory;          // absolute
    const ig_queue *queue;    // NULL: any; only compared
    cpu_capture_choice choice;
    atomic_uint written;     // directories
    atomic_bool complained;  // a failure was logged; one message is enough
} cpu_captures;

// *captures stays NULL when nothing is to be captured. errors: INVALID_ARGUMENT, IO, OUT_OF_MEMORY.
ig_status igi_cpu_captures_create(const char *directory, const char *choice, cpu_captures **captures, ig_error *error);
void igi_cpu_captures_release(cpu_captures *captures);
ig_status igi_cpu_capture_start(ig_device *device, const ig_capture_desc *desc, ig_error *error);
size_t igi_cpu_capture_stop(ig_device *device);

// What a library was compiled from, as one text.
struct cpu_origin {
    char *text;
    size_t length;
    char *name;  // as diagnostics call it
    ig_define *defines;
    size_t define_count;
    uint32_t language_version;
};
// NULL when there is no memory, or no such text; the latter is logged.
struct cpu_origin *igi_cpu_origin_create(const igi_msl_request *request);
void igi_cpu_origin_free(struct cpu_origin *origin);

// A buffer of a dispatch as it was before.
typedef struct cpu_capture_buffer {
    ig_buffer *buffer;
    ig_type type;  // of its elements, as the kernel sees them
    char *before;  // NULL: the kernel does not write it, so that it has not changed
} cpu_capture_buffer;

// A texture of a dispatch, which is no view, as it was before.
typedef struct cpu_capture_texture {
    ig_texture *texture;
    bool written;
    char *before;  // as igi_cpu_capture_pixels; NULL: it has not changed, or its pixels are in a buffer of the user's
} cpu_capture_texture;

typedef struct cpu_capture {
    cpu_captures *captures;  // a reference
    ig_commands *commands;
    const igi_device_dispatch *dispatch;
    bool chosen;
    size_t first_finding;  // of this dispatch
    cpu_capture_buffer *buffers;
    size_t buffer_count;
    cpu_capture_texture *textures;
    size_t texture_count;
} cpu_capture;

// Around a dispatch of a device that captures. begin returns NULL when this one will not be written.
cpu_capture *igi_cpu_capture_begin(ig_commands *commands, const igi_device_dispatch *dispatch);
// Writes the dispatch if it failed or was chosen, and frees the capture, which may be NULL.
void igi_cpu_capture_end(cpu_capture *capture, ig_status status, const ig_error *error);

// Parts of it. Keeps a buffer that the kernel may write, unless it is kept already; false: not enough memory.
bool igi_cpu_capture_keep_buffer(cpu_capture *capture, ig_buffer *buffer, ig_type type, bool written);
// The number of the buffer among those that are kept.
size_t igi_cpu_capture_index(const cpu_capture *capture, const ig_buffer *buffer);

// Textures: capture-textures.c. Keeps the texture of a binding; false: not enough memory.
bool igi_cpu_capture_keep_texture(cpu_capture *capture, const igi_device_binding *binding);
void igi_cpu_capture_free_textures(cpu_capture *capture);
// The texture of which a texture is a view, or itself.
ig_texture *igi_cpu_capture_root(ig_texture *texture);
// Bytes of all levels of all layers.
uint64_t igi_cpu_capture_pixel_bytes(const ig_texture *texture);
// All levels of the first layer, then of the next, without gaps. The caller frees it; NULL: not enough memory.
char *igi_cpu_capture_pixels(const ig_texture *texture);

// Makes the directory. *path names it, for messages; the caller frees it. `reason` is "chosen", "fault", "timeout" or "check".
ig_status igi_cpu_capture_write(const cpu_capture *capture, const char *reason, const char *message, char **path,
                                ig_error *error);

#endif
