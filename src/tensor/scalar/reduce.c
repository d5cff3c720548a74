// SPDX-License-Identifier: Apache-2.0
// Reductions of the reference: for each result, a walk over its elements.
#include <math.h>

#include "tensor/iterate.h"
#include "tensor/scalar/scalar.h"

enum { CHUNK = 128 };

// Everything that any reduction needs; each uses its own part.
typedef struct accumulator {
    ig_op op;
    ig_type type;
    double order;        // of the norm
    uint64_t seen;       // elements so far
    bool whole;          // integers in int64_t
    double value, mean;  // of floats
    int64_t integer;
    uint64_t index;  // argmax, argmin
} accumulator;

// ---- Floats ----

static void start_double(accumulator *a) {
    a->value = a->op == IG_OP_PROD || a->op == IG_OP_ALL ? 1 : 0;
    a->mean = 0;
    a->index = 0;
}

// Whether x should replace the best so far; the first NaN is kept.
static bool better(const accumulator *a, double x) {
    if (a->seen == 0) return true;
    if (isnan(a->value)) return false;
    if (isnan(x)) return true;
    bool smallest = a->op == IG_OP_MIN || a->op == IG_OP_ARGMIN;
    return smallest ? x < a->value : x > a->value;
}

static void add_norm(accumulator *a, double x) {
    x = fabs(x);
    if (a->order == 1)
        a->value += x;
    else if (isinf(a->order))
        a->value = isnan(x) || x > a->value ? x : a->value;
    else
        a->value += x * x;
}

static void add_double(accumulator *a, double x) {
    switch (a->op) {
        case IG_OP_SUM:
        case IG_OP_MEAN: a->value += x; break;
        case IG_OP_PROD: a->value *= x; break;
        case IG_OP_ANY: a->value = a->value != 0 || x != 0; break;
        case IG_OP_ALL: a->value = a->value != 0 && x != 0; break;
        case IG_OP_NORM: add_norm(a, x); break;
        case IG_OP_VARIANCE: {  // Welford, 1962
            double off = x - a->mean;
            a->mean += off / (double)(a->seen + 1);
            a->value += off * (x - a->mean);
            break;
        }
        default:
            if (better(a, x)) a->value = x, a->index = a->seen;
            break;
    }
    a->seen++;
}

static double finish_double(const accumulator *a, double correction) {
    double count = (double)a->seen;
    switch (a->op) {
        case IG_OP_MEAN: return a->value / count;
        case IG_OP_VARIANCE: return count - correction > 0 ? a->value / (count - correction) : NAN;
        case IG_OP_NORM: return a->order == 2 ? sqrt(a->value) : a->value;
        case IG_OP_ARGMAX:
        case IG_OP_ARGMIN: return (double)a->index;
        default: return a->value;
    }
}

// ---- Integers ----

static void add_integer(accumulator *a, int64_t x) {
    switch (a->op) {
        case IG_OP_SUM: a->integer = (int64_t)((uint64_t)a->integer + (uint64_t)x); break;
        case IG_OP_PROD: a->integer = (int64_t)((uint64_t)a->integer * (uint64_t)x); break;
        case IG_OP_ANY: a->integer = a->integer || x; break;
        case IG_OP_ALL: a->integer = a->integer && x; break;
        case IG_OP_MIN:
        case IG_OP_ARGMIN:
            if (a->seen == 0 || x < a->integer) a->integer = x, a->index = a->seen;
            break;
        default:
            if (a->seen == 0 || x > a->integer) a->integer = x, a->index = a->seen;
            break;
    }
    a->seen++;
}

static void start_integer(accumulator *a) {
    a->integer = a->op == IG_OP_PROD || a->op == IG_OP_ALL;
    a->index = 0;
}

// ---- Walking ----

static void add_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    accumulator *a = user;
    union {
        double doubles[CHUNK];
        int64_t integers[CHUNK];
    } chunk;
    for (uint64_t done = 0, now; done < count; done += now) {
        now = count - done < CHUNK ? count - done : CHUNK;
        const char *from = data[0] + (int64_t)done * strides[0];
        if (a->whole) {
            igi_tensor_load_integers(a->type, from, strides[0], now, chunk.integers);
            for (uint64_t i = 0; i < now; i++) add_integer(a, chunk.integers[i]);
        } else {
            igi_tensor_load_doubles(a->type, from, strides[0], now, chunk.doubles);
            for (uint64_t i = 0; i < now; i++) add_double(a, chunk.doubles[i]);
        }
    }
}

typedef struct context {
    const igi_tensor_call *call;
    igi_tensor_walk inner;  // over one result's elements; data[0] moves
} context;

static void reduce_one(context *c, char *result, char *first) {
    const igi_tensor_call *call = c->call;
    accumulator a = {.op = call->op, .type = call->in[0].type, .order = call->p.reduce.order};
    a.whole = !igi_tensor_is_float(a.type);
    (a.whole ? start_integer : start_double)(&a);
    c->inner.data[0] = first;
    igi_tensor_walk_all(&c->inner, add_row, &a);
    bool position = call->op == IG_OP_ARGMAX || call->op == IG_OP_ARGMIN;
    int64_t integer = position ? (int64_t)a.index : a.integer;
    double value = a.whole || position ? 0 : finish_double(&a, call->p.reduce.correction);
    if (a.whole || position)
        igi_tensor_store_integers(call->out[0].type, result, 0, 1, &integer);
    else
        igi_tensor_store_doubles(call->out[0].type, result, 0, 1, &value);
}

static void reduce_each(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    for (uint64_t i = 0; i < count; i++)
        reduce_one(user, data[0] + (int64_t)i * strides[0], data[1] + (int64_t)i * strides[1]);
}

ig_status igi_scalar_reduce(const igi_tensor_call *call) {
    igi_tensor_view kept = igi_tensor_view_half(&call->in[0], call->p.reduce.axes, false);
    igi_tensor_view reduced = igi_tensor_view_half(&call->in[0], call->p.reduce.axes, true);
    context c = {call, igi_tensor_walk_of(1, (const igi_tensor_view *[]){&reduced})};
    igi_tensor_walk outer = igi_tensor_walk_of(2, (const igi_tensor_view *[]){&call->out[0], &kept});
    igi_tensor_walk_all(&outer, reduce_each, &c);
    return IG_STATUS_OK;
}
