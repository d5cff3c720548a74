// SPDX-License-Identifier: Apache-2.0
// Explaining which implementation dispatch would choose and why, and changing thresholds.
#include <string.h>

#include "tensor/stream.h"
#include "tensor/thresholds.h"

static void explain_backend(igi_tensor_runtime *runtime, ig_op op, ig_backend backend, bool validate,
                            ig_op_choice *choice) {
    igi_tensor_slot *slot = &runtime->slots[op][backend];
    if (slot->row && validate) igi_tensor_validate(runtime, op, backend);
    choice->state = slot->row ? (ig_op_state)atomic_load(&slot->state) : IG_OP_ABSENT;
    choice->types = slot->row ? slot->row->types : 0;
    choice->threshold = slot->threshold;
    memcpy(choice->reason, slot->row ? slot->reason : runtime->unavailable[backend], sizeof choice->reason);
}

ig_status ig_stream_explain(ig_stream *stream, ig_op op, bool validate, ig_op_explanation *explanation) {
    if (!stream || !explanation || (unsigned)op >= IG_OP_COUNT)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "stream_explain: stream and explanation must not be NULL, and the op a known one");
    *explanation = (ig_op_explanation){.name = ig_op_name(op),
                                       .family = igi_ops[op]->family,
                                       .work = igi_ops[op]->work ? "multiplications" : "elements",
                                       .forced = (ig_backend)stream->forced[op]};
    for (int b = IG_BACKEND_SCALAR; b < IG_BACKEND_COUNT; b++)
        explain_backend(stream->runtime, op, (ig_backend)b, validate, &explanation->backends[b]);
    const ig_backend *order = igi_tensor_preference(op);
    for (int i = 0; order[i] != IG_BACKEND_ANY; i++) explanation->order[i] = order[i];
    return IG_STATUS_OK;
}

static bool may_run(igi_tensor_runtime *runtime, ig_op op, ig_backend backend, ig_type type) {
    const igi_tensor_slot *slot = &runtime->slots[op][backend];
    return slot->row && igi_tensor_type_in(type, slot->row->types) &&
           igi_tensor_validate(runtime, op, backend) == IG_OP_VALIDATED;
}

ig_backend ig_stream_choice(ig_stream *stream, ig_op op, ig_type type, uint64_t work) {
    if (!stream || (unsigned)op >= IG_OP_COUNT) return IG_BACKEND_ANY;
    igi_tensor_runtime *runtime = stream->runtime;
    ig_type result;
    if (igi_tensor_type_in(type, IGI_ANY_TYPE)) igi_op_types(op, type, &type, &result);
    for (int b = stream->forced[op]; b > IG_BACKEND_ANY; b--)
        if (may_run(runtime, op, (ig_backend)b, type)) return (ig_backend)b;
    for (const ig_backend *b = igi_tensor_preference(op); *b != IG_BACKEND_ANY; b++)
        if (work >= runtime->slots[op][*b].threshold && may_run(runtime, op, *b, type)) return *b;
    return IG_BACKEND_SCALAR;
}

ig_status ig_stream_set_threshold(ig_stream *stream, ig_op op, ig_backend backend, uint64_t work) {
    if (!stream || (unsigned)op >= IG_OP_COUNT || backend <= IG_BACKEND_SCALAR || backend >= IG_BACKEND_COUNT)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "set_threshold: give a stream, a known op and a backend other than scalar");
    if (!stream->runtime->slots[op][backend].row)
        return igi_fail(IG_STATUS_NOT_FOUND, "set_threshold: backend '%s' has no '%s'", ig_backend_name(backend),
                        ig_op_name(op));
    stream->runtime->slots[op][backend].threshold = work;
    return IG_STATUS_OK;
}

ig_status ig_stream_save_thresholds(ig_stream *stream, ig_error *error) {
    if (!stream) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "the stream is NULL");
    return igi_tensor_thresholds_save(stream->runtime, error);
}
