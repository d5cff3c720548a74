// SPDX-License-Identifier: Apache-2.0
// Chains of elementwise ops: together they give the same results as one by one.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "tensor-helpers.h"
#include "tensor/stream.h"
#include "tensor/types.h"

// Compiling kernels takes most of the time; an argument limits it.
static bool thorough = true;

// ---- Streams ----

static ig_stream *stream_with(const char *fuse, const char *backends) {
    ig_stream *made = NULL;
    setenv("INGOT_FUSE", fuse, 1);
    assert_ok(ig_stream_create(device, &(ig_stream_desc){.backends = backends}, &made, NULL));
    unsetenv("INGOT_FUSE");
    return made;
}

// ---- Random programs ----

enum { SLOTS = 8, STEPS = 40 };

typedef struct program {
    ig_stream *stream;
    ig_tensor *slots[SLOTS];
    uint64_t seed;
    uint64_t rows, columns;
    ig_type type;
    bool plain;  // only ops that every backend computes identically to the last bit
} program;

static uint32_t roll(program *p, uint32_t sides) {
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(p->seed >> 33) % sides;
}

static double value_of(program *p, uint32_t index) {
    static const double special[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e-40, -65504, 3e38};
    if (index % 37 == 5) return special[roll(p, 8)];
    return (double)roll(p, 4001) / 1000 - 2;
}

static ig_tensor *random_tensor(program *p, uint64_t rows, uint64_t columns) {
    uint64_t count = rows * columns;
    double *values = calloc(count + 1, sizeof *values);
    assert_non_null(values);
    for (uint64_t i = 0; i < count; i++) values[i] = value_of(p, (uint32_t)i);
    ig_tensor *tensor = tensor_of(p->type, SHAPE(rows, columns), values);
    free(values);
    return tensor;
}

typedef ig_status (*unary)(ig_stream *, const ig_tensor *, const ig_op_options *, ig_tensor **);
typedef ig_status (*binary)(ig_stream *, const ig_tensor *, const ig_tensor *, const ig_op_options *, ig_tensor **);
static const unary plain_unary[] = {ig_tensor_neg, ig_tensor_abs, ig_tensor_relu, ig_tensor_square, ig_tensor_floor};
static const unary any_unary[] = {ig_tensor_exp,  ig_tensor_tanh,  ig_tensor_sigmoid, ig_tensor_log1p,
                                  ig_tensor_gelu, ig_tensor_isnan, ig_tensor_sqrt,    ig_tensor_sin};
static const binary plain_binary[] = {ig_tensor_add,     ig_tensor_sub,  ig_tensor_mul,       ig_tensor_maximum,
                                      ig_tensor_minimum, ig_tensor_less, ig_tensor_not_equal, ig_tensor_mul};
static const binary any_binary[] = {ig_tensor_div, ig_tensor_pow, ig_tensor_atan2, ig_tensor_mod};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void put(program *p, uint32_t slot, ig_tensor *tensor) {
    ig_tensor_release(p->slots[slot]);
    p->slots[slot] = tensor;
}

static ig_tensor *compute(program *p, const ig_op_options *options) {
    static const ig_type types[] = {IG_TYPE_F32, IG_TYPE_F16, IG_TYPE_BF16, IG_TYPE_I32, IG_TYPE_BOOL, IG_TYPE_U8};
    ig_tensor *a = p->slots[roll(p, SLOTS)], *b = p->slots[roll(p, SLOTS)], *c = p->slots[roll(p, SLOTS)], *out = NULL;
    uint32_t kind = roll(p, 10), which = roll(p, 1000);
    if (kind == 0)
        assert_ok(ig_tensor_where(p->stream, a, b, c, options, &out));
    else if (kind == 1)
        assert_ok(ig_tensor_clamp(p->stream, a, -0.5, 0.75, options, &out));
    else if (kind == 2)
        assert_ok(ig_tensor_leaky_relu(p->stream, a, 0.125, options, &out));
    else if (kind == 3)
        assert_ok(ig_tensor_cast(p->stream, a, types[which % LENGTH(types)], options, &out));
    else if (kind < 6 && (p->plain || kind == 4))
        assert_ok(plain_unary[which % LENGTH(plain_unary)](p->stream, a, options, &out));
    else if (kind < 6)
        assert_ok(any_unary[which % LENGTH(any_unary)](p->stream, a, options, &out));
    else if (p->plain || kind < 9)
        assert_ok(plain_binary[which % LENGTH(plain_binary)](p->stream, a, b, options, &out));
    else
        assert_ok(any_binary[which % LENGTH(any_binary)](p->stream, a, b, options, &out));
    return out;
}

