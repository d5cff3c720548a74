// SPDX-License-Identifier: Apache-2.0
// Elementwise ops: packed floats go directly to the kernels, everything else through a chunk in the cache.
#include "tensor/iterate.h"
#include "tensor/simd/simd.h"

typedef struct job {
    const igi_tensor_call *call;
    const igi_simd_kernels *k;
    igi_tensor_walk walk;
    ig_type in, out;
    bool stream;
    igi_tensor_walk_body body;
} job;

static void run_part(void *user, uint64_t begin, uint64_t end) {
    job *j = user;
    igi_tensor_walk_range(&j->walk, begin, end, j->body, j);
}

static ig_status run(const igi_tensor_call *call, uint32_t first_input, igi_tensor_walk_body body) {
    const igi_tensor_view *views[] = {&call->out[0], &call->in[0], &call->in[1], &call->in[2]};
    job j = {.call = call,
             .k = igi_simd(),
             .walk = igi_tensor_walk_of(call->input_count + 1, views),
             .in = call->in[first_input].type,
             .out = call->out[0].type,
             .body = body};
    j.stream = call->past_caches || j.walk.count * sizeof(float) >= IGI_SIMD_STREAM_BYTES;
    igi_tensor_parallel(call->runtime, j.walk.count, IGI_SIMD_GRAIN, run_part, &j);
    return IG_STATUS_OK;
}

// One operand for `count` elements at `at`: in place if it is packed or repeats, else a copy in the buffer.
typedef struct operand {
    const float *floats;
    bool repeats;
} operand;

static operand take(const job *j, const char *data, int64_t stride, uint64_t at, uint64_t count, float *buffer) {
    data += (int64_t)at * stride;
    if (igi_simd_is_packed(j->in, stride)) return (operand){(const float *)data, false};
    igi_simd_load(j->k, j->in, data, stride, stride ? count : 1, buffer);
    return (operand){buffer, stride == 0};
}

// Everything at once if nothing must be converted, else a chunk.
static uint64_t step(const job *j, uint64_t count, const int64_t *strides, uint32_t first, uint32_t operands) {
    bool direct = j->out == IG_TYPE_BOOL || igi_simd_is_packed(j->out, strides[0]);
    for (uint32_t o = first; o < operands; o++)
        direct = direct && (strides[o] == 0 || igi_simd_is_packed(j->in, strides[o]));
    return direct || count < IGI_SIMD_CHUNK ? count : IGI_SIMD_CHUNK;
}

// A kernel needs one operand that does not repeat.
static void spread(operand *o, uint64_t count, float *buffer) {
    for (uint64_t i = 1; i < count; i++) buffer[i] = buffer[0];
    o->repeats = false;
}

// ---- Unary ----

static void unary_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const job *j = user;
    float in[IGI_SIMD_CHUNK], out[IGI_SIMD_CHUNK];
    bool direct = igi_simd_is_packed(j->out, strides[0]) && igi_simd_is_packed(j->in, strides[1]);
    uint64_t most = direct || count < IGI_SIMD_CHUNK ? count : IGI_SIMD_CHUNK;
    for (uint64_t at = 0, now; at < count; at += now) {
        now = count - at < most ? count - at : most;
        char *target = data[0] + (int64_t)at * strides[0];
        bool packed = igi_simd_is_packed(j->out, strides[0]);
        operand a = take(j, data[1], strides[1], at, now, in);
        if (a.repeats) spread(&a, now, in);
        float *result = packed ? (float *)target : out;
        j->k->unary[j->call->op](now, a.floats, result, &j->call->p, packed && j->stream);
        if (!packed) igi_simd_store(j->k, j->out, out, target, strides[0], now);
    }
}

ig_status igi_simd_unary(const igi_tensor_call *call) {
    return run(call, 0, unary_row);
}

// ---- Results of bool ----

static void put_bytes(const uint8_t *from, char *to, int64_t stride, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) to[(int64_t)i * stride] = (char)from[i];
}

static void test_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const job *j = user;
    float in[IGI_SIMD_CHUNK];
    uint8_t out[IGI_SIMD_CHUNK];
    for (uint64_t at = 0, now; at < count; at += now) {
        now = count - at < IGI_SIMD_CHUNK ? count - at : IGI_SIMD_CHUNK;
        operand a = take(j, data[1], strides[1], at, now, in);
        if (a.repeats) spread(&a, now, in);
        j->k->unary_test[j->call->op](now, a.floats, out);
        put_bytes(out, data[0] + (int64_t)at * strides[0], strides[0], now);
    }
}

ig_status igi_simd_unary_test(const igi_tensor_call *call) {
    return run(call, 0, test_row);
}

// ---- Binary ----

static igi_simd_pair take_pair(const job *j, char *const *data, const int64_t *strides, uint64_t at, uint64_t count,
                               float *first, float *second) {
    operand a = take(j, data[0], strides[0], at, count, first), b = take(j, data[1], strides[1], at, count, second);
    if (a.repeats && b.repeats) spread(&a, count, first);
    return (igi_simd_pair){a.floats, b.floats, a.repeats, b.repeats};
}

