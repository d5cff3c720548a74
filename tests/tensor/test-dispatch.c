// SPDX-License-Identifier: Apache-2.0
// Dispatch: only validated implementations run, wrong ones are detected, overrides work.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor-helpers.h"
#include "tensor/stream.h"

// ---- Backends that are wrong on purpose ----

static int runs_of_wrong;

static ig_status add_wrongly(const igi_tensor_call *call) {
    runs_of_wrong++;
    memset(igi_tensor_view_data(&call->out[0]), 0x3f, 4 * igi_tensor_view_count(&call->out[0]));
    return IG_STATUS_OK;
}

static ig_status fail_always(const igi_tensor_call *call) {
    (void)call;
    return IG_STATUS_INTERNAL;
}

static const igi_tensor_implementation wrong_rows[] = {
    {.op = IG_OP_ADD, .types = IGI_TYPE(F32), .run = add_wrongly},
    {.op = IG_OP_MUL, .types = IGI_TYPE(F32), .run = fail_always},
};
static const igi_op_backend wrong_simd = {.id = IG_BACKEND_SIMD, .rows = wrong_rows, .row_count = LENGTH(wrong_rows)};

static int warnings;
static char last_warning[256];
static void count_warnings(ig_log_level level, const char *message, void *user) {
    (void)user;
    if (level != IG_LOG_WARNING) return;
    warnings++;
    strncpy(last_warning, message, sizeof last_warning - 1);
}

static ig_stream *stream_with(const igi_op_backend *extra) {
    igi_tensor_runtime *runtime = NULL;
    ig_stream *made = NULL;
    const igi_op_backend *backends[] = {&igi_ops_scalar, extra, NULL};
    assert_ok(igi_tensor_runtime_create(device, backends, &runtime, NULL));
    assert_ok(igi_tensor_stream_create_on(runtime, NULL, &made, NULL));
    return made;
}

static void a_wrong_backend_is_found_out_and_never_used(void **state) {
    (void)state;
    ig_set_log(count_warnings, NULL);
    ig_stream *wrong = stream_with(&wrong_simd);
    ig_tensor *a = iota(SHAPE(100)), *b = NULL, *c = NULL;
    warnings = runs_of_wrong = 0;
    assert_ok(ig_tensor_add(wrong, a, a, NULL, &b));
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "'add' of backend 'simd'"));
    int runs = runs_of_wrong;
    assert_true(runs > 0);
    assert_ok(ig_tensor_add(wrong, a, a, NULL, &c));
    assert_int_equal(runs_of_wrong, runs);
    assert_int_equal(warnings, 1);
    const float *sums = NULL;
    assert_ok(ig_tensor_map(c, (const void **)&sums));
    for (int i = 0; i < 100; i++) assert_true(sums[i] == 2.0F * (float)i);
    ig_tensor_release(b), ig_tensor_release(c);
    assert_ok(ig_tensor_mul(wrong, a, a, NULL, &c));
    assert_int_equal(warnings, 2);
    ig_op_explanation told;
    assert_ok(ig_stream_explain(wrong, IG_OP_ADD, false, &told));
    assert_int_equal(told.backends[IG_BACKEND_SIMD].state, IG_OP_REJECTED);
    assert_non_null(strstr(told.backends[IG_BACKEND_SIMD].reason, "instead of"));
    assert_int_equal(ig_stream_choice(wrong, IG_OP_ADD, IG_TYPE_F32, 1000), IG_BACKEND_SCALAR);
    ig_tensor_release(a), ig_tensor_release(c);
    ig_stream_release(wrong);
    ig_set_log(NULL, NULL);
}

static void asking_for_a_rejected_backend_is_refused(void **state) {
    (void)state;
    ig_stream *wrong = stream_with(&wrong_simd);
    ig_tensor *a = iota(SHAPE(10)), *sum = NULL;
    ig_error error = {0};
    const ig_op_options options = {.backend = IG_BACKEND_SIMD};
    assert_status(ig_tensor_add(wrong, a, a, &options, &sum), IG_STATUS_UNSUPPORTED);
    assert_null(sum);
    ig_stream_get_error(wrong, &error);
    assert_non_null(strstr(error.message, "add: backend 'simd' failed its validation"));
    assert_status(ig_tensor_add(wrong, a, a, &(ig_op_options){.backend = IG_BACKEND_MSL}, &sum), IG_STATUS_UNSUPPORTED);
    ig_error_clear(&error);
    ig_tensor_release(a);
    ig_stream_release(wrong);
}