// In place, if the result has the type and shape of its operand.
static void compute_in_place(program *p) {
    ig_tensor *target = p->slots[roll(p, SLOTS)];
    ig_op_options options = {.into = target};
    bool whole = ig_tensor_count(target) == p->rows * p->columns && ig_tensor_type(target) == p->type;
    if (whole && ig_tensor_is_contiguous(target))
        assert_ok(ig_tensor_mul(p->stream, target, p->slots[0], &options, NULL));
}

static ig_tensor *view_of(program *p, ig_tensor *from) {
    ig_tensor *view = NULL;
    if (ig_tensor_count(from) != p->rows * p->columns || !ig_tensor_is_contiguous(from)) return ig_tensor_retain(from);
    if (roll(p, 2)) {
        assert_ok(ig_tensor_reshape(from, 2, (const uint64_t[]){p->rows, p->columns}, &view));
    } else {  // of the last row alone, which then repeats
        ig_tensor *row = NULL;
        assert_ok(ig_tensor_slice(from, 0, -1, IG_TO_END, 1, &row));
        assert_ok(ig_tensor_broadcast(row, 2, (const uint64_t[]){p->rows, p->columns}, &view));
        ig_tensor_release(row);
    }
    return view;
}

static void run_program(program *p) {
    for (uint32_t i = 0; i < SLOTS; i++) {
        bool row = i == 1 || i == 4, column = i == 2, one = i == 3;
        put(p, i, random_tensor(p, row || one ? 1 : p->rows, column || one ? 1 : p->columns));
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t what = roll(p, 12), slot = 4 + roll(p, SLOTS - 4);
        if (what == 0)
            compute_in_place(p);
        else if (what == 1)
            put(p, slot, view_of(p, p->slots[roll(p, SLOTS)]));
        else if (what == 2)
            assert_ok(ig_stream_flush(p->stream));
        else
            put(p, slot, compute(p, NULL));
    }
}

static void expect_same_bits(const ig_tensor *a, const ig_tensor *b, uint64_t seed, uint32_t slot) {
    assert_int_equal(ig_tensor_type(a), ig_tensor_type(b));
    assert_int_equal(ig_tensor_count(a), ig_tensor_count(b));
    ig_type type = ig_tensor_type(a);
    uint64_t count = ig_tensor_count(a), size = ig_type_size(type);
    char *first = malloc(count * size + 1), *second = malloc(count * size + 1);
    assert_true(first && second);
    assert_ok(ig_tensor_read(a, first, count * size));
    assert_ok(ig_tensor_read(b, second, count * size));
    for (uint64_t i = 0; i < count; i++) {
        double x, y;
        igi_tensor_load_doubles(type, first + i * size, 0, 1, &x);
        igi_tensor_load_doubles(type, second + i * size, 0, 1, &y);
        if (memcmp(first + i * size, second + i * size, size) == 0 || (isnan(x) && isnan(y))) continue;
        fail_msg("seed %llu slot %u element %llu: %.9g and %.9g", (unsigned long long)seed, slot, (unsigned long long)i,
                 x, y);
    }
    free(first), free(second);
}

static void compare_programs(program one, program other) {
    run_program(&one);
    run_program(&other);
    assert_ok(ig_stream_sync(other.stream, NULL));
    for (uint32_t i = 0; i < SLOTS; i++) {
        expect_same_bits(one.slots[i], other.slots[i], one.seed, i);
        ig_tensor_release(one.slots[i]);
        ig_tensor_release(other.slots[i]);
    }
}

static void compare_modes(const char *fuse, const char *backends, const char *fuse_other, const char *backends_other,
                          bool plain, uint64_t programs) {
    static const ig_type types[] = {IG_TYPE_F32, IG_TYPE_F32, IG_TYPE_F16, IG_TYPE_BF16};
    static const uint64_t shapes[][2] = {{1, 1}, {3, 7}, {5, 1021}, {129, 64}, {2, 20011}, {1, 4096}};
    ig_stream *first = stream_with(fuse, backends), *second = stream_with(fuse_other, backends_other);
    for (uint64_t seed = 1; seed <= programs; seed++) {
        program p = {.seed = seed * 977, .type = types[seed % 4], .plain = plain};
        p.rows = shapes[seed % 6][0], p.columns = shapes[seed % 6][1];
        program other = p;
        p.stream = first, other.stream = second;
        compare_programs(p, other);
    }
    ig_stream_release(first), ig_stream_release(second);
}

