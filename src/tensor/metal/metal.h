// SPDX-License-Identifier: Apache-2.0
// Ops as MSL kernels on the device: what its implementations share.
#ifndef INGOT_TENSOR_METAL_H
#define INGOT_TENSOR_METAL_H

#include "tensor/runtime.h"

// The pipeline of a kernel in src/kernels/FILE.metal, compiled when first asked for and kept. Borrowed from the
// runtime. `constants` specialise it; different values are different pipelines.
ig_status igi_metal_pipeline(igi_runtime *runtime, const char *file, const char *kernel,
                             const ig_function_constant *constants, size_t constant_count, ig_pipeline **pipeline,
                             ig_error *error);

// Binds the memory of a view so that its first element is at the start.
ig_status igi_metal_set_view(ig_commands *commands, const igi_view *view, uint32_t index);

// What kernels call Layout: shape and strides of up to four operands, the output first, dimensions merged.
typedef struct igi_metal_layout {
    uint32_t rank;
    uint32_t shape[IG_MAX_RANK];
    int32_t strides[4][IG_MAX_RANK];
} igi_metal_layout;
void igi_metal_layout_of(uint32_t operands, const igi_view *const *views, igi_metal_layout *layout);
// Whether every offset within the view fits the kernels' 32 bits.
bool igi_metal_can_index(const igi_view *view);

// Rows of src/tensor/metal/*.c, gathered in metal.c.
bool igi_metal_accepts_elementwise(const igi_call *call);
ig_status igi_metal_binary(const igi_call *call);

#endif
