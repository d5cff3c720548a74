// SPDX-License-Identifier: Apache-2.0
// What the tests of textures share: a library of the program's source, and running its kernels.
#ifndef INGOT_TESTS_TEXTURES_TEXTURES_H
#define INGOT_TESTS_TEXTURES_TEXTURES_H

#include "helpers.h"

extern const char *const textures_source;  // the program defines it
extern ig_library *library;
int open_all(void **state);
int close_all(void **state);

ig_texture *make_texture(ig_texture_desc desc);

// What a kernel gets; NULL: nothing.
typedef struct bound {
    ig_texture *textures[8];
    ig_texture_sampler *samplers[2];
    ig_buffer *buffers[2];
} bound;
// `error` may be NULL.
ig_status try_kernel(const char *kernel, const bound *b, ig_size grid, ig_error *error);
void run_kernel(const char *kernel, const bound *b, ig_size grid);

#endif
