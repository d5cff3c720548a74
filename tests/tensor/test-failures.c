// SPDX-License-Identifier: Apache-2.0
// Failures: wrong calls report what is wrong; memory that runs short anywhere leaves tensors unchanged; failures of
// device work are reported at sync, with the name of the op.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "tensor-helpers.h"
#include "tensor/stream.h"

// ---- Messages ----

static void expect_refusal(ig_status status, ig_status expected, const char *part) {
    assert_status(status, expected);
    expect_error(part);
}

static void wrong_operands_are_named(void **state) {
    (void)state;
    ig_tensor *a = iota(SHAPE(2, 3)), *b = iota(SHAPE(4)), *v = iota(SHAPE(3)), *out = NULL;
    expect_refusal(ig_tensor_add(stream, a, b, NULL, &out), IG_STATUS_INVALID_ARGUMENT,
                   "add: shapes [2, 3] and [4] do not fit together");
    expect_refusal(ig_tensor_add(stream, NULL, b, NULL, &out), IG_STATUS_INVALID_ARGUMENT, "operand 'a' is NULL");
    expect_refusal(ig_tensor_matmul(stream, a, b, NULL, NULL, &out), IG_STATUS_INVALID_ARGUMENT,
                   "inner lengths 3 and 4 differ");
    expect_refusal(ig_tensor_dot(stream, a, v, NULL, &out), IG_STATUS_INVALID_ARGUMENT, "dot: operands must have");
    expect_refusal(ig_tensor_sum(stream, a, &(ig_reduce_desc){.axis_count = 1, .axes = {2}}, NULL, &out),
                   IG_STATUS_INVALID_ARGUMENT, "there is no axis 2 in a tensor of rank 2");
    expect_refusal(ig_tensor_sum(stream, a, &(ig_reduce_desc){.axis_count = 2, .axes = {0, -2}}, NULL, &out),
                   IG_STATUS_INVALID_ARGUMENT, "axis -2 is given twice");
    expect_refusal(ig_tensor_softmax(stream, a, -3, NULL, &out), IG_STATUS_INVALID_ARGUMENT, "there is no axis -3");
    expect_refusal(ig_tensor_rms_norm(stream, a, b, 0, NULL, &out), IG_STATUS_INVALID_ARGUMENT, "weight has shape [4]");
    expect_refusal(ig_tensor_index_select(stream, a, 0, v, NULL, &out), IG_STATUS_INVALID_ARGUMENT, "index is f32");
    expect_refusal(ig_tensor_clamp(stream, a, 2, 1, NULL, &out), IG_STATUS_INVALID_ARGUMENT, "low is 2");
    expect_refusal(ig_tensor_top_k(stream, v, 0, 4, NULL, &out, NULL), IG_STATUS_OUT_OF_RANGE,
                   "k is 4, but the axis has length 3");
    expect_refusal(ig_tensor_concatenate(stream, (const ig_tensor *[]){a, v}, 2, 0, NULL, &out),
                   IG_STATUS_INVALID_ARGUMENT, "concatenate: shapes [2, 3] and [3]");
    expect_refusal(ig_tensor_add(stream, a, a, &(ig_op_options){.into = v}, NULL), IG_STATUS_INVALID_ARGUMENT,
                   "'into' is f32 [3] but the result is f32 [2, 3]");
    expect_refusal(ig_tensor_add(stream, a, a, NULL, NULL), IG_STATUS_INVALID_ARGUMENT, "out is NULL");
    expect_refusal(ig_tensor_norm(stream, a, &(ig_reduce_desc){.order = 3}, NULL, &out), IG_STATUS_UNSUPPORTED,
                   "order is 3");
    assert_null(out);
    ig_tensor_release(a), ig_tensor_release(b), ig_tensor_release(v);
}

