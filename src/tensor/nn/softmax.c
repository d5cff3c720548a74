// SPDX-License-Identifier: Apache-2.0
// Public masked softmax.
#include "tensor/front.h"
#include "tensor/nn/nn.h"

static void add_mask(igi_front *f, const ig_tensor *x, const ig_tensor *mask) {
    char has[IGI_SHAPE_TEXT], needs[IGI_SHAPE_TEXT];
    igi_front_optional_input(f, "mask", mask);
    if (f->status != IG_STATUS_OK || !mask) return;
    if (mask->view.type != IG_TYPE_BOOL) igi_front_convert(f, 1, f->call.in[0].type);
    if (f->status == IG_STATUS_OK && !igi_view_broadcast(&f->call.in[1], x->view.rank, x->view.shape, &f->call.in[1]))
        igi_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "a mask of shape %s does not repeat to %s",
                       igi_shape_text(mask->view.rank, mask->view.shape, has),
                       igi_shape_text(x->view.rank, x->view.shape, needs));
}

ig_status ig_tensor_masked_softmax(ig_stream *stream, const ig_tensor *x, const ig_tensor *mask,
                                   const ig_attention_desc *desc, const ig_op_options *options, ig_tensor **out) {
    static const ig_attention_desc plain;
    if (!desc) desc = &plain;
    igi_front f;
    igi_front_begin(&f, stream, IG_OP_MASKED_SOFTMAX, options);
    igi_front_input(&f, "x", x);
    if (f.status == IG_STATUS_OK && x->view.rank < 2)
        igi_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "x must have two dimensions or more, queries and keys");
    ig_type type = igi_front_unify(&f, 0, 1);
    if (f.status == IG_STATUS_OK) add_mask(&f, x, mask);
    f.call.p.attend.scale = desc->scale == 0 ? 1 : desc->scale;
    f.call.p.attend.query_position = desc->query_position;
    f.call.p.attend.window = desc->window;
    f.call.p.attend.causal = desc->causal;
    if (f.status == IG_STATUS_OK) igi_front_output(&f, type, x->view.rank, x->view.shape);
    return igi_front_finish(&f, out);
}
