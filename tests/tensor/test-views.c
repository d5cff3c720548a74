// SPDX-License-Identifier: Apache-2.0
// Views: the right elements after every change of shape and order, without copies; what does not fit is refused.
#include <string.h>

#include "tensor-helpers.h"

// A view of 0, 1, 2, ... shares its memory and keeps it alive.
static void expect_view(ig_tensor *view, ig_tensor *base, uint64_t rank, const uint64_t *shape, const double *values) {
    assert_ptr_equal(ig_tensor_buffer(view), ig_tensor_buffer(base));
    expect_values(view, IG_TYPE_F32, rank, shape, values);
}

static void reshapes_share_memory(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 3)), *view = NULL;
    assert_ok(ig_tensor_reshape(x, SHAPE(3, 2), &view));
    expect_view(view, x, SHAPE(3, 2), VALUES(0, 1, 2, 3, 4, 5));
    assert_ok(ig_tensor_reshape(x, SHAPE(1, IG_INFER, 1), &view));
    expect_view(view, x, SHAPE(1, 6, 1), VALUES(0, 1, 2, 3, 4, 5));
    assert_status(ig_tensor_reshape(x, SHAPE(4, 2), &view), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_tensor_reshape(x, SHAPE(IG_INFER, IG_INFER), &view), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_tensor_reshape(x, SHAPE(4, IG_INFER), &view), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_tensor_reshape(x, SHAPE(1ull << 40, 1ull << 40), &view), IG_STATUS_INVALID_ARGUMENT);
    ig_tensor_release(x);
}

static void reshapes_of_strided_views_work_where_they_can(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(4, 6)), *part = NULL, *turned = NULL, *view = NULL;
    assert_ok(ig_tensor_slice(x, 0, 0, IG_TO_END, 2, &part));  // rows 0 and 2
    assert_ok(ig_tensor_reshape(part, SHAPE(2, 2, 3), &view));
    expect_view(view, x, SHAPE(2, 2, 3), VALUES(0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17));
    assert_status(ig_tensor_reshape(part, SHAPE(12), &view), IG_STATUS_UNSUPPORTED);
    assert_ok(ig_tensor_transpose(x, 0, 1, &turned));
    assert_status(ig_tensor_reshape(turned, SHAPE(24), &view), IG_STATUS_UNSUPPORTED);
    assert_ok(ig_tensor_reshape(turned, SHAPE(2, 3, 1, 4), &view));
    assert_int_equal(ig_tensor_strides(view)[0], 3);
    ig_tensor_release(view), ig_tensor_release(turned), ig_tensor_release(part), ig_tensor_release(x);
}

static void axes_change_places(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 3)), *view = NULL;
    assert_ok(ig_tensor_transpose(x, 0, -1, &view));
    assert_false(ig_tensor_is_contiguous(view));
    expect_view(view, x, SHAPE(3, 2), VALUES(0, 3, 1, 4, 2, 5));
    ig_tensor *cube = iota(SHAPE(2, 1, 3));
    assert_ok(ig_tensor_permute(cube, (const int32_t[]){2, 0, -2}, &view));
    expect_view(view, cube, SHAPE(3, 2, 1), VALUES(0, 3, 1, 4, 2, 5));
    assert_status(ig_tensor_permute(cube, (const int32_t[]){0, 0, 1}, &view), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_tensor_permute(cube, (const int32_t[]){0, 1, 3}, &view), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_tensor_transpose(x, 0, 2, &view), IG_STATUS_INVALID_ARGUMENT);
    ig_tensor_release(x), ig_tensor_release(cube);
}

// An axis of two elements may be strided, one of a single element cannot.
static void short_axes_count_for_being_contiguous(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 3)), *part = NULL, *row = NULL;
    assert_ok(ig_tensor_slice(x, 1, 0, 2, 1, &part));
    assert_false(ig_tensor_is_contiguous(part));
    expect_view(part, x, SHAPE(2, 2), VALUES(0, 1, 3, 4));
    assert_ok(ig_tensor_slice(x, 0, 1, 2, 1, &row));
    assert_true(ig_tensor_is_contiguous(row));
    ig_tensor_release(row), ig_tensor_release(x);
}

