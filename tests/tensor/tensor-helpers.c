// SPDX-License-Identifier: Apache-2.0
#include "tensor-helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/types.h"

ig_stream *stream;

int open_test_stream(void **state) {
    unsetenv("INGOT_BACKEND"), unsetenv("INGOT_THRESHOLDS"), unsetenv("INGOT_BLAS");
    if (open_test_device(state) != 0) return -1;
    return ig_stream_create(device, NULL, &stream, NULL) == IG_STATUS_OK ? 0 : -1;
}

int close_test_stream(void **state) {
    ig_stream_release(stream);
    return close_test_device(state);
}

static uint64_t count_of(uint64_t rank, const uint64_t *shape) {
    uint64_t count = 1;
    for (uint64_t i = 0; i < rank; i++) count *= shape[i];
    return count;
}

ig_tensor *tensor_of(ig_type type, uint64_t rank, const uint64_t *shape, const double *values) {
    uint64_t count = count_of(rank, shape), size = ig_type_size(type);
    ig_tensor_desc desc = {.type = type, .rank = (uint32_t)rank};
    memcpy(desc.shape, shape, rank * sizeof *shape);
    ig_tensor *tensor = NULL;
    void *elements = NULL;
    assert_ok(ig_tensor_create(device, &desc, &tensor));
    assert_ok(ig_tensor_map_mutable(tensor, &elements));
    igi_tensor_store_doubles(type, elements, (int64_t)size, count, values);
    return tensor;
}

ig_tensor *iota(uint64_t rank, const uint64_t *shape) {
    uint64_t count = count_of(rank, shape);
    double *values = calloc(count + 1, sizeof *values);
    assert_non_null(values);
    for (uint64_t i = 0; i < count; i++) values[i] = (double)i;
    ig_tensor *tensor = tensor_of(IG_TYPE_F32, rank, shape, values);
    free(values);
    return tensor;
}

void expect_values(ig_tensor *tensor, ig_type type, uint64_t rank, const uint64_t *shape, const double *values) {
    uint64_t count = count_of(rank, shape), size = ig_type_size(type);
    assert_non_null(tensor);
    assert_string_equal(ig_type_name(ig_tensor_type(tensor)), ig_type_name(type));
    assert_int_equal(ig_tensor_rank(tensor), rank);
    for (uint64_t i = 0; i < rank; i++) assert_int_equal(ig_tensor_shape(tensor)[i], shape[i]);
    char *bytes = calloc(count + 1, size);
    double *got = calloc(count + 1, sizeof *got);
    assert_true(bytes && got);
    assert_ok(ig_tensor_read(tensor, bytes, count * size));
    igi_tensor_load_doubles(type, bytes, (int64_t)size, count, got);
    for (uint64_t i = 0; i < count; i++) {
        bool same = isnan(values[i]) ? isnan(got[i]) : fabs(got[i] - values[i]) <= 1e-6 * fabs(values[i]);
        if (!same && got[i] != values[i]) fail_msg("element %d is %.9g, not %.9g", (int)i, got[i], values[i]);
    }
    free(bytes), free(got);
    ig_tensor_release(tensor);
}

void expect_error(const char *part) {
    ig_error error = {0};
    assert_int_not_equal(ig_stream_get_error(stream, &error), IG_STATUS_OK);
    assert_non_null(error.message);
    if (!strstr(error.message, part)) fail_msg("'%s' does not say '%s'", error.message, part);
    ig_error_clear(&error);
}