static void sizes_that_cannot_be_are_refused(void **state) {
    (void)state;
    ig_tensor *one = iota(SHAPE(1)), *wide = NULL, *tall = NULL, *out = NULL;
    assert_ok(ig_tensor_broadcast(one, SHAPE(1ull << 40, 1), &tall));
    assert_ok(ig_tensor_broadcast(one, SHAPE(1ull << 40), &wide));
    assert_status(ig_tensor_add(stream, tall, wide, NULL, &out), IG_STATUS_OVERFLOW);
    assert_status(ig_tensor_copy(stream, tall, NULL, &out), IG_STATUS_OUT_OF_MEMORY);
    expect_error("[1099511627776, 1]");
    const uint64_t none = 0, much = UINT64_MAX;
    assert_status(ig_tensor_pad(stream, one, &none, &much, 0, NULL, &out), IG_STATUS_OVERFLOW);
    assert_status(ig_tensor_fill(stream, IG_TYPE_F32, (ig_shape){2, {1ull << 40, 1ull << 40}}, 0, NULL, &out),
                  IG_STATUS_OVERFLOW);
    assert_null(out);
    ig_tensor_release(one), ig_tensor_release(wide), ig_tensor_release(tall);
}

static void nothing_cannot_be_chosen_from(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 0)), *out = NULL;
    const ig_reduce_desc rows = {.axis_count = 1, .axes = {1}}, columns = {.axis_count = 1, .axes = {0}};
    expect_refusal(ig_tensor_max(stream, x, &rows, NULL, &out), IG_STATUS_INVALID_ARGUMENT,
                   "no elements along the axes");
    expect_refusal(ig_tensor_argmin(stream, x, NULL, NULL, &out), IG_STATUS_INVALID_ARGUMENT, "no elements");
    assert_ok(ig_tensor_max(stream, x, &columns, NULL, &out));
    expect_values(out, IG_TYPE_F32, SHAPE(0), VALUES(0));
    ig_tensor_release(x);
}

