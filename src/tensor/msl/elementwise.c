// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels: four elements per thread if all operands are contiguous, else one that follows strides.
#include "tensor/msl/msl.h"

bool igi_tensor_msl_accepts_all(const igi_tensor_call *call) {
    bool fits = igi_tensor_msl_can_index(&call->out[0]);
    for (uint32_t i = 0; i < call->input_count; i++)
        fits = fits && (!call->in[i].storage || igi_tensor_msl_can_index(&call->in[i]));
    return fits;
}

// Kernels reinterpret contiguous elements as vectors of four.
static bool holds_vectors(const igi_tensor_view *view) {
    return igi_tensor_view_is_contiguous(view) && view->offset % (4 * (uint64_t)ig_type_size(view->type)) == 0;
}

static bool all_vectors(const igi_tensor_call *call) {
    bool vectors = holds_vectors(&call->out[0]);
    for (uint32_t i = 0; i < call->input_count; i++) vectors = vectors && holds_vectors(&call->in[i]);
    return vectors;
}

static igi_tensor_msl_encoder begin(const igi_tensor_call *call, const char *file, bool plain,
                                    igi_tensor_msl_layout *layout) {
    igi_tensor_msl_layout_of(call->input_count + 1,
                             (const igi_tensor_view *[]){&call->out[0], &call->in[0], &call->in[1]}, layout);
    uint32_t consecutive = plain ? 0 : igi_tensor_msl_consecutive(layout, call->input_count + 1);
    return igi_tensor_msl_begin(call, file, consecutive, "%s_%s%s", ig_op_name(call->op), plain ? "" : "strided_",
                                ig_type_name(call->in[0].type));
}

static void finish(igi_tensor_msl_encoder *e, bool plain, const igi_tensor_msl_layout *layout) {
    uint64_t count = igi_tensor_view_count(&e->call->out[0]), inner = layout->shape[layout->rank - 1];
    if (plain)
        igi_tensor_msl_bytes(e, &(uint32_t){(uint32_t)count}, sizeof(uint32_t), 3);
    else
        igi_tensor_msl_bytes(e, layout, sizeof *layout, 3);
    igi_tensor_msl_threads(e, plain ? (ig_size){(count + 3) / 4, 1, 1} : (ig_size){inner, count / inner, 1});
}

ig_status igi_tensor_msl_unary(const igi_tensor_call *call) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    if (!igi_tensor_is_float(call->in[0].type)) return igi_tensor_msl_integers(call);
    bool plain = all_vectors(call), given = igi_ops[call->op]->has_parameters;
    const igi_tensor_parameters *p = &call->p;
    float parameters[2] = {given ? (float)p->elementwise.low : 0, given ? (float)p->elementwise.high : 0};
    igi_tensor_msl_layout layout;
    igi_tensor_msl_encoder e = begin(call, "unary", plain, &layout);
    igi_tensor_msl_view(&e, &call->in[0], 0);
    igi_tensor_msl_view(&e, &call->out[0], 1);
    igi_tensor_msl_bytes(&e, parameters, sizeof parameters, 2);
    finish(&e, plain, &layout);
    return e.status;
}

ig_status igi_tensor_msl_binary(const igi_tensor_call *call) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    if (!igi_tensor_is_float(call->in[0].type)) return igi_tensor_msl_integers(call);
    bool plain = all_vectors(call);
    igi_tensor_msl_layout layout;
    igi_tensor_msl_encoder e = begin(call, "binary", plain, &layout);
    igi_tensor_msl_view(&e, &call->in[0], 0);
    igi_tensor_msl_view(&e, &call->in[1], 1);
    igi_tensor_msl_view(&e, &call->out[0], 2);
    finish(&e, plain, &layout);
    return e.status;
}
