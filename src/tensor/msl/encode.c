// SPDX-License-Identifier: Apache-2.0
// Encoding one dispatch: the first failure is kept, so that it need be checked only once.
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "tensor/iterate.h"
#include "tensor/msl/msl.h"

igi_tensor_msl_encoder igi_tensor_msl_begin(const igi_tensor_call *call, const char *file, uint32_t consecutive,
                                            const char *kernel, ...) {
    igi_tensor_msl_encoder e = {.call = call};
    char name[64];
    va_list arguments;
    va_start(arguments, kernel);
    int length = vsnprintf(name, sizeof name, kernel, arguments);
    va_end(arguments);
    assert(length > 0 && (size_t)length < sizeof name);
    (void)length;
    ig_pipeline *pipeline = NULL;
    ig_function_constant constant = {.id = 0, .type = IG_TYPE_U32, .value = &consecutive};
    e.status = igi_op_pipeline(call->runtime, file, name, &constant, 1, &pipeline, call->error);
    if (e.status == IG_STATUS_OK) e.status = ig_commands_set_pipeline(call->commands, pipeline);
    return e;
}

void igi_tensor_msl_view(igi_tensor_msl_encoder *e, const igi_tensor_view *view, uint32_t slot) {
    igi_tensor_msl_storage(e, view->storage, view->offset, slot);
}

void igi_tensor_msl_storage(igi_tensor_msl_encoder *e, const igi_tensor_storage *storage, uint64_t offset,
                            uint32_t slot) {
    if (e->status == IG_STATUS_OK) e->status = ig_commands_set_buffer(e->call->commands, storage->buffer, offset, slot);
}

void igi_tensor_msl_bytes(igi_tensor_msl_encoder *e, const void *bytes, uint64_t length, uint32_t slot) {
    if (e->status == IG_STATUS_OK) e->status = ig_commands_set_bytes(e->call->commands, bytes, length, slot);
}

void igi_tensor_msl_threads(igi_tensor_msl_encoder *e, ig_size grid) {
    if (e->status == IG_STATUS_OK) e->status = ig_commands_dispatch_threads(e->call->commands, grid, (ig_size){0});
}

void igi_tensor_msl_groups(igi_tensor_msl_encoder *e, ig_size groups, ig_size group) {
    if (e->status == IG_STATUS_OK) e->status = ig_commands_dispatch_threadgroups(e->call->commands, groups, group);
}

// ---- Operands ----

void igi_tensor_msl_layout_of(uint32_t operands, const igi_tensor_view *const *views, igi_tensor_msl_layout *layout) {
    igi_tensor_walk walk = igi_tensor_walk_of(operands, views);
    *layout = (igi_tensor_msl_layout){.rank = walk.rank};
    for (uint32_t i = 0; i < walk.rank; i++) {
        layout->shape[i] = (uint32_t)walk.shape[i];
        for (uint32_t o = 0; o < operands; o++)
            layout->strides[o][i] = (int32_t)(walk.strides[o][i] / (int64_t)ig_type_size(views[o]->type));
    }
}

uint32_t igi_tensor_msl_consecutive(const igi_tensor_msl_layout *layout, uint32_t operands) {
    uint64_t count = 1;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < layout->rank; i++) count *= layout->shape[i];
    for (uint32_t o = 0; o < operands; o++) bits |= (uint32_t)(layout->strides[o][layout->rank - 1] == 1) << o;
    return count < 4096 ? 0 : bits;
}

bool igi_tensor_msl_can_index(const igi_tensor_view *view) {
    uint64_t reach = 1, count = igi_tensor_view_count(view);
    for (uint32_t i = 0; i < view->rank && view->shape[i]; i++) {
        uint64_t stride = (uint64_t)llabs(view->strides[i]), span;
        if (!igi_mul(view->shape[i] - 1, stride, &span) || !igi_add(reach, span, &reach)) return false;
    }
    return count <= INT32_MAX && reach <= INT32_MAX;
}
