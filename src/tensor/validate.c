// SPDX-License-Identifier: Apache-2.0
// Validation: an implementation is used only after it gave the reference's results on this machine.
#include <stdio.h>
#include <string.h>

#include "core/status-internal.h"
#include "device/objects.h"
#include "tensor-identity.h"
#include "tensor/runtime.h"
#include "tensor/samples.h"

// Kernels for validation are small; one that takes longer than this hangs.
static const uint64_t device_timeout_ns = 20000000000u;

// ---- One sample ----

static ig_status run_on_device(igi_tensor_runtime *runtime, const igi_tensor_implementation *row,
                               igi_tensor_call *call) {
    ig_status status = ig_commands_create(runtime->queue, &(ig_commands_desc){.label = "validation"}, &call->commands);
    if (status == IG_STATUS_OK) status = row->run(call);
    if (status == IG_STATUS_OK) status = ig_commands_commit(call->commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(call->commands, device_timeout_ns);
    ig_commands_release(call->commands);
    call->commands = NULL;
    return status;
}

typedef struct trial {
    igi_tensor_runtime *runtime;
    const igi_tensor_implementation *row;
    ig_backend backend;
    uint32_t compared;
    bool out_of_memory;  // which says nothing about the implementation
    ig_error error;
    char *reason;  // 120 characters; filled on failure
} trial;

static bool reject(trial *t, const igi_tensor_sample_spec *spec, const char *what) {
    snprintf(t->reason, 120, "%s, shape %u: %s", ig_type_name(spec->type), spec->shape, what);
    return false;
}

static bool reject_for_status(trial *t, const igi_tensor_sample_spec *spec, ig_status status) {
    t->out_of_memory = status == IG_STATUS_OUT_OF_MEMORY;
    return reject(t, spec, t->error.message ? t->error.message : ig_status_text(status));
}

static bool compare(trial *t, const igi_tensor_sample_spec *spec, const igi_tensor_sample *sample) {
    char difference[IGI_DIFFERENCE_TEXT];
    igi_tensor_tolerance tolerance = igi_tensor_tolerance_for(&sample->call, sample->scale);
    for (uint32_t i = 0; i < sample->call.output_count; i++)
        if (!igi_tensor_views_agree(&sample->call.out[i], &sample->again[i], tolerance, difference))
            return reject(t, spec, difference);
    t->compared++;
    return true;
}

static bool try_sample(trial *t, const igi_tensor_sample_spec *spec, igi_tensor_sample *sample) {
    igi_tensor_runtime *runtime = t->runtime;
    sample->call.runtime = runtime;
    sample->call.error = &t->error;
    if (t->row->accepts && !t->row->accepts(&sample->call)) return true;
    ig_status status = runtime->slots[spec->op][IG_BACKEND_SCALAR].row->run(&sample->call);
    if (status != IG_STATUS_OK) return reject_for_status(t, spec, status);
    igi_tensor_call tested = sample->call;
    memcpy(tested.out, sample->again, sizeof tested.out);
    bool encodes = runtime->backends[t->backend]->encodes;
    status = encodes ? run_on_device(runtime, t->row, &tested) : t->row->run(&tested);
    if (status != IG_STATUS_OK) return reject_for_status(t, spec, status);
    return compare(t, spec, sample);
}

// ---- All samples ----

static bool try_spec(trial *t, const igi_tensor_sample_spec *spec) {
    igi_tensor_sample sample;
    if (!igi_tensor_sample_applies(spec)) return true;
    ig_status status = igi_tensor_sample_make(t->runtime->device, spec, &sample);
    if (status != IG_STATUS_OK) return reject_for_status(t, spec, status);
    bool good = try_sample(t, spec, &sample);
    igi_tensor_sample_free(&sample);
    return good;
}

static bool try_type(trial *t, ig_op op, ig_type type) {
    uint32_t shapes = igi_tensor_sample_shapes(op);
    t->compared = 0;
    bool applies = false;
    for (uint32_t shape = 0; shape < shapes && shape < IGI_VALIDATION_SHAPES; shape++)
        for (int layout = IGI_LAYOUT_CONTIGUOUS; layout <= IGI_LAYOUT_TRANSPOSED; layout++)
            for (int values = 0; values < IGI_VALUES_COUNT; values++) {
                igi_tensor_sample_spec spec = {op, type, shape, (igi_tensor_sample_layout)layout,
                                               (igi_tensor_sample_values)values};
                applies = applies || igi_tensor_sample_applies(&spec);
                if (!try_spec(t, &spec)) return false;
            }
    if (t->compared || !applies) return true;
    snprintf(t->reason, 120, "%s: it accepts none of the samples", ig_type_name(type));
    return false;
}

// UNTRIED if there was not enough memory to try.
static ig_op_state try_all(igi_tensor_runtime *runtime, ig_op op, ig_backend backend, char *reason) {
    trial t = {.runtime = runtime, .row = runtime->slots[op][backend].row, .backend = backend, .reason = reason};
    bool good = true;
    for (int type = 0; type < IG_TYPE_COUNT && good; type++)
        if (t.row->types >> type & 1) good = try_type(&t, op, (ig_type)type);
    ig_error_clear(&t.error);
    if (good) return IG_OP_VALIDATED;
    return t.out_of_memory ? IG_OP_UNTRIED : IG_OP_REJECTED;
}

// ---- Verdicts ----

igi_hash igi_tensor_verdict_key(const igi_tensor_runtime *runtime, const char *what, ig_backend backend) {
    const ig_device_properties *device = &runtime->device->properties;
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add_string(hasher, "op verdict " TENSOR_IDENTITY);
    igi_hasher_add_string(hasher, device->name);
    igi_hasher_add_string(hasher, device->target);
    igi_hasher_add_string(hasher, device->features);
    igi_hasher_add_string(hasher, device->compiler);
    igi_hasher_add_string(hasher, runtime->identities[backend]);
    igi_hasher_add_string(hasher, what);
    igi_hasher_add_u64(hasher, backend);
    return igi_hasher_finish(hasher);
}

// Only good results are kept: a bad one is checked again by every process, which then reports it in its log.
bool igi_tensor_verdict_is_good(const igi_tensor_runtime *runtime, igi_hash key) {
    char *data = NULL;
    size_t length = 0;
    if (!runtime->keeps_verdicts || !igi_hash_valid(key)) return false;
    bool found = igi_disk_cache_get(runtime->cache, key, &data, &length);
    bool good = found && length == 4 && memcmp(data, "good", 4) == 0;
    free(data);
    return good;
}

void igi_tensor_verdict_keep(const igi_tensor_runtime *runtime, igi_hash key) {
    if (runtime->keeps_verdicts && igi_hash_valid(key)) igi_disk_cache_put(runtime->cache, key, "good", 4);
}

static ig_op_state find_verdict(igi_tensor_runtime *runtime, ig_op op, ig_backend backend) {
    igi_tensor_slot *slot = &runtime->slots[op][backend];
    igi_hash key = igi_tensor_verdict_key(runtime, ig_op_name(op), backend);
    if (igi_tensor_verdict_is_good(runtime, key)) return IG_OP_VALIDATED;
    ig_op_state state = try_all(runtime, op, backend, slot->reason);
    if (state == IG_OP_VALIDATED) igi_tensor_verdict_keep(runtime, key);
    if (state != IG_OP_REJECTED) return state;
    igi_log(IG_LOG_WARNING, "op '%s' of backend '%s' gives wrong results on this machine and is not used: %s",
            ig_op_name(op), ig_backend_name(backend), slot->reason);
    return state;
}

ig_op_state igi_tensor_validate(igi_tensor_runtime *runtime, ig_op op, ig_backend backend) {
    igi_tensor_slot *slot = &runtime->slots[op][backend];
    if (!slot->row) return IG_OP_ABSENT;
    int state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (state != IG_OP_UNTRIED) return (ig_op_state)state;
    pthread_mutex_lock(&runtime->lock);
    state = atomic_load(&slot->state);
    if (state == IG_OP_UNTRIED) {
        state = find_verdict(runtime, op, backend);
        atomic_store_explicit(&slot->state, state, memory_order_release);
    }
    pthread_mutex_unlock(&runtime->lock);
    return (ig_op_state)state;
}
