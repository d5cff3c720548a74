// SPDX-License-Identifier: Apache-2.0
// Public embedding lookup: slices of a table, selected by tokens of any shape.
#include <string.h>

#include "tensor/nn/flatten.h"
#include "tensor/nn/nn.h"

static void check_tokens(igi_tensor_front *f, const igi_tensor_view *table, const igi_tensor_view *tokens) {
    if (f->status != IG_STATUS_OK) return;
    if (table->rank != 2)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "the table must be [vocabulary, dim]");
    else if (!igi_tensor_type_in(tokens->type, IGI_TYPE(I32) | IGI_TYPE(I64)))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "tokens are %s, not i32 or i64",
                              ig_type_name(tokens->type));
    else if (tokens->rank >= IG_MAX_RANK)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "tokens have too many dimensions");
}

ig_status ig_tensor_embedding(ig_stream *stream, const ig_tensor *table, const ig_tensor *tokens,
                              const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    uint64_t shape[IG_MAX_RANK];
    igi_tensor_front_begin_as(&f, stream, IG_OP_INDEX_SELECT, "embedding", options);
    igi_tensor_front_input(&f, "table", table);
    igi_tensor_front_input(&f, "tokens", tokens);
    if (f.status == IG_STATUS_OK) check_tokens(&f, &table->view, &tokens->view);
    if (f.status != IG_STATUS_OK) return f.status;
    uint32_t rank = tokens->view.rank;
    memcpy(shape, tokens->view.shape, rank * sizeof *shape);
    shape[rank] = table->view.shape[1];
    f.call.p.index.axis = 0;
    igi_tensor_front_flatten_input(&f, 1, 0);
    igi_tensor_front_output(&f, table->view.type, rank + 1, shape);
    igi_tensor_front_flatten_output(&f, 1);
    return igi_tensor_front_finish(&f, out);
}
