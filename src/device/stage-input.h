// SPDX-License-Identifier: Apache-2.0
// [[stage_in]] of kernels: what a pipeline says of its attributes.
#ifndef INGOT_DEVICE_STAGE_INPUT_H
#define INGOT_DEVICE_STAGE_INPUT_H

#include "device/objects.h"

// An attribute that the kernel reads, with the layout of its buffer.
typedef struct igi_device_stage_item {
    ig_stage_attribute attribute;
    ig_stage_layout layout;
    const char *name;  // of the member, which the library owns; "" if it is not known
    uint32_t bytes;    // of its value
} igi_device_stage_item;

typedef struct igi_device_stage {
    uint32_t index_buffer, index_bytes;  // 2 or 4
    bool indexed;                        // some step is
    bool dynamic;                        // some stride is
    size_t count;
    igi_device_stage_item items[];
} igi_device_stage;

// Checks what `desc` says of the attributes that the kernel has; of all that it describes if the kernel's are not known yet.
// *stage is NULL if there are none. owns: the caller frees *stage with free(). errors: INVALID_ARGUMENT, OUT_OF_RANGE,
// OUT_OF_MEMORY.
ig_status igi_device_stage_open(const ig_pipeline_desc *desc, const ig_kernel_info *kernel, bool known,
                                igi_device_stage **stage, ig_error *error);

// The function constants of `desc` and those that stdlib/__ingot_stage_input reads, for a backend that lowers attributes
// itself. `values` and `names` belong to the result. owns: the caller frees the result with free().
ig_function_constant *igi_device_stage_constants(const igi_device_stage *stage, const ig_pipeline_desc *desc,
                                                 size_t *count);

// Whether the constant is one of those that it adds.
bool igi_device_stage_has(const ig_function_constant *constant);

// Adds the buffers of attributes to the pipeline's arguments, so that dispatches bind them. Returns false when memory is short.
bool igi_device_stage_add_buffers(ig_pipeline *pipeline);

// Whether what is bound is long enough for every thread of the dispatch, and strides are known, which it gets. pre: the
// buffers are bound.
ig_status igi_device_stage_check(ig_commands *commands, igi_device_dispatch *dispatch);

// A copy with all it points to, in one block; NULL when memory is short. pre: input is complete.
ig_stage_input *igi_device_stage_input_copy(const ig_stage_input *input);

#endif
