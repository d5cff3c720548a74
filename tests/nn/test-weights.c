// SPDX-License-Identifier: Apache-2.0
// Weights in blocks: layout, rounding, products of every backend against a reference in double.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn-helpers.h"
#include "tensor/types.h"

// ---- The formats, written out once more ----

static double weight_at(ig_weight_type type, const uint8_t *bytes, uint64_t columns, uint64_t row, uint64_t i) {
    if (type == IG_WEIGHT_F16) return igi_f16_to_double(((const uint16_t *)bytes)[row * columns + i]);
    if (type == IG_WEIGHT_BF16) return igi_bf16_to_double(((const uint16_t *)bytes)[row * columns + i]);
    uint64_t size = type == IG_WEIGHT_Q8_0 ? 34 : 18;
    const uint8_t *block = bytes + (row * (columns / 32) + i / 32) * size;
    double scale = igi_f16_to_double((uint16_t)(block[0] | block[1] << 8));
    if (type == IG_WEIGHT_Q8_0) return scale * (int8_t)block[2 + i % 32];
    return scale * ((i % 32 < 16 ? block[2 + i % 32] & 15 : block[2 + i % 32 - 16] >> 4) - 8);
}

static double *weights_of(const ig_weight *weight) {
    uint64_t rows = ig_weight_rows(weight), columns = ig_weight_columns(weight);
    const void *bytes = NULL;
    assert_ok(ig_tensor_map(ig_weight_tensor(weight), &bytes));
    double *values = calloc(rows * columns + 1, sizeof *values);
    for (uint64_t i = 0; i < rows * columns; i++)
        values[i] = weight_at(ig_weight_get_type(weight), bytes, columns, i / columns, i % columns);
    return values;
}

static const ig_weight_type block_types[] = {IG_WEIGHT_Q8_0, IG_WEIGHT_Q4_0};
static const ig_weight_type all_types[] = {IG_WEIGHT_Q8_0, IG_WEIGHT_Q4_0, IG_WEIGHT_F16, IG_WEIGHT_BF16};

// ---- Tests ----

static void q4_0_keeps_low_halves_first(void **state) {
    (void)state;
    uint8_t block[18] = {0x00, 0x38};  // 0.5
    for (int i = 0; i < 16; i++) block[2 + i] = (uint8_t)(i | (15 - i) << 4);
    ig_weight *weight = NULL;
    ig_tensor *out = NULL;
    assert_ok(ig_weight_create(
        device, &(ig_weight_desc){.type = IG_WEIGHT_Q4_0, .rows = 1, .columns = 32, .bytes = block}, &weight));
    double wanted[32];
    for (int i = 0; i < 16; i++) wanted[i] = 0.5 * (i - 8), wanted[i + 16] = 0.5 * (7 - i);
    FOR_BACKENDS(options) {
        assert_ok(ig_weight_dequantize(stream, weight, IG_TYPE_F32, &options, &out));
        expect_near(out, 32, wanted, 0, "q4_0");
    }
    ig_weight_release(weight);
}

static void rounding_is_off_by_half_a_step_at_most(void **state) {
    (void)state;
    for (size_t b = 0; b < LENGTH(block_types); b++) FOR_FLOAT_TYPES(type) for (int layout = 0; layout < 3; layout++) {
            ig_tensor *x = in_layout(random_tensor(type, SHAPE(5, 96), 1), layout);
            double *values = doubles_of(x), steps = block_types[b] == IG_WEIGHT_Q8_0 ? 127 : 8;
            ig_weight *weight = NULL;
            assert_ok(ig_weight_quantize(stream, x, block_types[b], NULL, &weight));
            double *back = weights_of(weight);
            for (int i = 0; i < 5 * 96; i++) {
                double most = 0;
                for (int j = i / 32 * 32; j < i / 32 * 32 + 32; j++) most = fmax(most, fabs(values[j]));
                // Of 4 bits the greatest of the other sign has no number of its own.
                double step = most / steps, off = fabs(back[i] - values[i]);
                assert_true(off <= step * (steps == 8 ? 1.01 : 0.51) + most * 0x1p-10);
            }
            FOR_BACKENDS(options) {
                ig_tensor *out = NULL;
                assert_ok(ig_weight_dequantize(stream, weight, IG_TYPE_F32, &options, &out));
                expect_near(out, 5 * 96, back, 0, "dequantize");
            }
            free(values), free(back);
            ig_tensor_release(x), ig_weight_release(weight);
        }
}