static void slices_are_those_of_python(void **state) {
    (void)state;
    static const struct {
        int64_t start, stop, step;
        uint64_t count;
        double values[10];
    } cases[] = {
        {2, 5, 1, 3, {2, 3, 4}},
        {0, 10, 3, 4, {0, 3, 6, 9}},
        {-3, IG_TO_END, 1, 3, {7, 8, 9}},
        {-100, 3, 1, 3, {0, 1, 2}},
        {8, 100, 1, 2, {8, 9}},
        {5, 5, 1, 0, {0}},
        {7, 3, 1, 0, {0}},
        {IG_WHOLE_AXIS, IG_TO_END, -1, 10, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
        {8, 2, -2, 3, {8, 6, 4}},
        {-1, -4, -1, 3, {9, 8, 7}},
        {2, IG_TO_END, -1, 3, {2, 1, 0}},
        {3, IG_TO_END, INT64_MAX, 1, {3}},
        {3, IG_TO_END, INT64_MIN, 1, {3}},
        {0, IG_TO_END, 0, 10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    };
    ig_tensor *x = iota(SHAPE(10));
    for (size_t i = 0; i < LENGTH(cases); i++) {
        ig_tensor *view = NULL;
        assert_ok(ig_tensor_slice(x, 0, cases[i].start, cases[i].stop, cases[i].step, &view));
        expect_view(view, x, SHAPE(cases[i].count), cases[i].values);
    }
    ig_tensor_release(x);
}

static void slices_of_slices_add_up(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(3, 8)), *first = NULL, *second = NULL, *third = NULL;
    assert_ok(ig_tensor_slice(x, 1, 1, IG_TO_END, 2, &first));                    // 1 3 5 7
    assert_ok(ig_tensor_slice(first, 1, IG_WHOLE_AXIS, IG_TO_END, -1, &second));  // 7 5 3 1
    assert_ok(ig_tensor_slice(second, 0, 2, IG_TO_END, 1, &third));
    expect_view(third, x, SHAPE(1, 4), VALUES(23, 21, 19, 17));
    ig_tensor_release(first), ig_tensor_release(second), ig_tensor_release(x);
}

static void selecting_takes_an_axis_away(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 3)), *view = NULL;
    assert_ok(ig_tensor_select(x, 1, -1, &view));
    expect_view(view, x, SHAPE(2), VALUES(2, 5));
    assert_ok(ig_tensor_select(x, 0, 1, &view));
    expect_view(view, x, SHAPE(3), VALUES(3, 4, 5));
    assert_status(ig_tensor_select(x, 0, 2, &view), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_tensor_select(x, 0, -3, &view), IG_STATUS_OUT_OF_RANGE);
    ig_tensor_release(x);
}

static void lengths_of_one_come_and_go(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 3)), *wide = NULL, *back = NULL;
    assert_ok(ig_tensor_unsqueeze(x, -2, &wide));
    assert_int_equal(ig_tensor_rank(wide), 3);
    assert_int_equal(ig_tensor_shape(wide)[1], 1);
    assert_ok(ig_tensor_squeeze(wide, 1, &back));
    expect_view(back, x, SHAPE(2, 3), VALUES(0, 1, 2, 3, 4, 5));
    assert_status(ig_tensor_squeeze(wide, 0, &back), IG_STATUS_INVALID_ARGUMENT);
    ig_tensor *most = iota(SHAPE(1, 1, 1, 1, 1, 1, 1, 2));
    assert_status(ig_tensor_unsqueeze(most, 0, &back), IG_STATUS_INVALID_ARGUMENT);
    ig_tensor_release(wide), ig_tensor_release(x), ig_tensor_release(most);
}

static void broadcasts_repeat(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 1)), *view = NULL;
    assert_ok(ig_tensor_broadcast(x, SHAPE(2, 2, 3), &view));
    expect_view(view, x, SHAPE(2, 2, 3), VALUES(0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1));
    assert_status(ig_tensor_broadcast(x, SHAPE(3, 3), &view), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_tensor_broadcast(x, SHAPE(2), &view), IG_STATUS_INVALID_ARGUMENT);
    ig_tensor_release(x);
}

