// SPDX-License-Identifier: Apache-2.0
// Matrix products as kernels: the shape decides which.
#include "tensor/iterate.h"
#include "tensor/metal/metal.h"

typedef struct igi_metal_product {
    uint32_t rows, columns, inner;
    int32_t a_row, a_column, b_row, b_column, c_row, c_column, out_row, out_column;
    float alpha, beta;
    uint32_t adds;
} igi_metal_product;

typedef enum kind { DOTS, ROWS, SIMDGROUP, TILED } kind;

static igi_metal_product product_of(const igi_call *call) {
    const igi_view *a = &call->in[0], *b = &call->in[1], *c = &call->in[2], *out = &call->out[0];
    uint32_t column = out->rank - 1, row = column - 1;
    igi_metal_product p = {.rows = (uint32_t)out->shape[row],
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
    if (c->storage) p.c_row = (int32_t)c->strides[row], p.c_column = (int32_t)c->strides[column];
    return p;
}

// Where the matrices of each batch begin.
static igi_view matrices(const igi_view *view) {
    igi_view starts = *view;
    starts.shape[view->rank - 1] = starts.shape[view->rank - 2] = 1;
    return starts;
}

static igi_metal_layout batches_of(const igi_call *call) {
    igi_view a = matrices(&call->in[0]), b = matrices(&call->in[1]), out = matrices(&call->out[0]);
    igi_view c = call->in[2].storage ? matrices(&call->in[2]) : out;
    igi_metal_layout layout;
    igi_metal_layout_of(4, (const igi_view *[]){&out, &a, &b, &c}, &layout);
    return layout;
}

// Narrow results are not worth tiles: dot products where both operands lie along them, else a thread each.
static kind kind_for(const igi_metal_product *p, bool *consecutive) {
    bool along = p->a_column == 1 && p->b_row == 1, narrow = p->rows < 8 || p->columns < 8;
    *consecutive = true;
    if ((narrow && along && p->inner >= 32) || (uint64_t)p->rows * p->columns < 8) {
        *consecutive = along;
        return DOTS;
    }
    if (narrow || p->inner < 8) {
        *consecutive = p->b_column == 1;
        return ROWS;
    }
    return TILED;
}

ig_status igi_metal_matmul(const igi_call *call) {
    if (igi_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    static const char *const names[] = {[DOTS] = "dots", [ROWS] = "rows", [SIMDGROUP] = "simdgroup", [TILED] = "tiled"};
    igi_metal_product p = product_of(call);
    igi_metal_layout batches = batches_of(call);
    bool consecutive;
    kind which = kind_for(&p, &consecutive);
    uint32_t batch = (uint32_t)(igi_view_count(&call->out[0]) / p.rows / p.columns);
    igi_metal_encoder e = igi_metal_begin(call, "matmul", "%s_%s%s", names[which], consecutive ? "" : "strided_",
                                          ig_type_name(call->in[0].type));
    // Sums of nothing have no memory to bind.
    igi_metal_view(&e, p.inner ? &call->in[0] : &call->out[0], 0);
    igi_metal_view(&e, p.inner ? &call->in[1] : &call->out[0], 1);
    igi_metal_view(&e, p.adds ? &call->in[2] : &call->out[0], 2);
    igi_metal_view(&e, &call->out[0], 3);
    igi_metal_bytes(&e, &p, sizeof p, 4);
    igi_metal_bytes(&e, &batches, sizeof batches, 5);
    ig_size tiles = {(p.columns + 63) / 64, (p.rows + 31) / 32, batch}, results = {p.columns, p.rows, batch};
    switch (which) {
        case DOTS: igi_metal_groups(&e, results, (ig_size){32, 1, 1}); break;
        case ROWS: igi_metal_threads(&e, results); break;
        case SIMDGROUP: igi_metal_groups(&e, tiles, (ig_size){128, 1, 1}); break;
        case TILED: igi_metal_groups(&e, tiles, (ig_size){64, 1, 1}); break;
    }
    return e.status;
}