static void indices_outside_are_found(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(3)), *index = tensor_of(IG_TYPE_I64, SHAPE(2), VALUES(0, 3)), *out = NULL;
    for (int b = IG_BACKEND_SCALAR; b <= IG_BACKEND_SIMD; b++) {
        ig_status status =
            ig_tensor_index_select(stream, x, 0, index, &(ig_op_options){.backend = (ig_backend)b}, &out);
        expect_refusal(status, IG_STATUS_OUT_OF_RANGE, "index 3 is outside an axis of length 3");
    }
    assert_status(ig_tensor_gather(stream, x, 0, index, NULL, &out), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_tensor_scatter(stream, x, 0, index, index, false, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    expect_error("source is i64 but x is f32");
    assert_null(out);
    ig_tensor_release(x), ig_tensor_release(index);
}

static void tensors_of_other_devices_are_refused(void **state) {
    (void)state;
    ig_device *other = NULL;
    ig_tensor *x = NULL, *out = NULL;
    assert_ok(ig_device_create(&(ig_device_desc){.cache_dir = ""}, &other, NULL));
    assert_ok(ig_tensor_create_scalar(other, IG_TYPE_F32, 1, &x));
    expect_refusal(ig_tensor_neg(stream, x, NULL, &out), IG_STATUS_INVALID_ARGUMENT, "belongs to another device");
    ig_tensor_release(x);
    ig_device_release(other);
}

// ---- Memory ----

// An op, on tensors that are checked afterwards.
typedef struct scene {
    ig_tensor *x, *y, *v, *index;
    ig_backend backend;
} scene;

typedef ig_status (*attempt)(const scene *s, const ig_op_options *options, ig_tensor **out);

static ig_status try_add(const scene *s, const ig_op_options *o, ig_tensor **out) {
    return ig_tensor_add(stream, s->x, s->y, o, out);
}
static ig_status try_mixed(const scene *s, const ig_op_options *o, ig_tensor **out) {
    return ig_tensor_mul(stream, s->x, s->index, o, out);
}
static ig_status try_exp(const scene *s, const ig_op_options *o, ig_tensor **out) {
    return ig_tensor_exp(stream, s->x, o, out);
}
static ig_status try_variance(const scene *s, const ig_op_options *o, ig_tensor **out) {
    return ig_tensor_variance(stream, s->x, NULL, o, out);
}
static ig_status try_matmul(const scene *s, const ig_op_options *o, ig_tensor **out) {
    ig_tensor *turned = NULL;
    ig_status status = ig_tensor_transpose(s->y, 0, 1, &turned);
    if (status == IG_STATUS_OK) status = ig_tensor_matmul(stream, s->x, turned, NULL, o, out);
    ig_tensor_release(turned);
    return status;
}
static ig_status try_softmax(const scene *s, const ig_op_options *o, ig_tensor **out) {
    return ig_tensor_softmax(stream, s->x, 0, o, out);
}
static ig_status try_norm(const scene *s, const ig_op_options *o, ig_tensor **out) {
    return ig_tensor_rms_norm(stream, s->x, s->v, 0, o, out);
}
static ig_status try_sort(const scene *s, const ig_op_options *o, ig_tensor **out) {
    return ig_tensor_sort(stream, s->x, 1, true, o, out, NULL);
}
static ig_status try_select(const scene *s, const ig_op_options *o, ig_tensor **out) {
    ig_tensor *row = NULL;
    ig_status status = ig_tensor_select(s->index, 0, 0, &row);
    if (status == IG_STATUS_OK) status = ig_tensor_index_select(stream, s->x, 1, row, o, out);
    ig_tensor_release(row);
    return status;
}
static ig_status try_scatter(const scene *s, const ig_op_options *o, ig_tensor **out) {
    return ig_tensor_scatter(stream, s->x, 1, s->index, s->y, true, o, out);
}
static ig_status try_concatenate(const scene *s, const ig_op_options *o, ig_tensor **out) {
    return ig_tensor_concatenate(stream, (const ig_tensor *[]){s->x, s->index}, 2, 0, o, out);
}
static ig_status try_pad(const scene *s, const ig_op_options *o, ig_tensor **out) {
    return ig_tensor_pad(stream, s->x, (const uint64_t[]){1, 2}, (const uint64_t[]){0, 1}, 5, o, out);
}
static ig_status try_random(const scene *s, const ig_op_options *o, ig_tensor **out) {
    (void)s;
    return ig_tensor_random_normal(stream, IG_TYPE_F16, (ig_shape){2, {3, 5}}, (ig_random_desc){1, 2}, 0, 1, o, out);
}

static const struct {
    const char *name;
    attempt run;
} attempts[] = {
    {"add", try_add},
    {"mixed", try_mixed},
    {"exp", try_exp},
    {"variance", try_variance},
    {"matmul", try_matmul},
    {"softmax", try_softmax},
    {"norm", try_norm},
    {"sort", try_sort},
    {"select", try_select},
    {"scatter", try_scatter},
    {"concatenate", try_concatenate},
    {"pad", try_pad},
    {"random", try_random},
};

static scene make_scene(void) {
    double positions[15];
    for (int i = 0; i < 15; i++) positions[i] = i % 5;
    return (scene){.x = iota(SHAPE(3, 5)),
                   .y = iota(SHAPE(3, 5)),
                   .v = iota(SHAPE(5)),
                   .index = tensor_of(IG_TYPE_I64, SHAPE(3, 5), positions)};
}

static void check_scene(const scene *s) {
    float x[15], y[15], v[5];
    int64_t index[15];
    assert_ok(ig_tensor_read(s->x, x, sizeof x));
    assert_ok(ig_tensor_read(s->y, y, sizeof y));
    assert_ok(ig_tensor_read(s->v, v, sizeof v));
    assert_ok(ig_tensor_read(s->index, index, sizeof index));
    for (int i = 0; i < 15; i++) assert_true(x[i] == (float)i && y[i] == (float)i && index[i] == i % 5);
    for (int i = 0; i < 5; i++) assert_true(v[i] == (float)i);
}

// Results must be the same with every allocation that could have failed before.
static uint64_t checksum(ig_tensor *tensor) {
    uint64_t length = ig_tensor_count(tensor) * ig_type_size(ig_tensor_type(tensor)), sum = 1469598103934665603u;
    unsigned char *bytes = malloc(length + 1);
    assert_non_null(bytes);
    assert_ok(ig_tensor_read(tensor, bytes, length));
    for (uint64_t i = 0; i < length; i++) sum = (sum ^ bytes[i]) * 1099511628211u;
    free(bytes);
    ig_tensor_release(tensor);
    return sum;
}

static void fail_everywhere(const scene *s, size_t which, ig_backend backend) {
    const ig_op_options options = {.backend = backend};
    ig_tensor *expected = NULL;
    ig_status status = attempts[which].run(s, &options, &expected);
    if (status == IG_STATUS_UNSUPPORTED) return;
    assert_ok(status);
    uint64_t wanted = checksum(expected);
    for (uint64_t n = 1;; n++) {
        ig_tensor *out = NULL;
        ig_device_trim_pool(device, 0);
        igi_alloc_fail_at(n);
        status = attempts[which].run(s, &options, &out);
        ig_status synced = ig_stream_sync(stream, NULL);
        bool got_through = igi_alloc_fail_at(0) < n;
        if (status == IG_STATUS_OK && synced == IG_STATUS_OK) {
            if (checksum(out) != wanted) fail_msg("%s differs after allocation %d", attempts[which].name, (int)n);
        } else {
            if (status == IG_STATUS_OK) status = synced, ig_tensor_release(out);
            if (status != IG_STATUS_OUT_OF_MEMORY) fail_msg("%s: %s", attempts[which].name, ig_status_name(status));
        }
        check_scene(s);
        if (got_through) {
            assert_true(n > 3);
            return;
        }
        assert_true(n < 10000);
    }
}

static void short_memory_leaves_tensors_as_they_were(void **state) {
    (void)state;
    scene s = make_scene();
    for (size_t i = 0; i < LENGTH(attempts); i++)
        for (int b = IG_BACKEND_SCALAR; b < IG_BACKEND_COUNT; b++) fail_everywhere(&s, i, (ig_backend)b);
    ig_tensor_release(s.x), ig_tensor_release(s.y), ig_tensor_release(s.v), ig_tensor_release(s.index);
}

// Validation that failed for lack of memory is done later, and nothing is rejected because of it.
static void short_memory_during_validation_rejects_nothing(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(100)), *out = NULL;
    for (uint64_t n = 1; n < 400; n += 7) {
        ig_stream *fresh = NULL;
        igi_tensor_runtime *runtime = NULL;
        ig_op_explanation told;
        assert_ok(igi_tensor_runtime_create(device, igi_op_backends, &runtime, NULL));
        assert_ok(igi_tensor_stream_create_on(runtime, NULL, &fresh, NULL));
        igi_alloc_fail_at(n);
        ig_status status = ig_tensor_add(fresh, x, x, NULL, &out);
        igi_alloc_fail_at(0);
        if (status == IG_STATUS_OK) ig_tensor_release(out);
        assert_ok(ig_stream_explain(fresh, IG_OP_ADD, true, &told));
        assert_int_equal(told.backends[IG_BACKEND_SIMD].state, IG_OP_VALIDATED);
        assert_int_equal(told.backends[IG_BACKEND_MSL].state, IG_OP_VALIDATED);
        ig_stream_release(fresh);
    }
    ig_tensor_release(x);
}

