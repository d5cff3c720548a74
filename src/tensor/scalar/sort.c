// SPDX-License-Identifier: Apache-2.0
// Sorting of the reference: a stable merge sort of each line. NaN is largest.
#include <math.h>

#include "tensor/lines.h"
#include "tensor/scalar/scalar.h"

typedef struct item {
    double value;     // of floats
    int64_t integer;  // of integers
    int64_t index;
} item;

typedef struct context {
    const igi_tensor_call *call;
    bool floats, descending;
    uint64_t length;
    item *items, *spare;
} context;

static bool less(const context *c, const item *a, const item *b) {
    if (!c->floats) return a->integer < b->integer;
    return isnan(b->value) ? !isnan(a->value) : a->value < b->value;
}

// Whether b must come before a, which precedes it.
static bool out_of_order(const context *c, const item *a, const item *b) {
    return c->descending ? less(c, a, b) : less(c, b, a);
}

static void merge(const context *c, const item *from, item *to, uint64_t begin, uint64_t middle, uint64_t end) {
    uint64_t left = begin, right = middle;
    for (uint64_t at = begin; at < end; at++) {
        bool take_right = left == middle || (right < end && out_of_order(c, &from[left], &from[right]));
        to[at] = take_right ? from[right++] : from[left++];
    }
}

// Runs of doubling length, from one array to the other and back.
static const item *sort(const context *c) {
    item *from = c->items, *to = c->spare;
    uint64_t length = c->length;
    for (uint64_t run = 1; run < length; run *= 2) {
        for (uint64_t begin = 0; begin < length; begin += 2 * run) {
            uint64_t middle = length - begin < run ? length : begin + run;
            uint64_t end = length - middle < run ? length : middle + run;
            merge(c, from, to, begin, middle, end);
        }
        item *swap = from;
        from = to, to = swap;
    }
    return from;
}

static void sort_line(void *user, const igi_tensor_lines *lines, char *const *starts) {
    const context *c = user;
    const igi_tensor_view *x = &c->call->in[0], *values = &c->call->out[0], *indices = &c->call->out[1];
    for (uint64_t i = 0; i < c->length; i++) {
        const char *at = starts[0] + (int64_t)i * lines->strides[0];
        item *it = &c->items[i];
        it->index = (int64_t)i;
        if (c->floats)
            igi_tensor_load_doubles(x->type, at, 0, 1, &it->value);
        else
            igi_tensor_load_integers(x->type, at, 0, 1, &it->integer);
    }
    const item *sorted = sort(c);
    uint64_t wanted = values->shape[c->call->p.sort.axis];
    for (uint64_t i = 0; i < wanted; i++) {
        char *value = starts[1] + (int64_t)i * lines->strides[1], *index = starts[2] + (int64_t)i * lines->strides[2];
        if (c->floats)
            igi_tensor_store_doubles(values->type, value, 0, 1, &sorted[i].value);
        else
            igi_tensor_store_integers(values->type, value, 0, 1, &sorted[i].integer);
        igi_tensor_store_integers(indices->type, index, 0, 1, &sorted[i].index);
    }
}

ig_status igi_scalar_sort(const igi_tensor_call *call) {
    const igi_tensor_view *x = &call->in[0];
    uint64_t length = x->shape[call->p.sort.axis], bytes;
    if (!igi_mul(length, 2 * sizeof(item), &bytes)) return IG_STATUS_OVERFLOW;
    igi_tensor_storage *scratch = NULL;
    ig_status status = igi_tensor_storage_make(call->runtime->device, bytes, &scratch);
    if (status != IG_STATUS_OK) return status;
    item *items = (item *)scratch->memory;
    context c = {call, igi_tensor_is_float(x->type), call->p.sort.descending, length, items, items + length};
    igi_tensor_lines lines =
        igi_tensor_lines_of(3, (const igi_tensor_view *[]){x, &call->out[0], &call->out[1]}, call->p.sort.axis);
    igi_tensor_lines_visit(&lines, 0, lines.count, sort_line, &c);
    igi_tensor_storage_release(scratch);
    return IG_STATUS_OK;
}
