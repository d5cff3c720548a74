// SPDX-License-Identifier: Apache-2.0
// Which implementation runs a call.
#include <stdio.h>

#include "core/status-internal.h"
#include "tensor/runtime.h"

const ig_backend *igi_preference(ig_op op) {
    static const ig_backend products[] = {IG_BACKEND_BLAS, IG_BACKEND_METAL, IG_BACKEND_SIMD, IG_BACKEND_SCALAR,
                                          IG_BACKEND_ANY};
    static const ig_backend others[] = {IG_BACKEND_METAL, IG_BACKEND_SIMD, IG_BACKEND_SCALAR, IG_BACKEND_ANY};
    return igi_ops[op].family == IGI_FAMILY_MATMUL ? products : others;
}

static const igi_implementation *usable(igi_runtime *runtime, const igi_call *call, ig_backend backend) {
    igi_slot *slot = &runtime->slots[call->op][backend];
    const igi_implementation *row = slot->row;
    if (!row || !igi_type_in(igi_call_type(call), row->types)) return NULL;
    int state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (state == IG_OP_REJECTED || (row->accepts && !row->accepts(call))) return NULL;
    if (state == IG_OP_UNTRIED && igi_validate(runtime, call->op, backend) != IG_OP_VALIDATED) return NULL;
    return row;
}

// In the order in which the table was filled, downwards; the reference can do everything.
static const igi_implementation *choose_from(igi_runtime *runtime, const igi_call *call, ig_backend highest,
                                             ig_backend *chosen) {
    const igi_implementation *row = NULL;
    for (int backend = highest; backend > IG_BACKEND_ANY && !row; backend--) {
        *chosen = (ig_backend)backend;
        row = usable(runtime, call, *chosen);
    }
    return row;
}

const igi_implementation *igi_choose(igi_runtime *runtime, const igi_call *call, ig_backend forced, ig_backend only,
                                     ig_backend *chosen) {
    if (only != IG_BACKEND_ANY) {
        *chosen = only;
        return usable(runtime, call, only);
    }
    if (forced != IG_BACKEND_ANY) return choose_from(runtime, call, forced, chosen);
    uint64_t work = igi_call_work(call);
    for (const ig_backend *backend = igi_preference(call->op); *backend != IG_BACKEND_ANY; backend++) {
        if (work < runtime->slots[call->op][*backend].threshold) continue;
        const igi_implementation *row = usable(runtime, call, *backend);
        *chosen = *backend;
        if (row) return row;
    }
    return choose_from(runtime, call, IG_BACKEND_SCALAR, chosen);
}

ig_status igi_explain_refusal(igi_runtime *runtime, const igi_call *call, ig_backend only, ig_error *error) {
    const igi_slot *slot = &runtime->slots[call->op][only];
    const char *why = "does not have this op";
    char text[160];
    if (!runtime->backends[only]) {
        snprintf(text, sizeof text, "is not available: %s", runtime->unavailable[only]);
        why = text;
    } else if (slot->row && atomic_load(&runtime->slots[call->op][only].state) == IG_OP_REJECTED) {
        snprintf(text, sizeof text, "failed its validation: %s", slot->reason);
        why = text;
    } else if (slot->row && !igi_type_in(igi_call_type(call), slot->row->types)) {
        snprintf(text, sizeof text, "does not have it for type %s", ig_type_name(igi_call_type(call)));
        why = text;
    } else if (slot->row) {
        why = "cannot do it for operands of this shape";
    }
    return igi_error_set(error, IG_STATUS_UNSUPPORTED, "%s: backend '%s' %s", igi_call_name(call),
                         ig_backend_name(only), why);
}

// ---- Calls ----

const char *igi_call_name(const igi_call *call) {
    return call->name ? call->name : ig_op_name(call->op);
}

ig_type igi_call_type(const igi_call *call) {
    if (call->op == IG_OP_WHERE) return call->in[1].type;
    if (call->op == IG_OP_DEQUANTIZE) return call->out[0].type;
    return call->input_count ? call->in[0].type : call->out[0].type;
}

uint64_t igi_call_work(const igi_call *call) {
    uint64_t most = igi_view_count(&call->out[0]);
    for (uint32_t i = 0; i < call->input_count; i++) {
        uint64_t count = call->in[i].storage ? igi_view_count(&call->in[i]) : 0;
        if (count > most) most = count;
    }
    if (call->op == IG_OP_MATMUL) {
        uint64_t inner = call->in[0].shape[call->in[0].rank - 1];
        return igi_mul(igi_view_count(&call->out[0]), inner, &most) ? most : UINT64_MAX;
    }
    if (call->op == IG_OP_WEIGHT_MATMUL)
        return igi_mul(igi_view_count(&call->out[0]), call->in[0].shape[1], &most) ? most : UINT64_MAX;
    if (call->op == IG_OP_ATTENTION)
        return igi_mul(igi_view_count(&call->out[0]), call->p.attend.keys, &most) ? most : UINT64_MAX;
    if (call->op == IG_OP_CONV) {
        uint64_t each = igi_view_count(&call->in[1]) / (call->in[1].shape[0] ? call->in[1].shape[0] : 1);
        return igi_mul(igi_view_count(&call->out[0]), each, &most) ? most : UINT64_MAX;
    }
    return most;
}
