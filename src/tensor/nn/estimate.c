// SPDX-License-Identifier: Apache-2.0
// How much memory models need.
#include "tensor/nn/weight.h"

// Adds a * b to the sum. Returns false if it does not fit.
static bool add_product(uint64_t a, uint64_t b, uint64_t *sum) {
    uint64_t product;
    return igi_mul(a, b, &product) && igi_add(*sum, product, sum);
}

ig_status ig_model_parameters(const ig_model_shape *shape, uint64_t *count) {
    if (!shape || !count)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "model_parameters: shape and count must not be NULL");
    if (!shape->heads || shape->hidden % shape->heads)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "model_parameters: hidden is not a multiple of heads");
    uint64_t hidden = shape->hidden, key_dim, layer = 0, all = hidden;
    bool fits = igi_mul(hidden / shape->heads, shape->key_heads, &key_dim);
    fits = fits && add_product(2 * hidden, hidden, &layer);                             // queries and output
    fits = fits && add_product(2 * hidden, key_dim, &layer);                            // keys and values
    fits = fits && add_product(3 * hidden, shape->intermediate, &layer);                // feed-forward
    fits = fits && add_product(2, hidden, &layer);                                      // norms
    fits = fits && hidden < UINT64_MAX / 3 && add_product(shape->layers, layer, &all);  // and the last norm
    fits = fits && add_product(2 * hidden, shape->vocabulary, &all);                    // embedding and output
    if (!fits) return igi_fail_with(IG_STATUS_OVERFLOW, "model_parameters: there are too many to be counted");
    *count = all;
    return IG_STATUS_OK;
}

ig_status ig_model_size(const ig_model_shape *shape, ig_weight_type type, uint64_t *bytes) {
    uint64_t count, size;
    if (!bytes || (unsigned)type >= IG_WEIGHT_TYPE_COUNT)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "model_size: the type is unknown or bytes is NULL");
    ig_status status = ig_model_parameters(shape, &count);
    if (status != IG_STATUS_OK) return status;
    const igi_tensor_weight_format *format = &igi_tensor_weight_formats[type];
    uint64_t blocks = count / format->weights + (count % format->weights != 0);
    if (!igi_mul(blocks, format->bytes, &size))
        return igi_fail_with(IG_STATUS_OVERFLOW, "model_size: the model is too large to be addressed");
    *bytes = size;
    return IG_STATUS_OK;
}

bool ig_memory_fits(uint64_t needed, uint64_t free_bytes, uint64_t total_bytes) {
    return free_bytes ? needed < free_bytes : needed < total_bytes / 5 * 4;
}
