// SPDX-License-Identifier: Apache-2.0
// Matrix products of the reference: each element is a dot product in double or int64_t.
#include "tensor/iterate.h"
#include "tensor/scalar/scalar.h"

enum { CHUNK = 128 };

typedef struct context {
    const igi_tensor_call *call;
    uint64_t inner;              // length of the dot products
    int64_t a_stride, b_stride;  // along them, in bytes
} context;

static double dot_doubles(const context *c, const char *a, const char *b) {
    ig_type type = c->call->in[0].type;
    double as[CHUNK], bs[CHUNK], sum = 0;
    for (uint64_t done = 0, now; done < c->inner; done += now) {
        now = c->inner - done < CHUNK ? c->inner - done : CHUNK;
        igi_tensor_load_doubles(type, a + (int64_t)done * c->a_stride, c->a_stride, now, as);
        igi_tensor_load_doubles(type, b + (int64_t)done * c->b_stride, c->b_stride, now, bs);
        for (uint64_t i = 0; i < now; i++) sum += as[i] * bs[i];
    }
    return sum;
}

static int64_t dot_integers(const context *c, const char *a, const char *b) {
    ig_type type = c->call->in[0].type;
    int64_t as[CHUNK], bs[CHUNK];
    uint64_t sum = 0;
    for (uint64_t done = 0, now; done < c->inner; done += now) {
        now = c->inner - done < CHUNK ? c->inner - done : CHUNK;
        igi_tensor_load_integers(type, a + (int64_t)done * c->a_stride, c->a_stride, now, as);
        igi_tensor_load_integers(type, b + (int64_t)done * c->b_stride, c->b_stride, now, bs);
        for (uint64_t i = 0; i < now; i++) sum += (uint64_t)as[i] * (uint64_t)bs[i];
    }
    return (int64_t)sum;
}

static void one_double(const context *c, char *out, const char *a, const char *b, const char *addend) {
    double sum = dot_doubles(c, a, b) * c->call->p.matmul.alpha, other;
    if (addend) {
        igi_tensor_load_doubles(c->call->out[0].type, addend, 0, 1, &other);
        sum += c->call->p.matmul.beta * other;
    }
    igi_tensor_store_doubles(c->call->out[0].type, out, 0, 1, &sum);
}

// alpha and beta are integers too if the matrices are.
static void one_integer(const context *c, char *out, const char *a, const char *b, const char *addend) {
    uint64_t sum = (uint64_t)dot_integers(c, a, b) * (uint64_t)(int64_t)c->call->p.matmul.alpha;
    if (addend) {
        int64_t other;
        igi_tensor_load_integers(c->call->out[0].type, addend, 0, 1, &other);
        sum += (uint64_t)(int64_t)c->call->p.matmul.beta * (uint64_t)other;
    }
    igi_tensor_store_integers(c->call->out[0].type, out, 0, 1, &(int64_t){(int64_t)sum});
}

static void multiply(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const context *c = user;
    bool floats = igi_tensor_is_float(c->call->out[0].type), adds = c->call->in[2].storage != NULL;
    for (uint64_t i = 0; i < count; i++) {
        int64_t at = (int64_t)i;
        const char *addend = adds ? data[3] + at * strides[3] : NULL;
        (floats ? one_double : one_integer)(c, data[0] + at * strides[0], data[1] + at * strides[1],
                                            data[2] + at * strides[2], addend);
    }
}

ig_status igi_scalar_matmul(const igi_tensor_call *call) {
    const igi_tensor_view *out = &call->out[0];
    uint32_t last = out->rank - 1;
    // Rows of a repeat along the columns of the result, columns of b along its rows.
    igi_tensor_view a = call->in[0], b = call->in[1];
    context c = {call, a.shape[last], igi_tensor_view_stride_bytes(&a, last),
                 igi_tensor_view_stride_bytes(&b, last - 1)};
    a.shape[last] = out->shape[last], a.strides[last] = 0;
    b.shape[last - 1] = out->shape[last - 1], b.strides[last - 1] = 0;
    const igi_tensor_view *views[] = {out, &a, &b, &call->in[2]};
    igi_tensor_walk walk = igi_tensor_walk_of(call->in[2].storage ? 4 : 3, views);
    igi_tensor_walk_all(&walk, multiply, &c);
    return IG_STATUS_OK;
}