// ---- Overrides ----

static ig_backend forced(ig_op op) {
    ig_op_explanation told;
    assert_ok(ig_stream_explain(stream, op, false, &told));
    return told.forced;
}

static void backends_can_be_chosen_for_all_and_for_single_ops(void **state) {
    (void)state;
    assert_ok(ig_stream_set_backends(stream, "simd,matmul=blas,add=msl", NULL));
    assert_int_equal(forced(IG_OP_EXP), IG_BACKEND_SIMD);
    assert_int_equal(forced(IG_OP_MATMUL), IG_BACKEND_BLAS);
    assert_int_equal(forced(IG_OP_ADD), IG_BACKEND_MSL);
    assert_int_equal(ig_stream_choice(stream, IG_OP_ADD, IG_TYPE_F32, 1), IG_BACKEND_MSL);
    assert_int_equal(ig_stream_choice(stream, IG_OP_EXP, IG_TYPE_I32, 1), IG_BACKEND_SIMD);  // converted to f32 first
    ig_error error = {0};
    assert_status(ig_stream_set_backends(stream, "matmul=fast", &error), IG_STATUS_NOT_FOUND);
    assert_non_null(strstr(error.message, "'fast'"));
    assert_status(ig_stream_set_backends(stream, "multiply=blas", &error), IG_STATUS_NOT_FOUND);
    assert_non_null(strstr(error.message, "'multiply'"));
    assert_int_equal(forced(IG_OP_ADD), IG_BACKEND_MSL);
    assert_ok(ig_stream_set_backends(stream, "", NULL));
    assert_int_equal(forced(IG_OP_ADD), IG_BACKEND_ANY);
    ig_error_clear(&error);
}

static void the_environment_is_the_default(void **state) {
    (void)state;
    ig_stream *other = NULL;
    ig_error error = {0};
    ig_op_explanation told;
    setenv("INGOT_BACKEND", "scalar,mul=msl", 1);
    assert_ok(ig_stream_create(device, NULL, &other, NULL));
    assert_ok(ig_stream_explain(other, IG_OP_MUL, false, &told));
    assert_int_equal(told.forced, IG_BACKEND_MSL);
    ig_stream_release(other);
    setenv("INGOT_BACKEND", "warp", 1);
    other = NULL;
    assert_status(ig_stream_create(device, NULL, &other, &error), IG_STATUS_NOT_FOUND);
    assert_null(other);
    unsetenv("INGOT_BACKEND");
    ig_error_clear(&error);
}

static void thresholds_are_kept_for_later_processes(void **state) {
    (void)state;
    ig_op_explanation told;
    assert_ok(ig_stream_set_threshold(stream, IG_OP_ADD, IG_BACKEND_MSL, 12345));
    assert_int_equal(ig_stream_choice(stream, IG_OP_ADD, IG_TYPE_F32, 12345), IG_BACKEND_MSL);
    assert_int_not_equal(ig_stream_choice(stream, IG_OP_ADD, IG_TYPE_F32, 12344), IG_BACKEND_MSL);
    assert_ok(ig_stream_save_thresholds(stream, NULL));
    ig_stream_release(stream);
    assert_ok(ig_stream_create(device, NULL, &stream, NULL));
    assert_ok(ig_stream_explain(stream, IG_OP_ADD, false, &told));
    assert_int_equal(told.backends[IG_BACKEND_MSL].threshold, 12345);
    assert_ok(ig_stream_set_threshold(stream, IG_OP_ADD, IG_BACKEND_MSL, UINT64_MAX));
    assert_ok(ig_stream_save_thresholds(stream, NULL));
    assert_status(ig_stream_set_threshold(stream, IG_OP_ADD, IG_BACKEND_BLAS, 1), IG_STATUS_NOT_FOUND);
}

