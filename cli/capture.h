// SPDX-License-Identifier: Apache-2.0
// A captured dispatch, read from its directory. What is in it comes from outside: names of files must be plain, sizes and
// indices must agree.
#ifndef INGOT_CLI_CAPTURE_H
#define INGOT_CLI_CAPTURE_H

#include <ingot/texture.h>

#include "core/json-read.h"
#include "core/npy.h"

typedef struct capture_buffer {
    igi_npy before, after;  // after: without data when it was not captured
    ig_type type;           // of the elements; the files of bf16 hold u16
    const char *label;      // may be NULL
} capture_buffer;

typedef struct capture_texture {
    ig_texture_desc desc;   // but for its buffer
    bool in_buffer;         // the pixels are in one of the buffers, and in no file
    size_t buffer;          // then which
    igi_npy before, after;  // all levels of the first layer, then of the next; after: as of buffers
} capture_texture;

typedef enum capture_kind {
    CAPTURE_BUFFER,
    CAPTURE_BYTES,
    CAPTURE_THREADGROUP,
    CAPTURE_TEXTURE,
    CAPTURE_SAMPLER,
} capture_kind;

typedef struct capture_argument {
    capture_kind kind;
    uint32_t index;
    const char *name;  // "" when not known
    size_t buffer;     // which of the buffers, or of the textures
    uint64_t offset;   // into it
    igi_npy bytes;
    uint64_t length;  // of threadgroup memory
    bool is_view;     // of the texture
    ig_texture_view_desc view;
    ig_texture_sampler_desc sampler;
} capture_argument;

// What fills [[stage_in]]; without attributes, the kernel has none.
typedef struct capture_stage {
    ig_stage_input input;
    ig_stage_attribute attributes[31];
    ig_stage_layout layouts[31];
    uint32_t strides[31];  // of dynamic layouts, by buffer
    ig_size origin, size;
} capture_stage;

enum { CAPTURE_MAX_ITEMS = 256, CAPTURE_MAX_DEFINES = 4096, CAPTURE_CONSTANT_BYTES = 32 };

typedef struct capture {
    igi_json_document document;  // holds the strings
    char *source_path;
    const char *reason, *error;  // why it was captured; "" when nothing failed
    const char *kernel;
    uint32_t language_version;
    ig_math_mode math;
    ig_define *defines;
    size_t define_count;
    ig_function_constant *constants;
    unsigned char (*constant_values)[CAPTURE_CONSTANT_BYTES];
    size_t constant_count;
    bool unset_constants_are_zero;
    ig_size grid, group;
    uint64_t deadline_ns, schedule;
    capture_buffer buffers[CAPTURE_MAX_ITEMS];
    size_t buffer_count;
    capture_texture textures[CAPTURE_MAX_ITEMS];
    size_t texture_count;
    capture_argument arguments[CAPTURE_MAX_ITEMS];
    size_t argument_count;
    capture_stage stage;
} capture;

// owns: *read is the caller's to free, also after a failure. errors: NOT_FOUND, IO, BAD_FORMAT, OUT_OF_MEMORY.
ig_status capture_load(const char *directory, capture *read, ig_error *error);
void capture_free(capture *read);

#endif
