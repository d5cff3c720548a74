// SPDX-License-Identifier: Apache-2.0
// Casts, copies and where as kernels.
#include "tensor/msl/msl.h"

static bool all_contiguous(const igi_tensor_call *call) {
    bool contiguous = igi_tensor_view_is_contiguous(&call->out[0]);
    for (uint32_t i = 0; i < call->input_count; i++)
        contiguous = contiguous && igi_tensor_view_is_contiguous(&call->in[i]);
    return contiguous;
}

static void finish(igi_tensor_msl_encoder *e, bool plain, const igi_tensor_msl_layout *layout, uint32_t slot) {
    uint64_t count = igi_tensor_view_count(&e->call->out[0]), inner = layout->shape[layout->rank - 1];
    if (plain) {
        igi_tensor_msl_threads(e, (ig_size){count, 1, 1});
        return;
    }
    igi_tensor_msl_bytes(e, layout, sizeof *layout, slot);
    igi_tensor_msl_threads(e, (ig_size){inner, count / inner, 1});
}

// Whether the result is contiguous along the last dimension, and the operand along the one before.
static bool is_transpose(const igi_tensor_msl_layout *layout) {
    uint32_t rank = layout->rank;
    return rank >= 2 && layout->strides[0][rank - 1] == 1 && layout->strides[1][rank - 2] == 1 &&
           layout->shape[rank - 1] >= 16 && layout->shape[rank - 2] >= 16;
}

static ig_status transpose(const igi_tensor_call *call, const igi_tensor_msl_layout *layout) {
    igi_tensor_msl_encoder e =
        igi_tensor_msl_begin(call, "convert", 0, "transpose_%u", (unsigned)ig_type_size(call->out[0].type));
    uint64_t rows = layout->shape[layout->rank - 2], columns = layout->shape[layout->rank - 1];
    igi_tensor_msl_view(&e, &call->in[0], 0);
    igi_tensor_msl_view(&e, &call->out[0], 1);
    igi_tensor_msl_bytes(&e, layout, sizeof *layout, 2);
    ig_size tiles = {(columns + 31) / 32, (rows + 31) / 32, igi_tensor_view_count(&call->out[0]) / rows / columns};
    igi_tensor_msl_groups(&e, tiles, (ig_size){32, 8, 1});
    return e.status;
}

ig_status igi_tensor_msl_convert(const igi_tensor_call *call) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    const igi_tensor_view *x = &call->in[0], *out = &call->out[0];
    bool plain = all_contiguous(call), copies = x->type == out->type;
    igi_tensor_msl_layout layout;
    igi_tensor_msl_layout_of(2, (const igi_tensor_view *[]){out, x}, &layout);
    if (copies && is_transpose(&layout)) return transpose(call, &layout);
    uint32_t consecutive = plain ? 0 : igi_tensor_msl_consecutive(&layout, 2);
    igi_tensor_msl_encoder e =
        copies ? igi_tensor_msl_begin(call, "convert", consecutive, "copy_%s%u", plain ? "" : "strided_",
                                      (unsigned)ig_type_size(out->type))
               : igi_tensor_msl_begin(call, "convert", consecutive, "%s_to_%s%s", ig_type_name(x->type),
                                      ig_type_name(out->type), plain ? "" : "_strided");
    igi_tensor_msl_view(&e, x, 0);
    igi_tensor_msl_view(&e, out, 1);
    finish(&e, plain, &layout, 2);
    return e.status;
}

ig_status igi_tensor_msl_where(const igi_tensor_call *call) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    bool plain = all_contiguous(call);
    igi_tensor_msl_layout layout;
    igi_tensor_msl_layout_of(4, (const igi_tensor_view *[]){&call->out[0], &call->in[0], &call->in[1], &call->in[2]},
                             &layout);
    uint32_t consecutive = plain ? 0 : igi_tensor_msl_consecutive(&layout, 4);
    igi_tensor_msl_encoder e = igi_tensor_msl_begin(call, "convert", consecutive, "where_%s%u", plain ? "" : "strided_",
                                                    (unsigned)ig_type_size(call->out[0].type));
    for (uint32_t i = 0; i < 3; i++) igi_tensor_msl_view(&e, &call->in[i], i);
    igi_tensor_msl_view(&e, &call->out[0], 3);
    finish(&e, plain, &layout, 4);
    return e.status;
}