static void verdicts_are_remembered_on_disk(void **state) {
    (void)state;
    ig_op_explanation told;
    assert_ok(ig_stream_explain(stream, IG_OP_MUL, true, &told));
    assert_int_equal(told.backends[IG_BACKEND_MSL].state, IG_OP_VALIDATED);
    ig_device *again = NULL;
    ig_stream *other = NULL;
    ig_device_stats stats;
    assert_ok(ig_device_create(&(ig_device_desc){.cache_dir = cache_dir}, &again, NULL));
    assert_ok(ig_stream_create(again, NULL, &other, NULL));
    assert_ok(ig_stream_explain(other, IG_OP_MUL, true, &told));
    assert_int_equal(told.backends[IG_BACKEND_MSL].state, IG_OP_VALIDATED);
    ig_device_get_stats(again, &stats);
    assert_int_equal(stats.dispatches, 0);
    ig_stream_release(other);
    ig_device_release(again);
}

// ---- Interleaving ----

static void host_and_device_ops_see_each_others_results(void **state) {
    (void)state;
    const ig_op_options on_device = {.backend = IG_BACKEND_MSL}, on_host = {.backend = IG_BACKEND_SCALAR};
    ig_tensor *x = iota(SHAPE(1000)), *y = NULL, *z = NULL;
    for (int i = 0; i < 10; i++) {
        assert_ok(ig_tensor_add(stream, x, x, i % 2 ? &on_host : &on_device, &y));
        assert_ok(ig_tensor_sub(stream, y, x, &on_host, &z));
        ig_tensor_release(y);
        assert_ok(ig_tensor_mul(stream, z, z, i % 3 ? &on_device : &on_host, &y));
        ig_tensor_release(z);
        z = NULL;
        assert_ok(ig_tensor_sqrt(stream, y, NULL, &z));
        ig_tensor_release(y), ig_tensor_release(x);
        x = z;
    }
    const float *values = NULL;
    assert_ok(ig_tensor_map(x, (const void **)&values));
    for (int i = 0; i < 1000; i++) assert_true(values[i] == (float)i);
    ig_tensor_release(x);
    assert_ok(ig_stream_sync(stream, NULL));
}

static void results_can_go_into_an_operand(void **state) {
    (void)state;
    const ig_backend backends[] = {IG_BACKEND_SCALAR, IG_BACKEND_MSL};
    for (size_t b = 0; b < LENGTH(backends); b++) {
        ig_tensor *x = iota(SHAPE(5)), *shifted = NULL, *head = NULL;
        ig_op_options options = {.backend = backends[b], .into = x};
        assert_ok(ig_tensor_add(stream, x, x, &options, NULL));
        assert_ok(ig_tensor_slice(x, 0, 1, IG_TO_END, 1, &shifted));
        assert_ok(ig_tensor_slice(x, 0, 0, 4, 1, &head));
        options.into = shifted;
        assert_ok(ig_tensor_add(stream, head, head, &options, NULL));  // overlaps its operand
        expect_values(x, IG_TYPE_F32, SHAPE(5), VALUES(0, 0, 4, 8, 12));
        ig_tensor_release(shifted), ig_tensor_release(head);
    }
}

// Too long for a backend to read all of the operand before it writes.
static void long_results_can_go_into_an_operand(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    const ig_backend backends[] = {IG_BACKEND_SCALAR, IG_BACKEND_SIMD, IG_BACKEND_MSL};
    for (size_t b = 0; b < LENGTH(backends); b++) {
        ig_tensor *x = iota(SHAPE(COUNT)), *shifted = NULL, *head = NULL;
        assert_ok(ig_tensor_slice(x, 0, 1, IG_TO_END, 1, &shifted));
        assert_ok(ig_tensor_slice(x, 0, 0, COUNT - 1, 1, &head));
        assert_ok(ig_tensor_add(stream, head, head, &(ig_op_options){.backend = backends[b], .into = shifted}, NULL));
        const float *values = NULL;
        assert_ok(ig_tensor_map(x, (const void **)&values));
        for (int i = 1; i < COUNT; i++) assert_true(values[i] == (float)(2 * (i - 1)));
        ig_tensor_release(shifted), ig_tensor_release(head), ig_tensor_release(x);
    }
}

