// SPDX-License-Identifier: Apache-2.0
// Weights in blocks: layout, rounding, products of every backend against a reference in double.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn-helpers.h"
#include "weight-reference.h"

static const ig_weight_type block_types[] = {IG_WEIGHT_Q8_0, IG_WEIGHT_Q4_0, IG_WEIGHT_Q4_1, IG_WEIGHT_Q5_0,
                                             IG_WEIGHT_Q5_1, IG_WEIGHT_Q2_K, IG_WEIGHT_Q3_K, IG_WEIGHT_Q4_K,
                                             IG_WEIGHT_Q5_K, IG_WEIGHT_Q6_K};
static const ig_weight_type all_types[] = {IG_WEIGHT_Q8_0, IG_WEIGHT_Q4_0, IG_WEIGHT_Q4_1, IG_WEIGHT_Q5_0,
                                           IG_WEIGHT_Q5_1, IG_WEIGHT_Q2_K, IG_WEIGHT_Q3_K, IG_WEIGHT_Q4_K,
                                           IG_WEIGHT_Q5_K, IG_WEIGHT_Q6_K, IG_WEIGHT_F16,  IG_WEIGHT_BF16};

// At least this many, in whole blocks.
static uint64_t columns_for(ig_weight_type type, uint64_t columns) {
    return type >= IG_WEIGHT_Q2_K ? (columns + 255) / 256 * 256 : columns;
}

// Normally distributed, as weights are. free() it.
static double *doubles_of_random(int count, double magnitude, double shift) {
    ig_tensor *x = random_tensor(IG_TYPE_F32, SHAPE(4, (uint64_t)count), 77);
    double *values = doubles_of(x);
    for (int i = 0; i < count; i++) {
        double sum = values[i] + values[count + i] + values[2 * count + i] + values[3 * count + i];
        values[i] = (float)(magnitude * (sum + shift));
    }
    ig_tensor_release(x);
    return values;
}

// ---- Blocks ----

// Any bytes, with these f16 values for the scale and the offset.
static ig_weight *random_blocks(ig_weight_type type, uint64_t rows, uint64_t columns, uint16_t scale, uint16_t offset) {
    uint64_t size = 0, block = 0, seed = 1;
    assert_ok(ig_weight_size(type, rows, columns, &size));
    assert_ok(ig_weight_size(type, 1, columns_for(type, 32), &block));
    uint8_t *bytes = malloc(size);
    for (uint64_t i = 0; i < size; i++) bytes[i] = (uint8_t)((seed = seed * 6364136223846793005u + type) >> 40);
    reference_halves halves = reference_halves_of(type);
    for (uint64_t i = 0; i < size; i += block) {
        memcpy(bytes + i + halves.scale_at, &scale, sizeof scale);
        if (halves.offset_at >= 0) memcpy(bytes + i + halves.offset_at, &offset, sizeof offset);
    }
    ig_weight *weight = NULL;
    assert_ok(ig_weight_create(
        device, &(ig_weight_desc){.type = type, .rows = rows, .columns = columns, .bytes = bytes}, &weight));
    free(bytes);
    return weight;
}

// 0, the smallest denormal, an odd one, an ordinary one, the largest, infinity, NaN, a negative one.
static const uint16_t scale_bits[] = {0, 1, 0x0155, 0x2c01, 0x7bff, 0x7c00, 0x7e00, 0xa801};

static void blocks_mean_what_the_format_says(void **state) {
    (void)state;
    for (size_t w = 0; w < LENGTH(block_types); w++)
        for (size_t s = 0; s < LENGTH(scale_bits); s++) {
            ig_weight_type type = block_types[w];
            uint64_t rows = s % 2 ? 1 : 33, columns = columns_for(type, 32) * (s % 3 ? 3 : 1);
            uint16_t offset = scale_bits[(s + w) % LENGTH(scale_bits)];
            ig_weight *weight = random_blocks(type, rows, columns, scale_bits[s], offset);
            double *wanted = reference_weights(weight);
            FOR_BACKENDS(options) {
                ig_tensor *out = NULL;
                assert_ok(ig_weight_dequantize(stream, weight, IG_TYPE_F32, &options, &out));
                for (uint64_t i = 0; i < rows * columns; i++) wanted[i] = (float)wanted[i];
                expect_near(out, rows * columns, wanted, 0, ig_weight_type_name(type));
            }
            free(wanted);
            ig_weight_release(weight);
        }
}

static void scales_that_are_no_numbers_show_in_products(void **state) {
    (void)state;
    for (size_t w = 0; w < LENGTH(block_types); w++) {
        uint64_t columns = columns_for(block_types[w], 32);
        ig_weight *weight = random_blocks(block_types[w], 5, columns, 0x7e00, 0x2c00);
        ig_tensor *x = random_tensor(IG_TYPE_F32, SHAPE(1, columns), 3);
        FOR_BACKENDS(options) {
            ig_tensor *out = NULL;
            assert_ok(ig_weight_matmul(stream, weight, x, &options, &out));
            expect_near(out, 5, VALUES(NAN, NAN, NAN, NAN, NAN), 0, ig_weight_type_name(block_types[w]));
        }
        ig_tensor_release(x), ig_weight_release(weight);
    }
}

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

