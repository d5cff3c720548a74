// SPDX-License-Identifier: Apache-2.0
// A queue, a buffer and a few kernels, for tests of command buffers.
#ifndef INGOT_TESTS_DEVICE_DESK_H
#define INGOT_TESTS_DEVICE_DESK_H

#include "helpers.h"

extern const char desk_source[];

typedef struct desk {
    ig_pipeline *add, *affine, *spin;
    ig_queue *queue;
    ig_buffer *buffer;
    uint32_t *words;
} desk;

int open_desk(void **state);
int close_desk(void **state);
void encode_add(desk *d, ig_commands *commands, uint32_t n, uint32_t threads);
// A command buffer that runs until `stop` is called on its buffer.
ig_commands *start_spinning(desk *d, ig_buffer **flag);
void stop(ig_buffer *flag);
void finish(ig_commands *commands);

#define desk_test(name) cmocka_unit_test_setup_teardown(name, open_desk, close_desk)

#endif
