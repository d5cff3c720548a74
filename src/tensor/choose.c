// SPDX-License-Identifier: Apache-2.0
// Which implementation runs a call.
#include "core/status-internal.h"
#include "tensor/runtime.h"

const ig_backend *igi_tensor_preference(ig_op op) {
    static const ig_backend products[] = {IG_BACKEND_BLAS, IG_BACKEND_MSL, IG_BACKEND_SIMD, IG_BACKEND_SCALAR,
                                          IG_BACKEND_ANY};
    static const ig_backend others[] = {IG_BACKEND_MSL, IG_BACKEND_SIMD, IG_BACKEND_SCALAR, IG_BACKEND_ANY};
    return igi_ops[op]->blas_first ? products : others;
}

static const igi_tensor_implementation *usable(igi_tensor_runtime *runtime, const igi_tensor_call *call,
                                               ig_backend backend) {
    igi_tensor_slot *slot = &runtime->slots[call->op][backend];
    const igi_tensor_implementation *row = slot->row;
    if (!row || !igi_tensor_type_in(igi_tensor_call_type(call), row->types)) return NULL;
    int state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (state == IG_OP_REJECTED || (row->accepts && !row->accepts(call))) return NULL;
    if (state == IG_OP_UNTRIED && igi_tensor_validate(runtime, call->op, backend) != IG_OP_VALIDATED) return NULL;
    return row;
}

// In reverse of the order in which the table was filled; the reference can do everything.
static const igi_tensor_implementation *choose_from(igi_tensor_runtime *runtime, const igi_tensor_call *call,
                                                    ig_backend highest, ig_backend *chosen) {
    const igi_tensor_implementation *row = NULL;
    for (int backend = highest; backend > IG_BACKEND_ANY && !row; backend--) {
        *chosen = (ig_backend)backend;
        row = usable(runtime, call, *chosen);
    }
    return row;
}

const igi_tensor_implementation *igi_tensor_choose(igi_tensor_runtime *runtime, const igi_tensor_call *call,
                                                   ig_backend forced, ig_backend only, ig_backend *chosen) {
    if (only != IG_BACKEND_ANY) {
        *chosen = only;
        return usable(runtime, call, only);
    }
    if (forced != IG_BACKEND_ANY) return choose_from(runtime, call, forced, chosen);
    uint64_t work = igi_tensor_call_work(call);
    for (const ig_backend *backend = igi_tensor_preference(call->op); *backend != IG_BACKEND_ANY; backend++) {
        if (work < runtime->slots[call->op][*backend].threshold) continue;
        const igi_tensor_implementation *row = usable(runtime, call, *backend);
        *chosen = *backend;
        if (row) return row;
    }
    return choose_from(runtime, call, IG_BACKEND_SCALAR, chosen);
}

ig_status igi_tensor_explain_refusal(igi_tensor_runtime *runtime, const igi_tensor_call *call, ig_backend only,
                                     ig_error *error) {
    const igi_tensor_slot *slot = &runtime->slots[call->op][only];
    const char *why = "does not have this op", *detail = "";
    if (!runtime->backends[only]) {
        why = "is not available: ", detail = runtime->unavailable[only];
    } else if (slot->row && atomic_load(&runtime->slots[call->op][only].state) == IG_OP_REJECTED) {
        why = "failed its validation: ", detail = slot->reason;
    } else if (slot->row && !igi_tensor_type_in(igi_tensor_call_type(call), slot->row->types)) {
        why = "does not have it for type ", detail = ig_type_name(igi_tensor_call_type(call));
    } else if (slot->row) {
        why = "cannot do it for operands of this shape";
    }
    return igi_error_set(error, IG_STATUS_UNSUPPORTED, "%s: backend '%s' %s%s", igi_tensor_call_name(call),
                         ig_backend_name(only), why, detail);
}