// Of blocks of 32.
static double step_of(ig_weight_type type, const double *block) {
    double low = block[0], high = block[0];
    for (int i = 1; i < 32; i++) low = fmin(low, block[i]), high = fmax(high, block[i]);
    switch (type) {
        case IG_WEIGHT_Q8_0: return fmax(high, -low) / 127;
        case IG_WEIGHT_Q4_0: return fmax(high, -low) / 8;
        case IG_WEIGHT_Q5_0: return fmax(high, -low) / 16;
        case IG_WEIGHT_Q4_1: return (high - low) / 15;
        default: return (high - low) / 31;
    }
}

static void rounding_is_off_by_half_a_step_at_most(void **state) {
    (void)state;
    for (size_t b = 0; block_types[b] < IG_WEIGHT_Q2_K; b++)
        FOR_FLOAT_TYPES(type) for (int layout = 0; layout < 3; layout++) {
            ig_tensor *x = in_layout(random_tensor(type, SHAPE(5, 96), 1), layout);
            double *values = doubles_of(x);
            bool lopsided = block_types[b] == IG_WEIGHT_Q4_0 || block_types[b] == IG_WEIGHT_Q5_0;
            ig_weight *weight = NULL;
            assert_ok(ig_weight_quantize(stream, x, block_types[b], NULL, &weight));
            double *back = reference_weights(weight);
            for (int i = 0; i < 5 * 96; i++) {
                double step = step_of(block_types[b], values + i / 32 * 32), off = fabs(back[i] - values[i]);
                // Around zero the greatest value of the other sign has no exact number.
                assert_true(off <= step * (lopsided ? 1.01 : 0.51) + 0x1p-10);
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

// Root of the mean square, relative to that of the elements.
static double error_of(ig_weight_type type, double magnitude, double shift) {
    enum { ROWS = 9, COLUMNS = 768 };
    double *values = doubles_of_random(ROWS * COLUMNS, magnitude, shift), errors = 0, squares = 0;
    ig_tensor *x = tensor_of(IG_TYPE_F32, SHAPE(ROWS, COLUMNS), values);
    ig_weight *weight = NULL;
    assert_ok(ig_weight_quantize(stream, x, type, NULL, &weight));
    double *back = reference_weights(weight);
    for (int i = 0; i < ROWS * COLUMNS; i++) errors += pow(back[i] - values[i], 2), squares += pow(values[i], 2);
    free(values), free(back);
    ig_tensor_release(x), ig_weight_release(weight);
    return sqrt(errors / squares);
}

static void errors_are_as_small_as_the_bits_allow(void **state) {
    (void)state;
    static const double bounds[IG_WEIGHT_TYPE_COUNT] = {
        [IG_WEIGHT_Q8_0] = 0.006, [IG_WEIGHT_Q4_0] = 0.09, [IG_WEIGHT_Q4_1] = 0.08,  [IG_WEIGHT_Q5_0] = 0.045,
        [IG_WEIGHT_Q5_1] = 0.04,  [IG_WEIGHT_Q2_K] = 0.35, [IG_WEIGHT_Q3_K] = 0.165, [IG_WEIGHT_Q4_K] = 0.08,
        [IG_WEIGHT_Q5_K] = 0.04,  [IG_WEIGHT_Q6_K] = 0.02};
    for (size_t w = 0; w < LENGTH(block_types); w++)
        for (int m = -3; m <= 3; m++) {
            double magnitude = pow(10, m), shift = m % 3;
            double error = error_of(block_types[w], magnitude, shift);
            if (error > bounds[block_types[w]]) fail_msg("%s is off by %g", ig_weight_type_name(block_types[w]), error);
        }
}

// Rows of arbitrary numbers, of few different ones with many ties, of only a spike, and of some too small for a scale.
static ig_tensor *odd_rows(uint64_t rows) {
    ig_tensor *x = random_tensor(IG_TYPE_F32, SHAPE(rows, 256), 9);
    double *values = doubles_of(x);
    for (uint64_t i = 0; i < rows * 256; i++) switch (i / 256 % 4) {
            case 1: values[i] = round(values[i] * 8) / 8 + 0.0; break;
            case 2: values[i] = i % 256 == i / 256 ? values[i] : 0; break;
            case 3: values[i] = (float)(values[i] * pow(10, -(double)(i / 256 % 11))); break;
            default: break;
        }
    ig_tensor_release(x);
    x = tensor_of(IG_TYPE_F32, SHAPE(rows, 256), values);
    free(values);
    return x;
}

static void every_backend_writes_the_same_bytes(void **state) {
    (void)state;
    ig_tensor *x = odd_rows(33);
    for (size_t b = 0; b < LENGTH(block_types); b++) {
        ig_weight *made[3] = {NULL, NULL, NULL};
        const void *bytes[3];
        uint64_t size = 0;
        for (int i = 0; i < 3; i++) {
            ig_op_options options = {.backend = all_backends[i]};
            assert_ok(ig_weight_quantize(stream, x, block_types[b], &options, &made[i]));
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

// All shapes with all formats, and a part of them with each type of x that is not f32; few of these on the device,
// where each has a separate kernel that takes time to compile.
static bool is_tried(size_t shape, size_t format, ig_type type) {
    return (type == IG_TYPE_F32 && !SANITIZED) || (shape + format + type) % 3 == 0;
}
static bool is_tried_on_device(size_t format, ig_type type) {
    return type == IG_TYPE_F32 || (format + (type == IG_TYPE_F16)) % 4 == 0;
}

static void products_are_right(void **state) {
    (void)state;
    for (size_t s = 0; s < LENGTH(product_shapes); s++)
        for (size_t w = 0; w < LENGTH(all_types); w++) FOR_FLOAT_TYPES(type) {
                // A plain weight of the same type is an ordinary matrix.
                if (strcmp(ig_type_name(type), ig_weight_type_name(all_types[w])) == 0) continue;
                if (!is_tried(s, w, type)) continue;
                uint64_t m = product_shapes[s][0], n = product_shapes[s][1];
                uint64_t k = columns_for(all_types[w], product_shapes[s][2]);
                ig_tensor *x = in_layout(random_tensor(type, SHAPE(m, k), s), (int)(s % 3));
                ig_tensor *matrix = random_tensor(IG_TYPE_F32, SHAPE(n, k), s + 50);
                ig_weight *weight = NULL;
                assert_ok(ig_weight_quantize(stream, matrix, all_types[w], NULL, &weight));
                double *a = doubles_of(x), *b = reference_weights(weight), *wanted = calloc(m * n + 1, sizeof *wanted);
                for (uint64_t r = 0; r < m * n; r++)
                    for (uint64_t t = 0; t < k; t++) wanted[r] += a[r / n * k + t] * b[r % n * k + t];
                FOR_BACKENDS(options) {
                    ig_tensor *out = NULL;
                    if (options.backend == IG_BACKEND_MSL && !is_tried_on_device(w, type)) continue;
                    ig_status status = ig_weight_matmul(stream, weight, x, &options, &out);
                    bool mixed = all_types[w] >= IG_WEIGHT_F16 && all_types[w] <= IG_WEIGHT_BF16 && type != IG_TYPE_F32;
                    if (status == IG_STATUS_UNSUPPORTED && mixed && options.backend == IG_BACKEND_MSL) continue;
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
        double *a = doubles_of(x), *b = reference_weights(weight), wanted[N] = {0};
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
    ig_tensor *matrix = random_tensor(IG_TYPE_F32, SHAPE(31, 256), 2), *out = NULL;
    ig_tensor *tokens = tensor_of(IG_TYPE_I32, SHAPE(1, 3), VALUES(30, 0, 7));
    for (size_t w = 0; w < LENGTH(all_types); w++) {
        ig_weight *weight = NULL;
        assert_ok(ig_weight_quantize(stream, matrix, all_types[w], NULL, &weight));
        double *b = reference_weights(weight), wanted[3 * 256];
        for (int i = 0; i < 3; i++) memcpy(wanted + i * 256, b + (i == 0 ? 30 : i == 1 ? 0 : 7) * 256, 256 * sizeof *b);
        assert_ok(ig_weight_embedding(stream, weight, tokens, IG_TYPE_F32, NULL, &out));
        assert_int_equal(ig_tensor_rank(out), 3);
        expect_near(out, 3 * 256, wanted, 0, "embedding");
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
    expect_error("not whole blocks");
    assert_null(weight);
    ig_tensor *even = random_tensor(IG_TYPE_F32, SHAPE(2, 64), 1);
    assert_ok(ig_weight_quantize(stream, even, IG_WEIGHT_Q4_0, NULL, &weight));
    assert_status(ig_weight_matmul(stream, weight, odd, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    expect_error("does not fit 64 columns");
    ig_weight_release(weight), ig_tensor_release(odd), ig_tensor_release(even);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_mean_what_the_format_says),
        cmocka_unit_test(scales_that_are_no_numbers_show_in_products),
        cmocka_unit_test(q4_0_keeps_low_halves_first),
        cmocka_unit_test(rounding_is_off_by_half_a_step_at_most),
        cmocka_unit_test(errors_are_as_small_as_the_bits_allow),
        cmocka_unit_test(every_backend_writes_the_same_bytes),
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(large_products_are_right),
        cmocka_unit_test(what_is_not_finite_shows),
        cmocka_unit_test(rows_are_picked_by_token),
        cmocka_unit_test(sizes_are_checked),
    };
    return cmocka_run_group_tests_name("weights", tests, open_test_stream, close_test_stream);
}