static void views_and_streams_survive_short_memory(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(4, 4));
    for (uint64_t n = 1; n < 60; n++) {
        ig_tensor *view = NULL;
        ig_stream *fresh = NULL;
        igi_alloc_fail_at(n);
        ig_status status = ig_tensor_transpose(x, 0, 1, &view);
        if (status == IG_STATUS_OK)
            status = ig_stream_create(device, &(ig_stream_desc){.backends = "simd"}, &fresh, NULL);
        igi_alloc_fail_at(0);
        if (status != IG_STATUS_OK && status != IG_STATUS_SYSTEM) assert_status(status, IG_STATUS_OUT_OF_MEMORY);
        ig_tensor_release(view);
        ig_stream_release(fresh);
    }
    ig_tensor_release(x);
}

// ---- Device work that fails ----

static const char faulty_source[] =
    "kernel void fault(device float *out, uint i [[thread_position_in_grid]]) { out[i + (1ull << 40)] = 1; }\n"
    "kernel void hang(device float *out, uint i [[thread_position_in_grid]]) { while (out[i] >= 0) out[i] += 1; }\n"
    "kernel void good(device const float *a [[buffer(1)]], device float *out [[buffer(0)]],"
    " uint i [[thread_position_in_grid]]) { out[i] = -a[i]; }\n";

static ig_pipeline *pipelines[3];

static ig_status encode(const igi_tensor_call *call, ig_pipeline *pipeline) {
    ig_status status = ig_commands_set_pipeline(call->commands, pipeline);
    if (status == IG_STATUS_OK) status = ig_commands_set_buffer(call->commands, call->out[0].storage->buffer, 0, 0);
    if (status == IG_STATUS_OK)
        status = ig_commands_set_buffer(call->commands, call->in[0].storage->buffer, call->in[0].offset, 1);
    if (status != IG_STATUS_OK) return status;
    return ig_commands_dispatch_threads(call->commands, (ig_size){.x = igi_tensor_view_count(&call->out[0])},
                                        (ig_size){0});
}
static ig_status encode_fault(const igi_tensor_call *call) {
    return encode(call, pipelines[0]);
}
static ig_status encode_hang(const igi_tensor_call *call) {
    return encode(call, pipelines[1]);
}
static ig_status encode_good(const igi_tensor_call *call) {
    return encode(call, pipelines[2]);
}

