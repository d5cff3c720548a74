// SPDX-License-Identifier: Apache-2.0
// Weights: matrices that carry their format.
#include "tensor/nn/weight.h"

#define ELEMENT(id)                          \
    ((id) == IG_WEIGHT_F32    ? IG_TYPE_F32  \
     : (id) == IG_WEIGHT_F16  ? IG_TYPE_F16  \
     : (id) == IG_WEIGHT_BF16 ? IG_TYPE_BF16 \
                              : IG_TYPE_U8)

const igi_tensor_weight_format igi_tensor_weight_formats[IG_WEIGHT_TYPE_COUNT] = {
#define FORMAT(id, name, weights, bytes) [IG_WEIGHT_##id] = {#name, weights, bytes, ELEMENT(IG_WEIGHT_##id)},
    IG_WEIGHT_TYPE_LIST(FORMAT)
#undef FORMAT
};

const char *ig_weight_type_name(ig_weight_type type) {
    return (unsigned)type < IG_WEIGHT_TYPE_COUNT ? igi_tensor_weight_formats[type].name : "unknown";
}

ig_status ig_weight_size(ig_weight_type type, uint64_t rows, uint64_t columns, uint64_t *bytes) {
    uint64_t size;
    if ((unsigned)type >= IG_WEIGHT_TYPE_COUNT || !bytes)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "weight_size: the type is unknown or bytes is NULL");
    const igi_tensor_weight_format *format = &igi_tensor_weight_formats[type];
    if (columns % format->weights)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT,
                        "weight_size: %llu columns are not a multiple of the block size %u of %s weights",
                        (unsigned long long)columns, (unsigned)format->weights, format->name);
    bool fits = igi_mul(columns / format->weights, format->bytes, &size) && igi_mul(size, rows, &size);
    if (!fits || size > INT64_MAX)
        return igi_fail_with(IG_STATUS_OVERFLOW, "weight_size: the weight is too large to be addressed");
    *bytes = size;
    return IG_STATUS_OK;
}

// The shape in elements, or in bytes of blocks.
static void shape_of(const ig_weight_desc *desc, uint64_t shape[2]) {
    bool plain = igi_tensor_weight_is_plain(desc->type);
    shape[0] = desc->rows;
    shape[1] = plain ? desc->columns : igi_tensor_weight_row_bytes(desc->type, desc->columns);
}

ig_status ig_weight_create(ig_device *device, const ig_weight_desc *desc, ig_weight **weight) {
    uint64_t bytes;
    if (!device || !desc || !weight)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "weight_create: device, desc and weight must not be NULL");
    if (!desc->bytes && !desc->no_copy && !desc->buffer)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "weight_create: give bytes, no_copy or a buffer");
    ig_status status = ig_weight_size(desc->type, desc->rows, desc->columns, &bytes);
    if (status != IG_STATUS_OK) return status;
    ig_weight *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_fail_no_memory();
    ig_tensor_desc memory = {.type = igi_tensor_weight_formats[desc->type].element,
                             .rank = 2,
                             .bytes = desc->bytes,
                             .no_copy = desc->no_copy,
                             .deallocate = desc->deallocate,
                             .user = desc->user,
                             .buffer = desc->buffer,
                             .offset = desc->offset};
    shape_of(desc, memory.shape);
    igi_ref_init(&made->references);
    made->type = desc->type;
    made->rows = desc->rows;
    made->columns = desc->columns;
    status = ig_tensor_create(device, &memory, &made->tensor);
    if (status == IG_STATUS_OK)
        *weight = made;
    else
        free(made);
    return status;
}

ig_weight *ig_weight_retain(ig_weight *weight) {
    if (weight) igi_ref_take(&weight->references);
    return weight;
}

void ig_weight_release(ig_weight *weight) {
    if (!weight || !igi_ref_drop(&weight->references)) return;
    ig_tensor_release(weight->tensor);
    free(weight);
}

ig_weight_type ig_weight_get_type(const ig_weight *weight) {
    return weight->type;
}

uint64_t ig_weight_rows(const ig_weight *weight) {
    return weight->rows;
}

uint64_t ig_weight_columns(const ig_weight *weight) {
    return weight->columns;
}

const ig_tensor *ig_weight_tensor(const ig_weight *weight) {
    return weight->tensor;
}