static void every_backend_writes_the_same_bytes(void **state) {
    (void)state;
    ig_tensor *x = random_tensor(IG_TYPE_F32, SHAPE(33, 256), 9);
    for (size_t b = 0; b < LENGTH(block_types); b++) {
        ig_weight *made[3] = {NULL, NULL, NULL};
        const void *bytes[3];
        uint64_t size = 0;
        for (int i = 0; i < 3; i++) {
            assert_ok(
                ig_weight_quantize(stream, x, block_types[b], &(ig_op_options){.backend = all_backends[i]}, &made[i]));
            assert_ok(ig_tensor_map(ig_weight_tensor(made[i]), &bytes[i]));
        }
        assert_ok(ig_weight_size(block_types[b], 33, 256, &size));
        assert_memory_equal(bytes[0], bytes[1], size);
        assert_memory_equal(bytes[0], bytes[2], size);
        for (int i = 0; i < 3; i++) ig_weight_release(made[i]);
    }
    ig_tensor_release(x);
}

static const uint64_t product_shapes[][3] = {{1, 33, 256}, {1, 257, 64},  {3, 31, 96}, {0, 5, 32},
                                             {2, 1, 32},   {33, 70, 544}, {11, 4, 64}, {130, 33, 1056}};

static void products_are_right(void **state) {
    (void)state;
    for (size_t s = 0; s < LENGTH(product_shapes); s++)
        for (size_t w = 0; w < LENGTH(all_types); w++) FOR_FLOAT_TYPES(type) {
                // A plain weight of the same type is a matrix like any other.
                if (strcmp(ig_type_name(type), ig_weight_type_name(all_types[w])) == 0) continue;
                uint64_t m = product_shapes[s][0], n = product_shapes[s][1], k = product_shapes[s][2];
                ig_tensor *x = in_layout(random_tensor(type, SHAPE(m, k), s), (int)(s % 3));
                ig_tensor *matrix = random_tensor(IG_TYPE_F32, SHAPE(n, k), s + 50);
                ig_weight *weight = NULL;
                assert_ok(ig_weight_quantize(stream, matrix, all_types[w], NULL, &weight));
                double *a = doubles_of(x), *b = weights_of(weight), *wanted = calloc(m * n + 1, sizeof *wanted);
                for (uint64_t r = 0; r < m * n; r++)
                    for (uint64_t t = 0; t < k; t++) wanted[r] += a[r / n * k + t] * b[r % n * k + t];
                FOR_BACKENDS(options) {
                    ig_tensor *out = NULL;
                    ig_status status = ig_weight_matmul(stream, weight, x, &options, &out);
                    bool mixed = all_types[w] >= IG_WEIGHT_F16 && all_types[w] <= IG_WEIGHT_BF16 && type != IG_TYPE_F32;
                    if (status == IG_STATUS_UNSUPPORTED && mixed && options.backend == IG_BACKEND_METAL) continue;
                    assert_ok(status);
                    // x may be rounded to 16 bits.
                    expect_near(out, m * n, wanted, 4e-5 * sqrt((double)k), ig_weight_type_name(all_types[w]));
                }
                free(a), free(b), free(wanted);
                ig_tensor_release(x), ig_tensor_release(matrix), ig_weight_release(weight);
            }
}

static void large_products_are_right(void **state) {
    (void)state;
    enum { N = 512, K = 4096 };
    if (SANITIZED) skip();
    ig_tensor *x = random_tensor(IG_TYPE_F32, SHAPE(K), 1), *matrix = random_tensor(IG_TYPE_F32, SHAPE(N, K), 2);
    for (size_t w = 0; w < LENGTH(block_types); w++) {
        ig_weight *weight = NULL;
        assert_ok(ig_weight_quantize(stream, matrix, block_types[w], NULL, &weight));
        double *a = doubles_of(x), *b = weights_of(weight), wanted[N] = {0};
        for (int r = 0; r < N * K; r++) wanted[r / K] += a[r % K] * b[r];
        FOR_BACKENDS(options) {
            ig_tensor *out = NULL;
            assert_ok(ig_weight_matmul(stream, weight, x, &options, &out));
            assert_int_equal(ig_tensor_rank(out), 1);
            expect_near(out, N, wanted, 4e-5 * sqrt(K), "large");
        }
        free(a), free(b);
        ig_weight_release(weight);
    }
    ig_tensor_release(x), ig_tensor_release(matrix);
}