static const igi_tensor_implementation faulty_rows[] = {
    {.op = IG_OP_EXP, .types = IGI_TYPE(F32), .run = encode_fault},
    {.op = IG_OP_SIN, .types = IGI_TYPE(F32), .run = encode_hang},
    {.op = IG_OP_NEG, .types = IGI_TYPE(F32), .run = encode_good},
};
static const igi_op_backend faulty_msl = {
    .id = IG_BACKEND_MSL, .encodes = true, .rows = faulty_rows, .row_count = LENGTH(faulty_rows)};

// Trusts the rows without testing them, as if they failed only later.
static ig_stream *stream_with_faults(uint64_t deadline_ns) {
    static const char *const kernels[] = {"fault", "hang", "good"};
    ig_library *library = NULL;
    igi_tensor_runtime *runtime = NULL;
    ig_stream *made = NULL;
    const igi_op_backend *backends[] = {&igi_ops_scalar, &faulty_msl, NULL};
    assert_ok(ig_library_create(device, &(ig_library_desc){.source = faulty_source}, &library, NULL));
    for (int i = 0; i < 3; i++)
        assert_ok(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = kernels[i]}, &pipelines[i], NULL));
    ig_library_release(library);
    assert_ok(igi_tensor_runtime_create(device, backends, &runtime, NULL));
    use_fault_handlers();
    for (size_t i = 0; i < LENGTH(faulty_rows); i++)
        atomic_store(&runtime->slots[faulty_rows[i].op][IG_BACKEND_MSL].state, IG_OP_VALIDATED);
    assert_ok(igi_tensor_stream_create_on(runtime, &(ig_stream_desc){.backends = "msl", .deadline_ns = deadline_ns},
                                          &made, NULL));
    return made;
}

static void drop_faults(ig_stream *faulty) {
    ig_stream_release(faulty);
    for (int i = 0; i < 3; i++) ig_pipeline_release(pipelines[i]);
}

static void a_fault_shows_at_sync_with_its_op(void **state) {
    (void)state;
    ig_stream *faulty = stream_with_faults(0);
    ig_tensor *x = iota(SHAPE(64)), *a = NULL, *b = NULL, *c = NULL;
    ig_error error = {0};
    assert_ok(ig_tensor_neg(faulty, x, NULL, &a));
    assert_ok(ig_tensor_exp(faulty, a, NULL, &b));
    assert_ok(ig_tensor_neg(faulty, x, NULL, &c));
    assert_status(ig_stream_sync(faulty, &error), IG_STATUS_KERNEL_FAULT);
    assert_non_null(strstr(error.message, "op 'exp' failed"));
    const void *elements;
    assert_status(ig_tensor_map(b, &elements), IG_STATUS_KERNEL_FAULT);
    // What follows works again.
    assert_ok(ig_stream_sync(faulty, &error));
    ig_tensor_release(a), ig_tensor_release(b), ig_tensor_release(c);
    assert_ok(ig_tensor_neg(faulty, x, NULL, &a));
    assert_ok(ig_stream_sync(faulty, NULL));
    const float *values = NULL;
    assert_ok(ig_tensor_map(a, (const void **)&values));
    assert_true(values[63] == -63);
    ig_error_clear(&error);
    ig_tensor_release(a), ig_tensor_release(x);
    drop_faults(faulty);
}

static void a_host_op_does_not_use_what_was_never_made(void **state) {
    (void)state;
    ig_stream *faulty = stream_with_faults(0);
    ig_tensor *x = iota(SHAPE(64)), *a = NULL, *b = NULL;
    ig_error error = {0};
    assert_ok(ig_tensor_exp(faulty, x, NULL, &a));
    assert_status(ig_tensor_sqrt(faulty, a, NULL, &b), IG_STATUS_KERNEL_FAULT);
    ig_stream_get_error(faulty, &error);
    assert_non_null(strstr(error.message, "sqrt: an operand could not be computed"));
    assert_null(b);
    assert_status(ig_stream_sync(faulty, &error), IG_STATUS_KERNEL_FAULT);
    ig_error_clear(&error);
    ig_tensor_release(a), ig_tensor_release(x);
    drop_faults(faulty);
}

