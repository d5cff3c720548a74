// SPDX-License-Identifier: Apache-2.0
#include "nn-helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/types.h"

const ig_backend all_backends[3] = {IG_BACKEND_SCALAR, IG_BACKEND_SIMD, IG_BACKEND_MSL};

ig_type *next_float_type(ig_type *type) {
    if (*type == IG_TYPE_BF16) return NULL;
    *type = *type == IG_TYPE_F32 ? IG_TYPE_F16 : IG_TYPE_BF16;
    return type;
}

ig_tensor *random_tensor(ig_type type, uint64_t rank, const uint64_t *shape, uint64_t seed) {
    uint64_t count = 1;
    random_state random = {seed * 7919 + 1};
    for (uint64_t i = 0; i < rank; i++) count *= shape[i];
    double *values = calloc(count + 1, sizeof *values);
    assert_non_null(values);
    for (uint64_t i = 0; i < count; i++) {
        double u = (double)(random_u64(&random) >> 11) * 0x1p-53, v = (double)(random_u64(&random) >> 11) * 0x1p-53;
        values[i] = 2 * (u + v) - 2;
    }
    ig_tensor *made = tensor_of(type, rank, shape, values);
    free(values);
    return made;
}

// Memory of a shape with every other element of the last dimension unused.
static ig_tensor *with_gaps(const ig_tensor *x) {
    ig_tensor_desc desc = {.type = ig_tensor_type(x), .rank = ig_tensor_rank(x)};
    ig_tensor *memory = NULL, *view = NULL;
    memcpy(desc.shape, ig_tensor_shape(x), desc.rank * sizeof *desc.shape);
    desc.shape[desc.rank - 1] = 2 * desc.shape[desc.rank - 1];
    assert_ok(ig_tensor_create(device, &desc, &memory));
    assert_ok(ig_tensor_slice(memory, -1, 0, IG_TO_END, 2, &view));
    ig_tensor_release(memory);
    return view;
}

static ig_tensor *turned_around(const ig_tensor *x) {
    int32_t axes[IG_MAX_RANK], rank = (int32_t)ig_tensor_rank(x);
    ig_tensor *view = NULL, *copy = NULL, *back = NULL;
    for (int32_t i = 0; i < rank; i++) axes[i] = rank - 1 - i;
    assert_ok(ig_tensor_permute(x, axes, &view));
    assert_ok(ig_tensor_copy(stream, view, NULL, &copy));
    assert_ok(ig_tensor_permute(copy, axes, &back));
    ig_tensor_release(view), ig_tensor_release(copy);
    return back;
}

ig_tensor *in_layout(ig_tensor *x, int layout) {
    if (layout == 0) return x;
    ig_tensor *made = layout == 1 ? turned_around(x) : with_gaps(x);
    if (layout == 2) assert_ok(ig_tensor_copy(stream, x, &(ig_op_options){.into = made}, NULL));
    ig_tensor_release(x);
    return made;
}

double *doubles_of(const ig_tensor *x) {
    uint64_t count = ig_tensor_count(x), size = ig_type_size(ig_tensor_type(x));
    char *bytes = calloc(count + 1, size);
    double *values = calloc(count + 1, sizeof *values);
    assert_true(bytes && values);
    assert_ok(ig_tensor_read(x, bytes, count * size));
    igi_tensor_load_doubles(ig_tensor_type(x), bytes, (int64_t)size, count, values);
    free(bytes);
    return values;
}

static double rounding_of(ig_type type) {
    return type == IG_TYPE_F16 ? 0x1p-10 : type == IG_TYPE_BF16 ? 0x1p-7 : 0x1p-23;
}

void expect_near(ig_tensor *got, uint64_t count, const double *wanted, double tolerance, const char *what) {
    assert_non_null(got);
    assert_int_equal(ig_tensor_count(got), count);
    double *values = doubles_of(got), rounding = rounding_of(ig_tensor_type(got));
    for (uint64_t i = 0; i < count; i++) {
        double off = fabs(values[i] - wanted[i]), allowed = tolerance + (tolerance + rounding) * fabs(wanted[i]);
        bool same = isnan(wanted[i]) ? isnan(values[i]) : values[i] == wanted[i] || off <= allowed;
        if (!same) fail_msg("%s: element %d is %.9g, not %.9g", what, (int)i, values[i], wanted[i]);
    }
    free(values);
    ig_tensor_release(got);
}
