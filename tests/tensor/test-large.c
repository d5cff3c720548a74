// SPDX-License-Identifier: Apache-2.0
// More than 2^32 elements: every op reaches all of them. Skipped if memory is short or a sanitizer would take too long.
#include <stdio.h>
#include <string.h>

#include "core/host.h"
#include "tensor-helpers.h"

static const uint64_t COUNT = (1ull << 32) + 4099;
// Around the limits of 31 and 32 bits, and the ends.
static const uint64_t places[] = {0,
                                  1,
                                  (1ull << 31) - 1,
                                  1ull << 31,
                                  (1ull << 31) + 1,
                                  (1ull << 32) - 1,
                                  1ull << 32,
                                  (1ull << 32) + 1,
                                  (1ull << 32) + 4098};

static uint64_t available_bytes(void) {
    uint64_t available = igi_host_available_bytes();
    return available == UINT64_MAX ? igi_host_memory_bytes() / 2 : available;
}

static double at(const ig_tensor *x, uint64_t place) {
    ig_tensor *one = NULL;
    double value = -1;
    assert_ok(ig_tensor_select(x, 0, (int64_t)place, &one));
    assert_ok(ig_tensor_item(one, &value));
    ig_tensor_release(one);
    return value;
}

static void expect_everywhere(const ig_tensor *x, double value) {
    for (size_t i = 0; i < LENGTH(places); i++)
        if (at(x, places[i]) != value) fail_msg("element %llu", (unsigned long long)places[i]);
}

// All tests fill the same four gigabytes.
static ig_tensor *filled(double value) {
    static ig_tensor *x;
    if (x) {
        assert_ok(ig_tensor_fill(stream, IG_TYPE_I8, (ig_shape){1, {COUNT}}, value, &(ig_op_options){.into = x}, NULL));
        ig_tensor *last = x;
        x = NULL;
        return last;
    }
    assert_ok(ig_tensor_fill(stream, IG_TYPE_I8, (ig_shape){1, {COUNT}}, value, NULL, &x));
    return ig_tensor_retain(x);
}

static void ops_reach_past_2_to_the_32(void **state) {
    (void)state;
    ig_tensor *x = filled(3), *tail = NULL, *sum = NULL;
    expect_everywhere(x, 3);
    assert_ok(ig_tensor_add(stream, x, x, &(ig_op_options){.into = x}, NULL));
    expect_everywhere(x, 6);
    // A part that begins below 2^32 and ends above it, with the reference and with vectors.
    for (int b = IG_BACKEND_SCALAR; b <= IG_BACKEND_SIMD; b++) {
        const ig_op_options options = {.backend = (ig_backend)b};
        assert_ok(ig_tensor_slice(x, 0, (int64_t)(1ull << 32) - 1000, IG_TO_END, 7, &tail));
        assert_ok(ig_tensor_mul(stream, tail, tail, &options, &sum));
        assert_true(at(sum, ig_tensor_count(sum) - 1) == 36);
        ig_tensor_release(sum), ig_tensor_release(tail);
    }
    ig_tensor_release(x);
}

static void indices_reach_past_2_to_the_32(void **state) {
    (void)state;
    ig_tensor *x = filled(1), *index = NULL, *picked = NULL, *last = NULL, *scattered = NULL;
    assert_ok(ig_tensor_slice(x, 0, -1, IG_TO_END, 1, &last));
    const int8_t nine = 9;
    assert_ok(ig_tensor_write(last, &nine, 1));
    const int64_t positions[] = {0, (int64_t)COUNT - 1, -1, 1ll << 32};
    ig_tensor_desc desc = {.type = IG_TYPE_I64, .rank = 1, .shape = {4}, .bytes = positions};
    assert_ok(ig_tensor_create(device, &desc, &index));
    assert_ok(ig_tensor_index_select(stream, x, 0, index, NULL, &picked));
    expect_values(picked, IG_TYPE_I8, SHAPE(4), VALUES(1, 9, 9, 1));
    assert_ok(ig_tensor_gather(stream, x, 0, index, NULL, &picked));
    expect_values(picked, IG_TYPE_I8, SHAPE(4), VALUES(1, 9, 9, 1));
    ig_tensor *source = tensor_of(IG_TYPE_I8, SHAPE(4), VALUES(5, 6, 6, 7));
    assert_ok(ig_tensor_scatter(stream, x, 0, index, source, false, &(ig_op_options){.into = x}, &scattered));
    assert_true(at(x, 1ull << 32) == 7 && at(x, COUNT - 1) == 6 && at(x, 0) == 5);
    ig_tensor_release(scattered), ig_tensor_release(source), ig_tensor_release(index), ig_tensor_release(last);
    ig_tensor_release(x);
}

static void reductions_count_past_2_to_the_32(void **state) {
    (void)state;
    // One element, repeated: only counting.
    ig_tensor *one = NULL, *many = NULL, *sum = NULL;
    double value = 0;
    assert_ok(ig_tensor_create_scalar(device, IG_TYPE_F16, 1, &one));
    assert_ok(ig_tensor_broadcast(one, SHAPE(COUNT), &many));
    assert_ok(ig_tensor_mean(stream, many, NULL, NULL, &sum));
    assert_ok(ig_tensor_item(sum, &value));
    assert_true(value == 1);
    ig_tensor_release(sum);
    assert_ok(ig_tensor_cast(stream, one, IG_TYPE_F32, NULL, &sum));
    ig_tensor_release(many);
    assert_ok(ig_tensor_broadcast(sum, SHAPE(COUNT), &many));
    ig_tensor_release(one);
    assert_ok(ig_tensor_sum(stream, many, NULL, NULL, &one));
    assert_ok(ig_tensor_item(one, &value));
    assert_true(value == (double)(float)COUNT);
    ig_tensor_release(sum), ig_tensor_release(many), ig_tensor_release(one);
}

int main(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 77;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return 77;
#endif
#endif
    if (available_bytes() < 12ull << 30) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_reach_past_2_to_the_32),
        cmocka_unit_test(indices_reach_past_2_to_the_32),
        cmocka_unit_test(reductions_count_past_2_to_the_32),
    };
    return cmocka_run_group_tests_name("large", tests, open_test_stream, close_test_stream);
}