static void an_op_that_hangs_meets_its_deadline(void **state) {
    (void)state;
    ig_stream *faulty = stream_with_faults(200000000);
    ig_tensor *x = iota(SHAPE(8)), *a = NULL;
    ig_error error = {0};
    assert_ok(ig_tensor_sin(faulty, x, NULL, &a));
    assert_status(ig_stream_sync(faulty, &error), IG_STATUS_TIMEOUT);
    assert_non_null(strstr(error.message, "op 'sin' failed"));
    ig_error_clear(&error);
    ig_tensor_release(a), ig_tensor_release(x);
    drop_faults(faulty);
}

// ---- Threads ----

typedef struct share {
    ig_tensor *x;
    bool good;
} share;

// Separate streams, one tensor for all, device and host ops mixed.
static void *work_on_shared(void *argument) {
    share *s = argument;
    ig_stream *own = NULL;
    if (ig_stream_create(device, NULL, &own, NULL) != IG_STATUS_OK) return NULL;
    s->good = true;
    for (int i = 0; i < 40 && s->good; i++) {
        ig_tensor *sum = NULL, *root = NULL;
        const ig_op_options options = {.backend = i % 2 ? IG_BACKEND_MSL : IG_BACKEND_ANY};
        const float *values = NULL;
        s->good = ig_tensor_mul(own, s->x, s->x, &options, &sum) == IG_STATUS_OK &&
                  ig_tensor_sqrt(own, sum, NULL, &root) == IG_STATUS_OK &&
                  ig_tensor_map(root, (const void **)&values) == IG_STATUS_OK && values[0] == 0 && values[999] == 999;
        ig_tensor_release(sum), ig_tensor_release(root);
    }
    ig_stream_release(own);
    return NULL;
}

static void streams_of_several_threads_share_tensors(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    share shares[THREADS];
    ig_tensor *x = iota(SHAPE(1000));
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){x, false};
        assert_int_equal(pthread_create(&threads[i], NULL, work_on_shared, &shares[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) assert_true(shares[i].good);
    ig_tensor_release(x);
}

// One thread encodes, another waits for the results: the batch is committed while the first still uses it.
static void *read_when_told(void *argument) {
    ig_tensor *_Atomic *next = argument;
    for (int read = 0; read < 200;) {
        ig_tensor *tensor = atomic_exchange(next, NULL);
        if (!tensor) continue;
        const float *values = NULL;
        if (ig_tensor_map(tensor, (const void **)&values) != IG_STATUS_OK || values[9] != 18) return NULL;
        ig_tensor_release(tensor);
        read++;
    }
    return argument;
}

static void results_may_be_read_on_another_thread(void **state) {
    (void)state;
    ig_tensor *_Atomic next = NULL;
    ig_tensor *x = iota(SHAPE(10));
    pthread_t reader;
    void *result = NULL;
    assert_int_equal(pthread_create(&reader, NULL, read_when_told, &next), 0);
    for (int i = 0; i < 200; i++) {
        ig_tensor *sum = NULL, *empty = NULL;
        assert_ok(ig_tensor_add(stream, x, x, &(ig_op_options){.backend = IG_BACKEND_MSL}, &sum));
        while (!atomic_compare_exchange_weak(&next, &empty, sum)) empty = NULL;
    }
    pthread_join(reader, &result);
    assert_non_null(result);
    ig_tensor_release(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_operands_are_named),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(nothing_cannot_be_chosen_from),
        cmocka_unit_test(indices_outside_are_found),
        cmocka_unit_test(tensors_of_other_devices_are_refused),
        cmocka_unit_test(short_memory_leaves_tensors_as_they_were),
        cmocka_unit_test(short_memory_during_validation_rejects_nothing),
        cmocka_unit_test(views_and_streams_survive_short_memory),
        cmocka_unit_test(a_fault_shows_at_sync_with_its_op),
        cmocka_unit_test(a_host_op_does_not_use_what_was_never_made),
        cmocka_unit_test(an_op_that_hangs_meets_its_deadline),
        cmocka_unit_test(streams_of_several_threads_share_tensors),
        cmocka_unit_test(results_may_be_read_on_another_thread),
    };
    return cmocka_run_group_tests_name("failures", tests, open_test_stream, close_test_stream);
}
