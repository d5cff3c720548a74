// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of the reference: operands are widened to double or int64_t a few at a time.
#include "tensor/scalar/scalar.h"

#include <string.h>

#include "tensor/iterate.h"
#include "tensor/scalar/expressions.h"

enum { CHUNK = 128 };

// Every function has two operands: a unary op is given `a` twice.
typedef void (*double_op)(uint64_t count, double *out, const double *a, const double *b,
                          const igi_tensor_parameters *p);
typedef void (*integer_op)(uint64_t count, int64_t *out, const int64_t *a, const int64_t *b,
                           const igi_tensor_parameters *p);

// NOLINTBEGIN(bugprone-macro-parentheses): a domain is a type
#define DEFINE(domain, id, expression)                                                         \
    static void domain##_##id(uint64_t count, domain *out, const domain *as, const domain *bs, \
                              const igi_tensor_parameters *p) {                                \
        for (uint64_t i = 0; i < count; i++) {                                                 \
            domain a = as[i], b = bs[i];                                                       \
            (void)b, (void)p;                                                                  \
            out[i] = (domain)(expression);                                                     \
        }                                                                                      \
    }
// NOLINTEND(bugprone-macro-parentheses)
#define DEFINE_DOUBLE(id, ulps, expression) DEFINE(double, id, expression)
#define DEFINE_INTEGER(id, expression) DEFINE(int64_t, id, expression)
IGI_DOUBLE_EXPRESSIONS(DEFINE_DOUBLE)
IGI_INTEGER_EXPRESSIONS(DEFINE_INTEGER)

static const struct {
    double_op of_doubles;
    integer_op of_integers;
} functions[IG_OP_COUNT] = {
#define DOUBLE_ENTRY(id, ulps, expression) [IG_OP_##id].of_doubles = double_##id,
    IGI_DOUBLE_EXPRESSIONS(DOUBLE_ENTRY)
#define INTEGER_ENTRY(id, expression) [IG_OP_##id].of_integers = int64_t_##id,
        IGI_INTEGER_EXPRESSIONS(INTEGER_ENTRY)};

typedef struct context {
    const igi_tensor_call *call;
    ig_type in, out;
} context;

static void walk_doubles(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const context *c = user;
    double_op function = functions[c->call->op].of_doubles;
    bool binary = c->call->input_count == 2;
    double a[CHUNK], b[CHUNK], result[CHUNK];
    for (uint64_t done = 0, now; done < count; done += now) {
        now = count - done < CHUNK ? count - done : CHUNK;
        int64_t at = (int64_t)done;
        igi_tensor_load_doubles(c->in, data[1] + at * strides[1], strides[1], now, a);
        if (binary) igi_tensor_load_doubles(c->in, data[2] + at * strides[2], strides[2], now, b);
        function(now, result, a, binary ? b : a, &c->call->p);
        igi_tensor_store_doubles(c->out, data[0] + at * strides[0], strides[0], now, result);
    }
}

static void walk_integers(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const context *c = user;
    integer_op function = functions[c->call->op].of_integers;
    bool binary = c->call->input_count == 2;
    int64_t a[CHUNK], b[CHUNK], result[CHUNK];
    for (uint64_t done = 0, now; done < count; done += now) {
        now = count - done < CHUNK ? count - done : CHUNK;
        int64_t at = (int64_t)done;
        igi_tensor_load_integers(c->in, data[1] + at * strides[1], strides[1], now, a);
        if (binary) igi_tensor_load_integers(c->in, data[2] + at * strides[2], strides[2], now, b);
        function(now, result, a, binary ? b : a, &c->call->p);
        igi_tensor_store_integers(c->out, data[0] + at * strides[0], strides[0], now, result);
    }
}

ig_status igi_scalar_elementwise(const igi_tensor_call *call) {
    context c = {call, call->in[0].type, call->out[0].type};
    igi_tensor_walk walk = igi_tensor_walk_of(call->input_count + 1,
                                              (const igi_tensor_view *[]){&call->out[0], &call->in[0], &call->in[1]});
    igi_tensor_walk_all(&walk, igi_tensor_is_float(c.in) ? walk_doubles : walk_integers, &c);
    return IG_STATUS_OK;
}

// ---- Conversion ----

static void convert(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const context *c = user;
    union {
        double doubles[CHUNK];
        int64_t integers[CHUNK];
    } chunk;
    for (uint64_t done = 0, now; done < count; done += now) {
        now = count - done < CHUNK ? count - done : CHUNK;
        char *to = data[0] + (int64_t)done * strides[0];
        const char *from = data[1] + (int64_t)done * strides[1];
        if (igi_tensor_is_float(c->in)) {
            igi_tensor_load_doubles(c->in, from, strides[1], now, chunk.doubles);
            igi_tensor_store_doubles(c->out, to, strides[0], now, chunk.doubles);
        } else {
            igi_tensor_load_integers(c->in, from, strides[1], now, chunk.integers);
            igi_tensor_store_integers(c->out, to, strides[0], now, chunk.integers);
        }
    }
}

static void copy(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const context *c = user;
    igi_tensor_copy_elements(ig_type_size(c->out), count, data[1], strides[1], data[0], strides[0]);
}

ig_status igi_scalar_convert(const igi_tensor_call *call) {
    context c = {call, call->in[0].type, call->out[0].type};
    igi_tensor_walk walk = igi_tensor_walk_of(2, (const igi_tensor_view *[]){&call->out[0], &call->in[0]});
    igi_tensor_walk_all(&walk, c.in == c.out ? copy : convert, &c);
    return IG_STATUS_OK;
}

// ---- Where ----

static void choose(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    size_t size = ig_type_size(((const context *)user)->out);
    for (uint64_t i = 0; i < count; i++) {
        int64_t at = (int64_t)i;
        bool first = data[1][at * strides[1]] != 0;
        const char *from = first ? data[2] + at * strides[2] : data[3] + at * strides[3];
        memcpy(data[0] + at * strides[0], from, size);
    }
}

ig_status igi_scalar_where(const igi_tensor_call *call) {
    context c = {call, call->in[1].type, call->out[0].type};
    igi_tensor_walk walk =
        igi_tensor_walk_of(4, (const igi_tensor_view *[]){&call->out[0], &call->in[0], &call->in[1], &call->in[2]});
    igi_tensor_walk_all(&walk, choose, &c);
    return IG_STATUS_OK;
}