static void more_elements_than_32_bits_count(void **state) {
    (void)state;
    ig_tensor *one = NULL, *view = NULL, *tail = NULL, *part = NULL;
    assert_ok(ig_tensor_create_scalar(device, IG_TYPE_I8, 7, &one));
    assert_ok(ig_tensor_broadcast(one, SHAPE(1ull << 33, 1ull << 20), &view));
    assert_int_equal(ig_tensor_count(view), 1ull << 53);
    assert_ok(ig_tensor_slice(view, 0, (int64_t)(1ull << 33) - 1, IG_TO_END, 1, &tail));
    assert_ok(ig_tensor_slice(tail, 1, -3, IG_TO_END, 1, &part));
    expect_values(part, IG_TYPE_I8, SHAPE(1, 3), VALUES(7, 7, 7));
    ig_tensor *too_large = NULL;
    assert_status(ig_tensor_broadcast(one, SHAPE(1ull << 33, 1ull << 33), &too_large), IG_STATUS_OVERFLOW);
    ig_tensor_release(tail), ig_tensor_release(view), ig_tensor_release(one);
}

static void a_view_keeps_its_memory_alive(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(1000)), *view = NULL;
    assert_ok(ig_tensor_slice(x, 0, 997, IG_TO_END, 1, &view));
    ig_tensor_release(x);
    ig_tensor *others[8];
    for (int i = 0; i < 8; i++) others[i] = iota(SHAPE(1000));
    expect_values(view, IG_TYPE_F32, SHAPE(3), VALUES(997, 998, 999));
    for (int i = 0; i < 8; i++) ig_tensor_release(others[i]);
}

static void writing_through_a_view_writes_the_tensor(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 3)), *column = NULL;
    assert_ok(ig_tensor_select(x, 1, 1, &column));
    const float values[] = {10, 20};
    assert_ok(ig_tensor_write(column, values, sizeof values));
    assert_status(ig_tensor_write(column, values, 4), IG_STATUS_OUT_OF_RANGE);
    ig_tensor_release(column);
    expect_values(x, IG_TYPE_F32, SHAPE(2, 3), VALUES(0, 10, 2, 3, 20, 5));
}

static void empty_tensors_have_views(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(0, 4)), *view = NULL;
    assert_true(ig_tensor_is_contiguous(x));
    assert_ok(ig_tensor_reshape(x, SHAPE(2, 0, 5), &view));
    expect_values(view, IG_TYPE_F32, SHAPE(2, 0, 5), VALUES(0));
    assert_ok(ig_tensor_transpose(x, 0, 1, &view));
    expect_values(view, IG_TYPE_F32, SHAPE(4, 0), VALUES(0));
    assert_ok(ig_tensor_slice(x, 0, 3, IG_TO_END, -1, &view));
    expect_values(view, IG_TYPE_F32, SHAPE(0, 4), VALUES(0));
    assert_ok(ig_tensor_broadcast(x, SHAPE(3, 0, 4), &view));
    expect_values(view, IG_TYPE_F32, SHAPE(3, 0, 4), VALUES(0));
    ig_tensor_release(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reshapes_share_memory),
        cmocka_unit_test(reshapes_of_strided_views_work_where_they_can),
        cmocka_unit_test(axes_change_places),
        cmocka_unit_test(short_axes_count_for_being_contiguous),
        cmocka_unit_test(slices_are_those_of_python),
        cmocka_unit_test(slices_of_slices_add_up),
        cmocka_unit_test(selecting_takes_an_axis_away),
        cmocka_unit_test(lengths_of_one_come_and_go),
        cmocka_unit_test(broadcasts_repeat),
        cmocka_unit_test(more_elements_than_32_bits_count),
        cmocka_unit_test(a_view_keeps_its_memory_alive),
        cmocka_unit_test(writing_through_a_view_writes_the_tensor),
        cmocka_unit_test(empty_tensors_have_views),
    };
    return cmocka_run_group_tests_name("views", tests, open_test_stream, close_test_stream);
}
