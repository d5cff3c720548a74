// SPDX-License-Identifier: Apache-2.0
#include "tensor/nn/flatten.h"

#include <assert.h>
#include <string.h>

static bool flatten(const igi_tensor_view *view, uint32_t kept, igi_tensor_view *flat) {
    uint64_t shape[IG_MAX_RANK + 1] = {1};
    assert(view->rank >= kept);
    uint32_t batches = view->rank - kept;
    for (uint32_t i = 0; i < batches; i++) shape[0] *= view->shape[i];
    memcpy(shape + 1, view->shape + batches, kept * sizeof *shape);
    return igi_tensor_view_reshaped(view, kept + 1, shape, flat);
}

void igi_tensor_front_flatten_input(igi_tensor_front *f, uint32_t index, uint32_t kept) {
    igi_tensor_view *view = &f->call.in[index], flat;
    if (f->status != IG_STATUS_OK || !view->storage) return;
    if (!flatten(view, kept, &flat)) {
        igi_tensor_front_pack(f, index);
        flatten(view, kept, &flat);
    }
    *view = flat;
}

void igi_tensor_front_flatten_output(igi_tensor_front *f, uint32_t kept) {
    igi_tensor_view *view = &f->call.out[0], flat;
    if (f->status != IG_STATUS_OK) return;
    if (flatten(view, kept, &flat))
        *view = flat;
    else
        igi_tensor_front_fail(f, IG_STATUS_UNSUPPORTED, "the batches of 'into' are not adjacent in memory");
}