static void what_is_not_finite_shows(void **state) {
    (void)state;
    ig_tensor *matrix = random_tensor(IG_TYPE_F32, SHAPE(4, 64), 2);
    double values[64] = {[40] = NAN};
    ig_tensor *x = tensor_of(IG_TYPE_F32, SHAPE(1, 64), values);
    ig_weight *weight = NULL;
    assert_ok(ig_weight_quantize(stream, matrix, IG_WEIGHT_Q4_0, NULL, &weight));
    FOR_BACKENDS(options) {
        ig_tensor *out = NULL;
        assert_ok(ig_weight_matmul(stream, weight, x, &options, &out));
        double *got = doubles_of(out);
        for (int i = 0; i < 4; i++) assert_true(isnan(got[i]));
        free(got);
        ig_tensor_release(out);
    }
    ig_tensor_release(matrix), ig_tensor_release(x), ig_weight_release(weight);
}

static void rows_are_picked_by_token(void **state) {
    (void)state;
    ig_tensor *matrix = random_tensor(IG_TYPE_F32, SHAPE(31, 64), 2), *out = NULL;
    ig_tensor *tokens = tensor_of(IG_TYPE_I32, SHAPE(1, 3), VALUES(30, 0, 7));
    for (size_t w = 0; w < LENGTH(all_types); w++) {
        ig_weight *weight = NULL;
        assert_ok(ig_weight_quantize(stream, matrix, all_types[w], NULL, &weight));
        double *b = weights_of(weight), wanted[3 * 64];
        for (int i = 0; i < 3; i++) memcpy(wanted + i * 64, b + (i == 0 ? 30 : i == 1 ? 0 : 7) * 64, 64 * sizeof *b);
        assert_ok(ig_weight_embedding(stream, weight, tokens, IG_TYPE_F32, NULL, &out));
        assert_int_equal(ig_tensor_rank(out), 3);
        expect_near(out, 3 * 64, wanted, 0, "embedding");
        free(b);
        ig_weight_release(weight);
    }
    ig_tensor_release(matrix), ig_tensor_release(tokens);
}

static void sizes_are_checked(void **state) {
    (void)state;
    uint64_t bytes = 0;
    ig_weight *weight = NULL;
    assert_ok(ig_weight_size(IG_WEIGHT_Q4_0, 4096, 4096, &bytes));
    assert_int_equal(bytes, 4096ull * 4096 / 32 * 18);
    assert_ok(ig_weight_size(IG_WEIGHT_Q8_0, 2, 32, &bytes));
    assert_int_equal(bytes, 68);
    assert_status(ig_weight_size(IG_WEIGHT_Q8_0, 2, 33, &bytes), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_weight_size(IG_WEIGHT_TYPE_COUNT, 2, 32, &bytes), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_weight_size(IG_WEIGHT_F32, UINT64_MAX / 2, 32, &bytes), IG_STATUS_OVERFLOW);
    assert_status(ig_weight_size(IG_WEIGHT_Q4_0, 1ull << 40, 1ull << 30, &bytes), IG_STATUS_OVERFLOW);
    assert_status(
        ig_weight_create(device, &(ig_weight_desc){.type = IG_WEIGHT_Q4_0, .rows = 1, .columns = 32}, &weight),
        IG_STATUS_INVALID_ARGUMENT);
    ig_tensor *odd = random_tensor(IG_TYPE_F32, SHAPE(2, 33), 1), *out = NULL;
    assert_status(ig_weight_quantize(stream, odd, IG_WEIGHT_Q4_0, NULL, &weight), IG_STATUS_INVALID_ARGUMENT);
    expect_error("no whole blocks");
    assert_null(weight);
    ig_tensor *even = random_tensor(IG_TYPE_F32, SHAPE(2, 64), 1);
    assert_ok(ig_weight_quantize(stream, even, IG_WEIGHT_Q4_0, NULL, &weight));
    assert_status(ig_weight_matmul(stream, weight, odd, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    expect_error("does not fit 64 columns");
    ig_weight_release(weight), ig_tensor_release(odd), ig_tensor_release(even);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(q4_0_keeps_low_halves_first),
        cmocka_unit_test(rounding_is_off_by_half_a_step_at_most),
        cmocka_unit_test(every_backend_writes_the_same_bytes),
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(large_products_are_right),
        cmocka_unit_test(what_is_not_finite_shows),
        cmocka_unit_test(rows_are_picked_by_token),
        cmocka_unit_test(sizes_are_checked),
    };
    return cmocka_run_group_tests_name("weights", tests, open_test_stream, close_test_stream);
}