static void test_blocks_give_the_bits_of_single_ops(void **state) {
    (void)state;
    compare_modes("0", NULL, "blocks", NULL, false, thorough ? 120 : 20);
}

static void test_kernels_give_the_bits_of_single_kernels(void **state) {
    (void)state;
    compare_modes("0", "msl", "always", "msl", false, thorough ? 3 : 1);
}

static void test_arithmetic_has_the_same_bits_as_kernel_and_on_the_host(void **state) {
    (void)state;
    compare_modes("0", NULL, "always", NULL, true, thorough ? 3 : 1);
}

// ---- What can be seen ----

static const char *const modes[] = {"0", "blocks", "always", "1"};

static ig_tensor *full(ig_stream *on, uint64_t count, double value) {
    ig_tensor *tensor = NULL;
    assert_ok(ig_tensor_fill(on, IG_TYPE_F32, (ig_shape){.rank = 1, .lengths = {count}}, value, NULL, &tensor));
    return tensor;
}

static void expect_all(ig_tensor *tensor, double value) {
    const void *elements = NULL;
    assert_ok(ig_tensor_map(tensor, &elements));
    for (uint64_t i = 0; i < ig_tensor_count(tensor); i++)
        if (((const float *)elements)[i] != (float)value)
            fail_msg("element %d is %g, not %g", (int)i, (double)((const float *)elements)[i], value);
}

// x + 1, squared, minus x: 3 becomes 13.
typedef struct steps {
    ig_tensor *x, *one, *more, *square, *result;
} steps;

static steps begin_steps(ig_stream *on, uint64_t count) {
    steps s = {.x = full(on, count, 3)};
    assert_ok(ig_tensor_create_scalar(device, IG_TYPE_F32, 1, &s.one));
    assert_ok(ig_tensor_add(on, s.x, s.one, NULL, &s.more));
    assert_ok(ig_tensor_square(on, s.more, NULL, &s.square));
    assert_ok(ig_tensor_sub(on, s.square, s.x, NULL, &s.result));
    return s;
}

static void end_steps(steps *s) {
    ig_tensor *all[] = {s->x, s->one, s->more, s->square, s->result};
    for (int i = 0; i < 5; i++) ig_tensor_release(all[i]);
}

static void test_what_lies_between_can_be_kept(void **state) {
    (void)state;
    for (size_t m = 0; m < LENGTH(modes); m++) {
        ig_stream *on = stream_with(modes[m], NULL);
        steps s = begin_steps(on, 300001);
        expect_all(s.result, 13);
        expect_all(s.more, 4);
        expect_all(s.square, 16);
        end_steps(&s);
        ig_stream_release(on);
    }
}

static void test_operands_may_change_afterwards(void **state) {
    (void)state;
    enum { COUNT = 300001 };
    float *zeros = calloc(COUNT, sizeof *zeros);
    assert_non_null(zeros);
    for (size_t m = 0; m < LENGTH(modes); m++) {
        ig_stream *on = stream_with(modes[m], NULL);
        steps s = begin_steps(on, COUNT);
        assert_ok(ig_tensor_write(s.x, zeros, COUNT * sizeof *zeros));
        expect_all(s.result, 13);
        expect_all(s.x, 0);
        end_steps(&s);
        ig_stream_release(on);
    }
    free(zeros);
}

static void test_other_ops_and_streams_see_results(void **state) {
    (void)state;
    for (size_t m = 0; m < LENGTH(modes); m++) {
        ig_stream *on = stream_with(modes[m], NULL), *other = stream_with(modes[m], "msl");
        steps s = begin_steps(on, 262144);
        ig_tensor *sum = NULL, *negative = NULL;
        double value = 0;
        assert_ok(ig_tensor_sum(on, s.square, NULL, NULL, &sum));
        assert_ok(ig_tensor_neg(other, s.result, NULL, &negative));
        assert_ok(ig_tensor_item(sum, &value));
        assert_true(value == 16.0 * 262144);
        expect_all(negative, -13);
        ig_tensor_release(sum), ig_tensor_release(negative);
        end_steps(&s);
        ig_stream_release(on), ig_stream_release(other);
    }
}