static void binary_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const job *j = user;
    float first[IGI_SIMD_CHUNK], second[IGI_SIMD_CHUNK], out[IGI_SIMD_CHUNK];
    uint64_t most = strides[1] || strides[2] ? step(j, count, strides, 1, 3) : IGI_SIMD_CHUNK;
    bool packed = igi_simd_is_packed(j->out, strides[0]);
    for (uint64_t at = 0, now; at < count; at += now) {
        now = count - at < most ? count - at : most;
        char *target = data[0] + (int64_t)at * strides[0];
        igi_simd_pair in = take_pair(j, data + 1, strides + 1, at, now, first, second);
        j->k->binary[j->call->op](now, in, packed ? (float *)target : out, packed && j->stream);
        if (!packed) igi_simd_store(j->k, j->out, out, target, strides[0], now);
    }
}

static void compare_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const job *j = user;
    float first[IGI_SIMD_CHUNK], second[IGI_SIMD_CHUNK];
    uint8_t out[IGI_SIMD_CHUNK];
    for (uint64_t at = 0, now; at < count; at += now) {
        now = count - at < IGI_SIMD_CHUNK ? count - at : IGI_SIMD_CHUNK;
        char *target = data[0] + (int64_t)at * strides[0];
        igi_simd_pair in = take_pair(j, data + 1, strides + 1, at, now, first, second);
        bool packed = strides[0] == 1;
        j->k->compare[j->call->op](now, in, packed ? (uint8_t *)target : out);
        if (!packed) put_bytes(out, target, strides[0], now);
    }
}

// ---- Integers ----

// In place if packed, else a copy in the buffer.
static const void *take_integers(uint64_t size, const char *data, int64_t stride, uint64_t count, void *buffer) {
    if (stride == (int64_t)size || stride == 0) return data;
    igi_tensor_copy_elements(size, count, data, stride, buffer, (int64_t)size);
    return buffer;
}

static void integer_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const job *j = user;
    uint64_t size = ig_type_size(j->in), out_size = ig_type_size(j->out);
    int64_t first[IGI_SIMD_CHUNK], second[IGI_SIMD_CHUNK], out[IGI_SIMD_CHUNK];
    for (uint64_t at = 0, now; at < count; at += now) {
        now = count - at < IGI_SIMD_CHUNK ? count - at : IGI_SIMD_CHUNK;
        int64_t offset = (int64_t)at;
        const void *a = take_integers(size, data[1] + offset * strides[1], strides[1], now, first);
        const void *b = take_integers(size, data[2] + offset * strides[2], strides[2], now, second);
        bool packed = strides[0] == (int64_t)out_size, a_repeats = strides[1] == 0;
        char *target = data[0] + offset * strides[0];
        if (a_repeats && strides[2] == 0) {  // a kernel needs one that does not repeat
            igi_tensor_copy_elements(size, now, data[1], 0, (char *)first, (int64_t)size);
            a = first, a_repeats = false;
        }
        j->k->integer_binary[j->call->op][j->in](now, a, a_repeats, b, strides[2] == 0, packed ? (void *)target : out);
        if (!packed) igi_tensor_copy_elements(out_size, now, (const char *)out, (int64_t)out_size, target, strides[0]);
    }
}

ig_status igi_simd_binary(const igi_tensor_call *call) {
    return run(call, 0, igi_tensor_is_float(call->in[0].type) ? binary_row : integer_row);
}

ig_status igi_simd_compare(const igi_tensor_call *call) {
    return run(call, 0, igi_tensor_is_float(call->in[0].type) ? compare_row : integer_row);
}

// ---- Where ----

static void where_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const job *j = user;
    float first[IGI_SIMD_CHUNK], second[IGI_SIMD_CHUNK], out[IGI_SIMD_CHUNK];
    uint8_t condition[IGI_SIMD_CHUNK];
    bool packed = igi_simd_is_packed(j->out, strides[0]);
    for (uint64_t at = 0, now; at < count; at += now) {
        now = count - at < IGI_SIMD_CHUNK ? count - at : IGI_SIMD_CHUNK;
        char *target = data[0] + (int64_t)at * strides[0];
        const char *tests = data[1] + (int64_t)at * strides[1];
        const uint8_t *test = (const uint8_t *)tests;
        if (strides[1] != 1) {
            igi_tensor_copy_elements(1, now, tests, strides[1], (char *)condition, 1);
            test = condition;
        }
        igi_simd_pair in = take_pair(j, data + 2, strides + 2, at, now, first, second);
        j->k->where(now, test, in, packed ? (float *)target : out, false);
        if (!packed) igi_simd_store(j->k, j->out, out, target, strides[0], now);
    }
}

ig_status igi_simd_where(const igi_tensor_call *call) {
    return run(call, 1, where_row);
}