static void a_stream_may_be_dropped_with_work_in_it(void **state) {
    (void)state;
    ig_stream *other = NULL;
    ig_tensor *x = iota(SHAPE(64)), *y = NULL;
    assert_ok(ig_stream_create(device, NULL, &other, NULL));
    assert_ok(ig_tensor_add(other, x, x, &(ig_op_options){.backend = IG_BACKEND_MSL}, &y));
    ig_stream_release(other);
    const float *values = NULL;
    assert_ok(ig_tensor_map(y, (const void **)&values));
    assert_true(values[63] == 126);
    ig_tensor_release(x), ig_tensor_release(y);
}

static void long_chains_on_the_device_do_not_pile_up_memory(void **state) {
    (void)state;
    const ig_op_options on_device = {.backend = IG_BACKEND_MSL};
    ig_tensor *x = iota(SHAPE(1 << 16)), *zero = NULL;
    assert_ok(ig_tensor_create(device, &(ig_tensor_desc){.type = IG_TYPE_F32, .rank = 1, .shape = {1 << 16}}, &zero));
    for (int i = 0; i < 2000; i++) {
        ig_tensor *y = NULL;
        assert_ok(ig_tensor_add(stream, x, zero, &on_device, &y));
        ig_tensor_release(x);
        x = y;
    }
    ig_pool_stats stats;
    ig_device_get_pool_stats(device, &stats);
    assert_true(stats.peak_bytes < (200u << 20));
    const float *values = NULL;
    assert_ok(ig_tensor_map(x, (const void **)&values));
    assert_true(values[65535] == 65535);
    ig_tensor_release(x), ig_tensor_release(zero);
}

// ---- Sizes ----

static ig_status run_rows(int which, const ig_tensor *x, ig_tensor **out) {
    const ig_op_options options = {.backend = IG_BACKEND_SIMD};
    switch (which) {
        case 0: return ig_tensor_exp(stream, x, &options, out);
        case 1: return ig_tensor_softmax(stream, x, -1, &options, out);
        case 2: return ig_tensor_log_softmax(stream, x, -1, &options, out);
        case 3: return ig_tensor_gelu(stream, x, &options, out);
        default: return ig_tensor_rms_norm(stream, x, NULL, 0, &options, out);
    }
}

// Large results are written past the caches, by different code.
static void rows_of_a_large_call_are_those_of_a_small_one(void **state) {
    (void)state;
    enum { ROWS = 2100, COLUMNS = 1023, FEW = 7 };
    static float large[FEW * COLUMNS], small[FEW * COLUMNS];
    ig_tensor *x = NULL, *part = NULL;
    ig_shape shape = {.rank = 2, .lengths = {ROWS, COLUMNS}};
    assert_ok(ig_tensor_random_uniform(stream, IG_TYPE_F32, shape, (ig_random_desc){.seed = 1}, -2, 2, NULL, &x));
    assert_ok(ig_tensor_slice(x, 0, ROWS - FEW, IG_TO_END, 1, &part));
    for (int which = 0; which < 5; which++) {
        ig_tensor *whole = NULL, *rows = NULL, *end = NULL;
        assert_ok(run_rows(which, x, &whole));
        assert_ok(run_rows(which, part, &rows));
        assert_ok(ig_tensor_slice(whole, 0, ROWS - FEW, IG_TO_END, 1, &end));
        assert_ok(ig_tensor_read(end, large, sizeof large));
        assert_ok(ig_tensor_read(rows, small, sizeof small));
        assert_memory_equal(large, small, sizeof large);
        ig_tensor_release(whole), ig_tensor_release(rows), ig_tensor_release(end);
    }
    ig_tensor_release(x), ig_tensor_release(part);
}

static void rows_of_a_large_softmax_do_not_see_each_other(void **state) {
    (void)state;
    enum { ROWS = 1100, COLUMNS = 2048, MASKED = 501, SPOILED = 503 };
    static float values[ROWS * COLUMNS];
    const ig_op_options options = {.backend = IG_BACKEND_SIMD};
    for (int i = 0; i < ROWS * COLUMNS; i++) values[i] = (float)(i % 7);
    for (int i = 0; i < COLUMNS; i++) values[MASKED * COLUMNS + i] = -INFINITY;
    values[SPOILED * COLUMNS + 5] = NAN;
    ig_tensor *x = NULL, *y = NULL;
    ig_tensor_desc desc = {.type = IG_TYPE_F32, .rank = 2, .shape = {ROWS, COLUMNS}, .bytes = values};
    assert_ok(ig_tensor_create(device, &desc, &x));
    assert_ok(ig_tensor_softmax(stream, x, -1, &options, &y));
    assert_ok(ig_tensor_read(y, values, sizeof values));
    for (int row = 0; row < ROWS; row++) {
        double sum = 0;
        for (int i = 0; i < COLUMNS; i++) sum += (double)values[row * COLUMNS + i];
        if (row == SPOILED)
            assert_true(isnan(sum));
        else
            assert_true(fabs(sum - (row != MASKED)) < 1e-5);
    }
    ig_tensor_release(x), ig_tensor_release(y);
}