static void test_structures_that_recur_become_kernels(void **state) {
    (void)state;
    ig_stream *on = stream_with("1", NULL);
    for (int i = 0; i < 150; i++) {
        steps s = begin_steps(on, 1 << 20);
        ig_tensor_release(s.more), ig_tensor_release(s.square);
        s.more = s.square = NULL;
        assert_ok(ig_stream_sync(on, NULL));
        if (i % 10 == 0) expect_all(s.result, 13);
        end_steps(&s);
    }
    ig_stream_release(on);
}

// ---- Threads ----

static void *read_result(void *tensor) {
    expect_all(tensor, 13);
    return NULL;
}

static void test_other_threads_may_wait(void **state) {
    (void)state;
    for (size_t m = 0; m < LENGTH(modes); m++)
        for (int i = 0; i < 10; i++) {
            ig_stream *on = stream_with(modes[m], NULL);
            steps s = begin_steps(on, 300000), more;
            pthread_t thread;
            assert_int_equal(pthread_create(&thread, NULL, read_result, s.result), 0);
            more = begin_steps(on, 300000);
            expect_all(more.result, 13);
            pthread_join(thread, NULL);
            end_steps(&s), end_steps(&more);
            ig_stream_release(on);
        }
}

// ---- Failures ----

static void test_sync_names_what_failed(void **state) {
    (void)state;
    ig_stream *on = NULL;
    ig_error error = {0};
    setenv("INGOT_FUSE", "always", 1);
    assert_ok(ig_stream_create(device, &(ig_stream_desc){.deadline_ns = 1}, &on, NULL));
    unsetenv("INGOT_FUSE");
    steps s = begin_steps(on, 1 << 22);
    const void *elements;
    assert_int_equal(ig_stream_sync(on, &error), IG_STATUS_TIMEOUT);
    assert_non_null(error.message);
    assert_non_null(strstr(error.message, "op 'add, square, sub' failed"));
    assert_int_equal(ig_tensor_map(s.result, &elements), IG_STATUS_TIMEOUT);
    expect_all(s.x, 3);
    ig_error_clear(&error);
    end_steps(&s);
    ig_stream_release(on);
}

// From the n-th allocation on memory is short: results are right or there is an error, and operands are unchanged.
static bool try_without_memory(ig_stream *on, uint64_t n) {
    ig_tensor *x = full(on, 5000, 3), *more = NULL, *result = NULL;
    ig_error error = {0};
    igi_alloc_fail_at(n);
    ig_status status = ig_tensor_square(on, x, NULL, &more);
    if (status == IG_STATUS_OK) status = ig_tensor_sub(on, more, x, NULL, &result);
    ig_tensor_release(more);
    ig_status later = ig_stream_sync(on, &error);
    igi_alloc_fail_at(0);
    if (status == IG_STATUS_OK && later == IG_STATUS_OK) expect_all(result, 6);
    if (status != IG_STATUS_OK) assert_int_equal(status, IG_STATUS_OUT_OF_MEMORY);
    if (later != IG_STATUS_OK) assert_int_equal(later, IG_STATUS_OUT_OF_MEMORY);
    expect_all(x, 3);
    ig_error_clear(&error);
    ig_tensor_release(x), ig_tensor_release(result);
    return status == IG_STATUS_OK && later == IG_STATUS_OK;
}

static void test_memory_may_run_out(void **state) {
    (void)state;
    for (size_t m = 1; m < 3; m++) {
        ig_stream *on = stream_with(modes[m], NULL);
        uint64_t n = 1;
        while (!try_without_memory(on, n) || n < 20) assert_true(++n < 2000);
        ig_stream_release(on);
    }
}

int main(int argc, char **argv) {
    (void)argv;
    thorough = argc == 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_give_the_bits_of_single_ops),
        cmocka_unit_test(test_kernels_give_the_bits_of_single_kernels),
        cmocka_unit_test(test_arithmetic_has_the_same_bits_as_kernel_and_on_the_host),
        cmocka_unit_test(test_what_lies_between_can_be_kept),
        cmocka_unit_test(test_operands_may_change_afterwards),
        cmocka_unit_test(test_other_ops_and_streams_see_results),
        cmocka_unit_test(test_structures_that_recur_become_kernels),
        cmocka_unit_test(test_other_threads_may_wait),
        cmocka_unit_test(test_sync_names_what_failed),
        cmocka_unit_test(test_memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, open_test_stream, close_test_stream);
}
