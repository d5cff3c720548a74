// SPDX-License-Identifier: Apache-2.0
// Reductions as kernels: the layout of a result's elements decides which kernel, and their number the number of parts.
#include <math.h>
#include <stdio.h>

#include "tensor/iterate.h"
#include "tensor/msl/msl.h"

typedef struct igi_tensor_msl_reduction {
    uint32_t length, parts, part_length;
    float correction;
} igi_tensor_msl_reduction;

typedef struct plan {
    const igi_tensor_call *call;
    char name[16];
    const char *type;  // of elements, as kernels name it
    uint64_t results;
    bool whole;  // states are integers
    bool columns, consecutive;
    igi_tensor_msl_reduction reduction;
    igi_tensor_msl_layout kept, reduced;
    igi_tensor_storage *states;  // of the parts
} plan;

// A part must be worth a threadgroup, and there are only as many as keep the device busy.
static void divide(plan *p, uint64_t length) {
    bool software = p->call->runtime->software_device;
    uint64_t least = p->columns ? 512 : software ? 1 << 15 : 1 << 12, wanted = software ? 16 : 1024;
    uint64_t busy = p->columns ? (p->results + 31) / 32 : p->results, parts = length / least;
    if (parts > wanted / busy) parts = wanted / busy;
    if (parts < 1) parts = 1;
    uint64_t part = ((length + parts - 1) / parts + 31) / 32 * 32;
    p->reduction.parts = part ? (uint32_t)((length + part - 1) / part) : 1;
    p->reduction.part_length = part ? (uint32_t)part : 32;
}

static void lay_out(plan *p) {
    const igi_tensor_call *call = p->call;
    igi_tensor_view kept = igi_tensor_view_half(&call->in[0], call->p.reduce.axes, false);
    igi_tensor_view reduced = igi_tensor_view_half(&call->in[0], call->p.reduce.axes, true);
    uint64_t length = igi_tensor_view_count(&reduced);
    igi_tensor_msl_layout_of(2, (const igi_tensor_view *[]){&call->out[0], &kept}, &p->kept);
    igi_tensor_msl_layout_of(1, (const igi_tensor_view *[]){&reduced}, &p->reduced);
    p->results = igi_tensor_view_count(&call->out[0]);
    p->consecutive = p->reduced.rank == 1 && (p->reduced.strides[0][0] == 1 || length <= 1);
    p->columns = !(p->consecutive && length >= 16) && (p->results >= 64 || length <= 64);
    p->reduction.length = (uint32_t)length;
    p->reduction.correction = (float)call->p.reduce.correction;
    divide(p, length);
}

// Kernels need a buffer to be bound even if there is one part, or no elements.
static ig_status make_states(plan *p) {
    uint64_t largest = 16;  // an integer with its position
    return igi_tensor_storage_make(p->call->runtime->device, p->results * p->reduction.parts * largest, &p->states);
}

static void bind(const plan *p, igi_tensor_msl_encoder *e) {
    igi_tensor_msl_view(e, &p->call->out[0], 1);
    igi_tensor_msl_storage(e, p->states, 0, 2);
    igi_tensor_msl_bytes(e, &p->reduction, sizeof p->reduction, 3);
    igi_tensor_msl_bytes(e, &p->kept, sizeof p->kept, 4);
}

static ig_status encode_elements(const plan *p) {
    const igi_tensor_call *call = p->call;
    bool large = p->columns && igi_tensor_view_count(&call->in[0]) >= 4096;
    uint32_t last = p->kept.rank - 1, consecutive = large && p->kept.strides[0][last] == 1;
    if (large && p->kept.strides[1][last] == 1) consecutive |= 2;
    const char *kind = p->columns ? "columns_" : p->consecutive ? "" : "strided_";
    igi_tensor_msl_encoder e = igi_tensor_msl_begin(call, "reduce", consecutive, "%s_%s%s", p->name, kind, p->type);
    if (p->reduction.length)
        igi_tensor_msl_view(&e, &call->in[0], 0);
    else
        igi_tensor_msl_storage(&e, p->states, 0, 0);
    bind(p, &e);
    igi_tensor_msl_bytes(&e, &p->reduced, sizeof p->reduced, 5);
    uint64_t inner = p->kept.shape[p->kept.rank - 1];
    uint32_t threads = call->runtime->software_device || p->reduction.part_length <= 128 ? 32 : 256;
    if (p->columns)
        igi_tensor_msl_threads(&e, (ig_size){inner, p->results / inner * p->reduction.parts, 1});
    else
        igi_tensor_msl_groups(&e, (ig_size){p->reduction.parts, p->results, 1}, (ig_size){threads, 1, 1});
    return e.status;
}

static ig_status encode_parts(const plan *p) {
    ig_type type = p->call->out[0].type;
    igi_tensor_msl_encoder e = igi_tensor_msl_begin(p->call, "reduce", 0, "%s_parts_%s", p->name,
                                                    p->whole ? igi_tensor_msl_bits_name(type) : ig_type_name(type));
    bind(p, &e);
    igi_tensor_msl_groups(&e, (ig_size){p->results, 1, 1}, (ig_size){32, 1, 1});
    return e.status;
}

static const char *norm_name(double order) {
    return isinf(order) ? "norminf" : order == 1 ? "norm1" : "norm2";
}

ig_status igi_tensor_msl_reduce(const igi_tensor_call *call) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    ig_type type = call->in[0].type;
    plan p = {.call = call, .type = igi_tensor_msl_bits_name(type)};
    p.whole = !igi_tensor_is_float(type) && call->op != IG_OP_ANY && call->op != IG_OP_ALL;
    snprintf(p.name, sizeof p.name, "%s%s", p.whole ? "int_" : "",
             call->op == IG_OP_NORM ? norm_name(call->p.reduce.order) : ig_op_name(call->op));
    lay_out(&p);
    ig_status status = make_states(&p);
    if (status == IG_STATUS_OK) status = encode_elements(&p);
    if (status == IG_STATUS_OK && p.reduction.parts > 1) status = encode_parts(&p);
    igi_tensor_storage_release(p.states);
    return status;
}
