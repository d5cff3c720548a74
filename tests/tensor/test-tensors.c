// SPDX-License-Identifier: Apache-2.0
// Creating tensors: from bytes, host memory, buffers and files; invalid ones are refused.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/npy.h"
#include "tensor-helpers.h"
#include "tensor/types.h"

static const ig_type all_types[] = {IG_TYPE_BOOL, IG_TYPE_I8,  IG_TYPE_U8,   IG_TYPE_I32,
                                    IG_TYPE_I64,  IG_TYPE_F16, IG_TYPE_BF16, IG_TYPE_F32};

static void tensors_start_as_zeros_or_as_given(void **state) {
    (void)state;
    ig_tensor *x = NULL;
    // A dirty block comes back from the pool.
    ig_tensor_release(iota(SHAPE(6)));
    assert_ok(ig_tensor_create(device, &(ig_tensor_desc){.type = IG_TYPE_F32, .rank = 1, .shape = {6}}, &x));
    expect_values(x, IG_TYPE_F32, SHAPE(6), VALUES(0, 0, 0, 0, 0, 0));
    const int32_t numbers[] = {1, -2, 3};
    ig_tensor_desc desc = {.type = IG_TYPE_I32, .rank = 1, .shape = {3}, .bytes = numbers};
    assert_ok(ig_tensor_create(device, &desc, &x));
    expect_values(x, IG_TYPE_I32, SHAPE(3), VALUES(1, -2, 3));
}

static void wrong_descriptions_are_refused(void **state) {
    (void)state;
    ig_tensor *x = NULL;
    char memory[64];
    ig_buffer *small = NULL;
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = 10}, &small));
    const struct {
        ig_tensor_desc desc;
        ig_status status;
    } cases[] = {
        {{.type = IG_TYPE_F32, .rank = 9}, IG_STATUS_INVALID_ARGUMENT},
        {{.type = IG_TYPE_U64, .rank = 1, .shape = {1}}, IG_STATUS_UNSUPPORTED},
        {{.type = IG_TYPE_COUNT, .rank = 1, .shape = {1}}, IG_STATUS_UNSUPPORTED},
        {{.type = IG_TYPE_F32, .rank = 2, .shape = {1ull << 40, 1ull << 40}}, IG_STATUS_OVERFLOW},
        {{.type = IG_TYPE_F32, .rank = 1, .shape = {1ull << 61}}, IG_STATUS_OVERFLOW},
        {{.type = IG_TYPE_F32, .rank = 1, .shape = {1ull << 60}}, IG_STATUS_OUT_OF_MEMORY},
        {{.type = IG_TYPE_F32, .bytes = memory, .no_copy = memory}, IG_STATUS_INVALID_ARGUMENT},
        {{.type = IG_TYPE_F32, .no_copy = memory + 1}, IG_STATUS_INVALID_ARGUMENT},
        {{.type = IG_TYPE_F32, .rank = 1, .shape = {3}, .buffer = small}, IG_STATUS_OUT_OF_RANGE},
        {{.type = IG_TYPE_F32, .rank = 1, .shape = {1}, .buffer = small, .offset = 2}, IG_STATUS_INVALID_ARGUMENT},
        {{.type = IG_TYPE_F32, .rank = 1, .shape = {1}, .buffer = small, .offset = 8}, IG_STATUS_OUT_OF_RANGE},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        assert_status(ig_tensor_create(device, &cases[i].desc, &x), cases[i].status);
    assert_null(x);
    assert_status(ig_tensor_create(NULL, &cases[0].desc, &x), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_tensor_create(device, NULL, &x), IG_STATUS_INVALID_ARGUMENT);
    ig_buffer_release(small);
}

static int deallocated;
static void count_deallocation(void *memory, uint64_t length, void *user) {
    assert_int_equal(length, 16);
    assert_ptr_equal(user, &deallocated);
    free(memory);
    deallocated++;
}