// gelu has a short formula for the middle, a long one for elements outside of it, and other code if there are none.
static void gelu_of_an_element_does_not_depend_on_its_neighbours(void **state) {
    (void)state;
    enum { COUNT = 1003 };
    const ig_op_options options = {.backend = IG_BACKEND_SIMD};
    static float alone[COUNT], among[COUNT], values[COUNT];
    for (int i = 0; i < COUNT; i++) values[i] = -1.25F + 3 * (float)i / COUNT;
    for (int outside = 0; outside <= COUNT; outside += 59) {
        ig_tensor *x = NULL, *y = NULL;
        ig_tensor_desc desc = {.type = IG_TYPE_F32, .rank = 1, .shape = {COUNT}, .bytes = values};
        if (outside) values[outside - 1] = -3;
        assert_ok(ig_tensor_create(device, &desc, &x));
        assert_ok(ig_tensor_gelu(stream, x, &options, &y));
        assert_ok(ig_tensor_read(y, outside ? among : alone, sizeof among));
        if (outside) {
            assert_float_equal(among[outside - 1], -0.0040496940F, 1e-8F);
            alone[outside - 1] = among[outside - 1];
            assert_memory_equal(alone, among, sizeof among);
        }
        ig_tensor_release(x), ig_tensor_release(y);
    }
}

// Whole blocks of a transpose, parts of them, and rows that are not aligned to cache lines.
static void transposed_copies_have_every_element_in_its_place(void **state) {
    (void)state;
    static const uint64_t sizes[][2] = {{64, 16}, {16, 64}, {128, 32}, {81, 47}, {400, 208}, {67, 1024}};
    const ig_op_options options = {.backend = IG_BACKEND_SIMD};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        uint64_t rows = sizes[i][0], columns = sizes[i][1];
        ig_tensor *x = iota(SHAPE(rows, columns)), *turned = NULL, *copy = NULL;
        const float *values = NULL;
        assert_ok(ig_tensor_transpose(x, 0, 1, &turned));
        assert_ok(ig_tensor_copy(stream, turned, &options, &copy));
        assert_ok(ig_tensor_map(copy, (const void **)&values));
        for (uint64_t c = 0; c < columns; c++)
            for (uint64_t r = 0; r < rows; r++) assert_true(values[c * rows + r] == (float)(r * columns + c));
        ig_tensor_release(x), ig_tensor_release(turned), ig_tensor_release(copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_backend_is_found_out_and_never_used),
        cmocka_unit_test(asking_for_a_rejected_backend_is_refused),
        cmocka_unit_test(backends_can_be_chosen_for_all_and_for_single_ops),
        cmocka_unit_test(the_environment_is_the_default),
        cmocka_unit_test(thresholds_are_kept_for_later_processes),
        cmocka_unit_test(verdicts_are_remembered_on_disk),
        cmocka_unit_test(host_and_device_ops_see_each_others_results),
        cmocka_unit_test(results_can_go_into_an_operand),
        cmocka_unit_test(long_results_can_go_into_an_operand),
        cmocka_unit_test(a_stream_may_be_dropped_with_work_in_it),
        cmocka_unit_test(long_chains_on_the_device_do_not_pile_up_memory),
        cmocka_unit_test(rows_of_a_large_call_are_those_of_a_small_one),
        cmocka_unit_test(rows_of_a_large_softmax_do_not_see_each_other),
        cmocka_unit_test(gelu_of_an_element_does_not_depend_on_its_neighbours),
        cmocka_unit_test(transposed_copies_have_every_element_in_its_place),
    };
    return cmocka_run_group_tests_name("dispatch", tests, open_test_stream, close_test_stream);
}
