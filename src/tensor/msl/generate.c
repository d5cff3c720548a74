// SPDX-License-Identifier: Apache-2.0
// Constants, sequences and random numbers as kernels.
#include <math.h>

#include "tensor/msl/msl.h"
#include "tensor/types.h"

typedef struct random_parameters {
    uint64_t seed, position;
    float first, second, high, below;
} random_parameters;

static uint32_t consecutive(const igi_tensor_call *call) {
    return igi_tensor_view_count(&call->out[0]) >= 4096 && igi_tensor_view_is_contiguous(&call->out[0]);
}

static void finish(igi_tensor_msl_encoder *e) {
    const igi_tensor_view *out = &e->call->out[0];
    igi_tensor_msl_layout layout;
    igi_tensor_msl_layout_of(1, &out, &layout);
    uint64_t inner = layout.shape[layout.rank - 1];
    igi_tensor_msl_view(e, out, 0);
    igi_tensor_msl_bytes(e, &layout, sizeof layout, 2);
    igi_tensor_msl_threads(e, (ig_size){inner, igi_tensor_view_count(out) / inner, 1});
}

ig_status igi_tensor_msl_fill(const igi_tensor_call *call) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    ig_type type = call->out[0].type;
    uint64_t element = 0;
    igi_tensor_store_doubles(type, (char *)&element, 0, 1, &call->p.range.start);
    igi_tensor_msl_encoder e =
        igi_tensor_msl_begin(call, "generate", consecutive(call), "fill_%u", (unsigned)ig_type_size(type));
    igi_tensor_msl_bytes(&e, &element, ig_type_size(type), 1);
    finish(&e);
    return e.status;
}

// ---- Sequences ----

// Integers from whole numbers; floats as long as the counter is exact.
bool igi_tensor_msl_accepts_arange(const igi_tensor_call *call) {
    const igi_tensor_view *out = &call->out[0];
    if (!igi_tensor_msl_can_index(out)) return false;
    if (igi_tensor_is_float(out->type)) return igi_tensor_view_count(out) <= 1 << 24 && isfinite(call->p.range.start);
    return igi_tensor_is_whole(call->p.range.start) && igi_tensor_is_whole(call->p.range.step);
}

ig_status igi_tensor_msl_arange(const igi_tensor_call *call) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    ig_type type = call->out[0].type;
    double start = call->p.range.start, step = call->p.range.step;
    igi_tensor_msl_encoder e =
        igi_tensor_msl_begin(call, "generate", consecutive(call), "arange_%s", ig_type_name(type));
    if (igi_tensor_is_float(type)) {
        float high = (float)start, high_step = (float)step;
        float range[4] = {high, (float)(start - high), high_step, (float)(step - high_step)};
        igi_tensor_msl_bytes(&e, range, sizeof range, 1);
    } else {
        igi_tensor_msl_bytes(&e, (int64_t[]){(int64_t)start, (int64_t)step}, 2 * sizeof(int64_t), 1);
    }
    finish(&e);
    return e.status;
}

// ---- Random numbers ----

// The value rounded to the type.
static double rounded(ig_type type, double value) {
    char element[8];
    igi_tensor_store_doubles(type, element, 0, 1, &value);
    igi_tensor_load_doubles(type, element, 0, 1, &value);
    return value;
}

ig_status igi_tensor_msl_random(const igi_tensor_call *call) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    ig_type type = call->out[0].type;
    double high = rounded(type, call->p.random.second);
    random_parameters r = {.seed = call->p.random.seed,
                           .position = call->p.random.position,
                           .first = (float)call->p.random.first,
                           .second = (float)call->p.random.second,
                           .high = (float)high,
                           .below = (float)igi_tensor_next_below(type, high)};
    const igi_tensor_view *out = &call->out[0];
    uint64_t count = igi_tensor_view_count(out);
    bool blocks = r.position % 4 == 0 && igi_tensor_view_is_contiguous(out) &&
                  out->offset % (4 * (uint64_t)ig_type_size(type)) == 0;
    igi_tensor_msl_encoder e = igi_tensor_msl_begin(call, "generate", blocks ? 0 : consecutive(call), "%s_%s%s",
                                                    ig_op_name(call->op), blocks ? "blocks_" : "", ig_type_name(type));
    igi_tensor_msl_bytes(&e, &r, sizeof r, 1);
    if (!blocks) {
        finish(&e);
        return e.status;
    }
    igi_tensor_msl_view(&e, out, 0);
    igi_tensor_msl_bytes(&e, &(uint32_t){(uint32_t)count}, sizeof(uint32_t), 2);
    igi_tensor_msl_threads(&e, (ig_size){(count + 3) / 4, 1, 1});
    return e.status;
}