static void host_memory_is_used_in_place_and_given_back(void **state) {
    (void)state;
    float *memory = malloc(16);
    assert_non_null(memory);
    for (int i = 0; i < 4; i++) memory[i] = (float)i;
    ig_tensor_desc desc = {.type = IG_TYPE_F32,
                           .rank = 1,
                           .shape = {4},
                           .no_copy = memory,
                           .deallocate = count_deallocation,
                           .user = &deallocated};
    ig_tensor *x = NULL, *view = NULL;
    assert_ok(ig_tensor_create(device, &desc, &x));
    memory[2] = 20;
    assert_ok(ig_tensor_add(stream, x, x, &(ig_op_options){.into = x}, NULL));
    assert_ok(ig_stream_sync(stream, NULL));
    assert_true(memory[2] == 40);
    assert_ok(ig_tensor_slice(x, 0, 2, IG_TO_END, 1, &view));
    ig_tensor_release(x);
    assert_int_equal(deallocated, 0);
    expect_values(view, IG_TYPE_F32, SHAPE(2), VALUES(40, 6));
    assert_int_equal(deallocated, 1);
}

static void buffers_become_tensors(void **state) {
    (void)state;
    const float numbers[] = {9, 1, 2, 3};
    ig_buffer *buffer = NULL;
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = sizeof numbers, .bytes = numbers}, &buffer));
    ig_tensor_desc desc = {.type = IG_TYPE_F32, .rank = 1, .shape = {3}, .buffer = buffer, .offset = 4};
    ig_tensor *x = NULL;
    assert_ok(ig_tensor_create(device, &desc, &x));
    assert_ptr_equal(ig_tensor_buffer(x), buffer);
    assert_int_equal(ig_tensor_offset(x), 4);
    ig_buffer_release(buffer);
    expect_values(x, IG_TYPE_F32, SHAPE(3), VALUES(1, 2, 3));
}

static void single_values_can_be_read(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(all_types); i++) {
        ig_tensor *x = NULL;
        double value = 0;
        assert_ok(ig_tensor_create_scalar(device, all_types[i], 1, &x));
        assert_ok(ig_tensor_item(x, &value));
        assert_true(value == 1);
        ig_tensor_release(x);
    }
    ig_tensor *two = iota(SHAPE(2));
    double value;
    assert_status(ig_tensor_item(two, &value), IG_STATUS_INVALID_ARGUMENT);
    ig_tensor_release(two);
}

static void strided_tensors_are_read_and_written_packed(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(all_types); i++) {
        ig_type type = all_types[i];
        ig_tensor *x = tensor_of(type, SHAPE(2, 3), VALUES(1, 0, 1, 1, 0, 0)), *turned = NULL;
        assert_ok(ig_tensor_transpose(x, 0, 1, &turned));
        // To an odd address: host memory may be unaligned.
        char bytes[64], again[64];
        assert_ok(ig_tensor_read(turned, bytes + 1, 6 * ig_type_size(type)));
        assert_ok(ig_tensor_write(turned, bytes + 1, 6 * ig_type_size(type)));
        assert_ok(ig_tensor_read(turned, again, 6 * ig_type_size(type)));
        assert_memory_equal(bytes + 1, again, 6 * ig_type_size(type));
        expect_values(turned, type, SHAPE(3, 2), VALUES(1, 1, 0, 0, 1, 0));
        expect_values(x, type, SHAPE(2, 3), VALUES(1, 0, 1, 1, 0, 0));
    }
}

static void every_type_survives_a_file(void **state) {
    (void)state;
    char path[4096];
    ig_error error = {0};
    snprintf(path, sizeof path, "%s/x.npy", cache_dir);
    for (size_t i = 0; i < LENGTH(all_types); i++) {
        ig_type type = all_types[i];
        if (type == IG_TYPE_BF16) continue;  // NumPy has none
        ig_tensor *x = tensor_of(type, SHAPE(2, 3), VALUES(1, 0, 1, 1, 0, 0)), *turned = NULL, *loaded = NULL;
        assert_ok(ig_tensor_transpose(x, 0, 1, &turned));
        assert_ok(ig_tensor_save(turned, path, &error));
        assert_ok(ig_tensor_load(device, path, &loaded, &error));
        expect_values(loaded, type, SHAPE(3, 2), VALUES(1, 1, 0, 0, 1, 0));
        ig_tensor_release(x), ig_tensor_release(turned);
    }
    const uint64_t shape[] = {1};
    assert_ok(igi_npy_save(path, IG_TYPE_U32, 1, shape, "1234", NULL));
    ig_tensor *none = NULL;
    assert_status(ig_tensor_load(device, path, &none, &error), IG_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.message, "u32"));
    assert_status(ig_tensor_load(device, "/nowhere/x.npy", &none, &error), IG_STATUS_NOT_FOUND);
    const uint64_t long_shape[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    assert_ok(igi_npy_save(path, IG_TYPE_F32, 9, long_shape, "1234", NULL));
    assert_status(ig_tensor_load(device, path, &none, &error), IG_STATUS_UNSUPPORTED);
    assert_null(none);
    ig_error_clear(&error);
}

