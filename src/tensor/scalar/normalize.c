// SPDX-License-Identifier: Apache-2.0
// Softmax, layer norm and rms norm of the reference, and cumulative sums: one line at a time, in double.
#include <math.h>

#include "tensor/lines.h"
#include "tensor/scalar/scalar.h"

typedef struct context {
    const igi_tensor_call *call;
    ig_type in, out;
} context;

static double get(ig_type type, const char *line, int64_t stride, uint64_t i) {
    double value;
    igi_tensor_load_doubles(type, line + (int64_t)i * stride, 0, 1, &value);
    return value;
}

static void set(ig_type type, char *line, int64_t stride, uint64_t i, double value) {
    igi_tensor_store_doubles(type, line + (int64_t)i * stride, 0, 1, &value);
}

static void visit_all(const igi_tensor_call *call, uint32_t axis, igi_tensor_line_body body) {
    context c = {call, call->in[0].type, call->out[0].type};
    igi_tensor_lines lines = igi_tensor_lines_of(2, (const igi_tensor_view *[]){&call->out[0], &call->in[0]}, axis);
    igi_tensor_lines_visit(&lines, 0, lines.count, body, &c);
}

// ---- Softmax ----

static double largest(const context *c, const igi_tensor_lines *lines, const char *line) {
    double most = -INFINITY;
    for (uint64_t i = 0; i < lines->length; i++) {
        double x = get(c->in, line, lines->strides[1], i);
        most = isnan(x) || x > most ? x : most;
        if (isnan(most)) break;
    }
    return most;
}

static void softmax_line(void *user, const igi_tensor_lines *lines, char *const *starts) {
    const context *c = user;
    bool logarithm = c->call->op == IG_OP_LOG_SOFTMAX;
    double most = largest(c, lines, starts[1]), sum = 0;
    for (uint64_t i = 0; i < lines->length; i++) sum += exp(get(c->in, starts[1], lines->strides[1], i) - most);
    for (uint64_t i = 0; i < lines->length; i++) {
        double off = get(c->in, starts[1], lines->strides[1], i) - most;
        double value = logarithm ? off - log(sum) : exp(off) / sum;
        if (most == -INFINITY) value = logarithm ? -INFINITY : 0;
        set(c->out, starts[0], lines->strides[0], i, value);
    }
}

ig_status igi_scalar_softmax(const igi_tensor_call *call) {
    visit_all(call, call->p.along.axis, softmax_line);
    return IG_STATUS_OK;
}

// ---- Norms ----

static double average(const context *c, const igi_tensor_lines *lines, const char *line, double centre, bool squares) {
    double sum = 0;
    for (uint64_t i = 0; i < lines->length; i++) {
        double x = get(c->in, line, lines->strides[1], i) - centre;
        sum += squares ? x * x : x;
    }
    return sum / (double)lines->length;
}

static double factor(const igi_tensor_view *vector, uint64_t i, double otherwise) {
    if (!vector->storage) return otherwise;
    return get(vector->type, igi_tensor_view_data(vector), igi_tensor_view_stride_bytes(vector, 0), i);
}

static void norm_line(void *user, const igi_tensor_lines *lines, char *const *starts) {
    const context *c = user;
    const igi_tensor_call *call = c->call;
    bool centred = call->op == IG_OP_LAYER_NORM;
    double centre = centred ? average(c, lines, starts[1], 0, false) : 0;
    double scale = 1 / sqrt(average(c, lines, starts[1], centre, true) + call->p.norm.epsilon);
    for (uint64_t i = 0; i < lines->length; i++) {
        double x = (get(c->in, starts[1], lines->strides[1], i) - centre) * scale * factor(&call->in[1], i, 1);
        set(c->out, starts[0], lines->strides[0], i, centred ? x + factor(&call->in[2], i, 0) : x);
    }
}

ig_status igi_scalar_norm(const igi_tensor_call *call) {
    visit_all(call, call->in[0].rank - 1, norm_line);
    return IG_STATUS_OK;
}

// ---- Cumulative sums ----

static void sum_line(void *user, const igi_tensor_lines *lines, char *const *starts) {
    const context *c = user;
    double sum = 0;
    for (uint64_t i = 0; i < lines->length; i++) {
        sum += get(c->in, starts[1], lines->strides[1], i);
        set(c->out, starts[0], lines->strides[0], i, sum);
    }
}

static void sum_integer_line(void *user, const igi_tensor_lines *lines, char *const *starts) {
    const context *c = user;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < lines->length; i++) {
        int64_t x;
        igi_tensor_load_integers(c->in, starts[1] + (int64_t)i * lines->strides[1], 0, 1, &x);
        sum += (uint64_t)x;
        igi_tensor_store_integers(c->out, starts[0] + (int64_t)i * lines->strides[0], 0, 1, &(int64_t){(int64_t)sum});
    }
}

ig_status igi_scalar_cumsum(const igi_tensor_call *call) {
    visit_all(call, call->p.along.axis, igi_tensor_is_float(call->in[0].type) ? sum_line : sum_integer_line);
    return IG_STATUS_OK;
}
