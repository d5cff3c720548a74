// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels: the plain one where all operands are consecutive, else the one that follows strides.
#include <stdio.h>

#include "tensor/iterate.h"
#include "tensor/metal/metal.h"

bool igi_metal_accepts_elementwise(const igi_call *call) {
    bool fits = igi_metal_can_index(&call->out[0]);
    for (uint32_t i = 0; i < call->input_count; i++) fits = fits && igi_metal_can_index(&call->in[i]);
    return fits;
}

void igi_metal_layout_of(uint32_t operands, const igi_view *const *views, igi_metal_layout *layout) {
    igi_walk walk = igi_walk_of(operands, views);
    *layout = (igi_metal_layout){.rank = walk.rank};
    for (uint32_t i = 0; i < walk.rank; i++) {
        layout->shape[i] = (uint32_t)walk.shape[i];
        for (uint32_t o = 0; o < operands; o++)
            layout->strides[o][i] = (int32_t)(walk.strides[o][i] / (int64_t)ig_type_size(views[o]->type));
    }
}

static bool all_contiguous(const igi_call *call) {
    bool contiguous = igi_view_is_contiguous(&call->out[0]);
    for (uint32_t i = 0; i < call->input_count; i++) contiguous = contiguous && igi_view_is_contiguous(&call->in[i]);
    return contiguous;
}

ig_status igi_metal_binary(const igi_call *call) {
    uint32_t count = (uint32_t)igi_view_count(&call->out[0]);
    if (count == 0) return IG_STATUS_OK;
    bool plain = all_contiguous(call);
    char kernel[64];
    snprintf(kernel, sizeof kernel, "%s_%s%s", ig_op_name(call->op), plain ? "" : "strided_",
             ig_type_name(call->in[0].type));
    ig_pipeline *pipeline = NULL;
    ig_status status = igi_metal_pipeline(call->runtime, "elementwise", kernel, NULL, 0, &pipeline, call->error);
    if (status == IG_STATUS_OK) status = ig_commands_set_pipeline(call->commands, pipeline);
    if (status == IG_STATUS_OK) status = igi_metal_set_view(call->commands, &call->in[0], 0);
    if (status == IG_STATUS_OK) status = igi_metal_set_view(call->commands, &call->in[1], 1);
    if (status == IG_STATUS_OK) status = igi_metal_set_view(call->commands, &call->out[0], 2);
    if (status == IG_STATUS_OK) status = ig_commands_set_bytes(call->commands, &count, sizeof count, 3);
    if (status == IG_STATUS_OK && !plain) {
        igi_metal_layout layout;
        igi_metal_layout_of(3, (const igi_view *[]){&call->out[0], &call->in[0], &call->in[1]}, &layout);
        status = ig_commands_set_bytes(call->commands, &layout, sizeof layout, 4);
    }
    if (status != IG_STATUS_OK) return status;
    return ig_commands_dispatch_threads(call->commands, (ig_size){.x = count}, (ig_size){0});
}