// ---- Types ----

static void halves_round_to_nearest_even_once(void **state) {
    (void)state;
    assert_int_equal(igi_tensor_f16_from_double(1), 0x3c00);
    assert_int_equal(igi_tensor_f16_from_double(2049), 0x6800);  // 2048 and 2050 are neighbours
    assert_int_equal(igi_tensor_f16_from_double(2051), 0x6802);
    assert_int_equal(igi_tensor_f16_from_double(65504), 0x7bff);
    assert_int_equal(igi_tensor_f16_from_double(65519), 0x7bff);
    assert_int_equal(igi_tensor_f16_from_double(65520), 0x7c00);
    assert_int_equal(igi_tensor_f16_from_double(-0.0), 0x8000);
    assert_int_equal(igi_tensor_f16_from_double(0x1p-24), 1);
    assert_int_equal(igi_tensor_f16_from_double(0x1p-25), 0);
    assert_int_equal(igi_tensor_f16_from_double(0x1.8p-25), 1);
    assert_true(isnan(igi_tensor_f16_to_double(igi_tensor_f16_from_double(NAN))));
    assert_int_equal(igi_tensor_bf16_from_double(1), 0x3f80);
    assert_int_equal(igi_tensor_bf16_from_double(1 + 0x1p-8), 0x3f80);
    assert_int_equal(igi_tensor_bf16_from_double(1 + 0x1.8p-7), 0x3f82);
    assert_int_equal(igi_tensor_bf16_from_double(1 + 0x1p-8 + 0x1p-40), 0x3f81);  // float alone would lose the last bit
    assert_int_equal(igi_tensor_bf16_from_double(INFINITY), 0x7f80);
    assert_int_equal(igi_tensor_bf16_from_double(1e39), 0x7f80);
    assert_true(isnan(igi_tensor_bf16_to_double(igi_tensor_bf16_from_double(NAN))));
    for (uint32_t bits = 0; bits < 65536; bits++) {
        double half = igi_tensor_f16_to_double((uint16_t)bits), brain = igi_tensor_bf16_to_double((uint16_t)bits);
        if (!isnan(half)) assert_int_equal(igi_tensor_f16_from_double(half), bits);
        if (!isnan(brain)) assert_int_equal(igi_tensor_bf16_from_double(brain), bits);
    }
}

static void the_next_number_below_is_next(void **state) {
    (void)state;
    assert_true(igi_tensor_next_below(IG_TYPE_F16, 1) == 1 - 0x1p-11);
    assert_true(igi_tensor_next_below(IG_TYPE_BF16, 1) == 1 - 0x1p-8);
    assert_true(igi_tensor_next_below(IG_TYPE_F32, 1) == 1 - 0x1p-24);
    assert_true(igi_tensor_next_below(IG_TYPE_F16, -1) == -1 - 0x1p-10);
    assert_true(igi_tensor_next_below(IG_TYPE_F16, 0) == -0x1p-24);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_start_as_zeros_or_as_given),
        cmocka_unit_test(wrong_descriptions_are_refused),
        cmocka_unit_test(host_memory_is_used_in_place_and_given_back),
        cmocka_unit_test(buffers_become_tensors),
        cmocka_unit_test(single_values_can_be_read),
        cmocka_unit_test(strided_tensors_are_read_and_written_packed),
        cmocka_unit_test(every_type_survives_a_file),
        cmocka_unit_test(halves_round_to_nearest_even_once),
        cmocka_unit_test(the_next_number_below_is_next),
    };
    return cmocka_run_group_tests_name("tensors", tests, open_test_stream, close_test_stream);
}
