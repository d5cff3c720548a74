// SPDX-License-Identifier: Apache-2.0
// Matrix products as kernels: the shape decides which.
#include "device/objects.h"
#include "tensor/iterate.h"
#include "tensor/msl/msl.h"

typedef struct igi_tensor_msl_product {
    uint32_t rows, columns, inner;
    int32_t a_row, a_column, b_row, b_column, c_row, c_column, out_row, out_column;
    float alpha, beta;
    uint32_t adds;
    int64_t whole_alpha, whole_beta;
} igi_tensor_msl_product;

typedef enum kind { DOTS, ROWS, SIMDGROUP, TILED } kind;

static igi_tensor_msl_product product_of(const igi_tensor_call *call) {
    const igi_tensor_view *a = &call->in[0], *b = &call->in[1], *c = &call->in[2], *out = &call->out[0];
    uint32_t column = out->rank - 1, row = column - 1;
    igi_tensor_msl_product p = {.rows = (uint32_t)out->shape[row],
                                .columns = (uint32_t)out->shape[column],
                                .inner = (uint32_t)a->shape[column],
                                .a_row = (int32_t)a->strides[row],
                                .a_column = (int32_t)a->strides[column],
                                .b_row = (int32_t)b->strides[row],
                                .b_column = (int32_t)b->strides[column],
                                .out_row = (int32_t)out->strides[row],
                                .out_column = (int32_t)out->strides[column],
                                .alpha = (float)call->p.matmul.alpha,
                                .beta = (float)call->p.matmul.beta,
                                .adds = c->storage != NULL};
    if (!igi_tensor_is_float(out->type)) {
        p.whole_alpha = (int64_t)call->p.matmul.alpha;
        p.whole_beta = c->storage ? (int64_t)call->p.matmul.beta : 0;
    }
    if (c->storage) p.c_row = (int32_t)c->strides[row], p.c_column = (int32_t)c->strides[column];
    return p;
}

// Where the matrices of each batch begin.
static igi_tensor_view matrices(const igi_tensor_view *view) {
    igi_tensor_view starts = *view;
    starts.shape[view->rank - 1] = starts.shape[view->rank - 2] = 1;
    return starts;
}

static igi_tensor_msl_layout batches_of(const igi_tensor_call *call) {
    igi_tensor_view a = matrices(&call->in[0]), b = matrices(&call->in[1]), out = matrices(&call->out[0]);
    igi_tensor_view c = call->in[2].storage ? matrices(&call->in[2]) : out;
    igi_tensor_msl_layout layout;
    igi_tensor_msl_layout_of(4, (const igi_tensor_view *[]){&out, &a, &b, &c}, &layout);
    return layout;
}

// Narrow results are not worth tiles: dot products if both operands are contiguous along them, else a thread per
// element. simdgroup matrices are for GPUs, which have them in hardware; small products use them everywhere, so that
// all kinds are tested. Integers use the plain kernels.
static kind kind_for(const igi_tensor_msl_product *p, bool whole, bool software) {
    if (whole) return p->rows < 8 || p->columns < 8 || p->inner < 8 ? ROWS : TILED;
    bool along = p->a_column == 1 && p->b_row == 1, narrow = p->rows < 8 || p->columns < 8;
    if ((narrow && along && p->inner >= 32) || (uint64_t)p->rows * p->columns < 8) return DOTS;
    if (narrow || p->inner < 8) return ROWS;
    return !software || (uint64_t)p->rows * p->columns * p->inner < 1 << 15 ? SIMDGROUP : TILED;
}

static ig_size tiles(const ig_size *results, uint64_t width, uint64_t height) {
    return (ig_size){(results->x + width - 1) / width, (results->y + height - 1) / height, results->z};
}

// ---- The device's own products ----

// A matrix with contiguous rows, or the transpose of one, whose last row is entirely inside the buffer.
static bool matrix_of(const igi_tensor_view *view, igi_device_matrix *matrix, bool *transposed) {
    uint32_t column = view->rank - 1, row = column - 1;
    *transposed = view->strides[column] != 1;
    uint32_t along = *transposed ? row : column, across = *transposed ? column : row;
    *matrix = (igi_device_matrix){view->storage->buffer, view->offset, view->shape[across], view->shape[along],
                                  (uint64_t)view->strides[across] * sizeof(float)};
    uint64_t length;
    return view->strides[along] == 1 && view->strides[across] >= (int64_t)view->shape[along] &&
           view->offset % sizeof(float) == 0 && igi_mul(matrix->rows, matrix->row_bytes, &length) &&
           igi_in_range(matrix->offset, length, matrix->buffer->length);
}

// One product of floats that adds nothing; kernels handle batches.
static bool device_product_of(const igi_tensor_call *call, const igi_tensor_msl_product *p,
                              igi_device_product *product) {
    bool turned;
    *product = (igi_device_product){.alpha = call->p.matmul.alpha};
    return call->runtime->device_products && call->out[0].type == IG_TYPE_F32 && !p->adds &&
           igi_tensor_view_count(&call->out[0]) == (uint64_t)p->rows * p->columns &&
           matrix_of(&call->in[0], &product->left, &product->transpose_left) &&
           matrix_of(&call->in[1], &product->right, &product->transpose_right) &&
           matrix_of(&call->out[0], &product->result, &turned) && !turned;
}

ig_status igi_tensor_msl_matmul(const igi_tensor_call *call) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    static const char *const names[] = {[DOTS] = "dots", [ROWS] = "rows", [SIMDGROUP] = "simdgroup", [TILED] = "tiled"};
    igi_tensor_msl_product p = product_of(call);
    igi_tensor_msl_layout batches = batches_of(call);
    kind which = kind_for(&p, !igi_tensor_is_float(call->out[0].type), call->runtime->software_device);
    igi_device_product product;
    if (which >= SIMDGROUP && device_product_of(call, &p, &product))
        return igi_device_commands_product(call->commands, &product);
    uint32_t batch = (uint32_t)(igi_tensor_view_count(&call->out[0]) / p.rows / p.columns);
    uint32_t consecutive = (p.a_column == 1) | (p.b_column == 1) << 1 | (p.out_column == 1) << 2;
    bool strided = which == DOTS && (p.a_column != 1 || p.b_row != 1);
    igi_tensor_msl_encoder e =
        igi_tensor_msl_begin(call, "matmul", which == DOTS ? 0 : consecutive, "%s_%s%s", names[which],
                             strided ? "strided_" : "", ig_type_name(call->in[0].type));
    // Empty sums have no memory to bind.
    igi_tensor_msl_view(&e, p.inner ? &call->in[0] : &call->out[0], 0);
    igi_tensor_msl_view(&e, p.inner ? &call->in[1] : &call->out[0], 1);
    igi_tensor_msl_view(&e, p.adds ? &call->in[2] : &call->out[0], 2);
    igi_tensor_msl_view(&e, &call->out[0], 3);
    igi_tensor_msl_bytes(&e, &p, sizeof p, 4);
    igi_tensor_msl_bytes(&e, &batches, sizeof batches, 5);
    ig_size results = {p.columns, p.rows, batch};
    switch (which) {
        case DOTS: igi_tensor_msl_groups(&e, results, (ig_size){32, 1, 1}); break;
        case ROWS: igi_tensor_msl_threads(&e, results); break;
        case SIMDGROUP: igi_tensor_msl_groups(&e, tiles(&results, 64, 32), (ig_size){32, 4, 1}); break;
        case TILED: igi_tensor_msl_groups(&e, tiles(&results, 32, 64), (ig_size){16, 16, 1}); break;
    }
    return e.status;
}
