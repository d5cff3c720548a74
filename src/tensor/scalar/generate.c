// SPDX-License-Identifier: Apache-2.0
// New tensors of the reference: constants, sequences, random numbers.
#include <math.h>

#include "core/philox.h"
#include "tensor/iterate.h"
#include "tensor/scalar/scalar.h"
#include "tensor/types.h"

typedef struct context {
    const igi_tensor_call *call;
    uint64_t at;  // position of the next element
} context;

// ---- Constants and sequences ----

static void count_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    context *c = user;
    ig_type type = c->call->out[0].type;
    double start = c->call->p.range.start, step = c->call->p.range.step;
    bool whole =
        !igi_tensor_is_float(type) && type != IG_TYPE_BOOL && igi_tensor_is_whole(start) && igi_tensor_is_whole(step);
    for (uint64_t i = 0; i < count; i++, c->at++) {
        char *element = data[0] + (int64_t)i * strides[0];
        double value = start + step * (double)c->at;
        if (whole) {
            uint64_t exact = (uint64_t)(int64_t)start + (uint64_t)(int64_t)step * c->at;
            igi_tensor_store_integers(type, element, 0, 1, &(int64_t){(int64_t)exact});
        } else {
            igi_tensor_store_doubles(type, element, 0, 1, &value);
        }
    }
}

// A constant is a sequence with a step of 0, and saturates like a cast.
static void fill_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const context *c = user;
    for (uint64_t i = 0; i < count; i++)
        igi_tensor_store_doubles(c->call->out[0].type, data[0] + (int64_t)i * strides[0], 0, 1,
                                 &c->call->p.range.start);
}

ig_status igi_scalar_generate(const igi_tensor_call *call) {
    context c = {call, 0};
    igi_tensor_walk walk = igi_tensor_walk_of(1, (const igi_tensor_view *[]){&call->out[0]});
    igi_tensor_walk_all(&walk, call->op == IG_OP_FILL ? fill_row : count_row, &c);
    return IG_STATUS_OK;
}

// ---- Random numbers ----

static double uniform(const context *c, uint32_t word) {
    ig_type type = c->call->out[0].type;
    float low = (float)c->call->p.random.first, high = (float)c->call->p.random.second;
    uint32_t bits = type == IG_TYPE_F32 ? 24 : type == IG_TYPE_F16 ? 11 : 8;
    return fmaf(igi_uniform(word, bits), high - low, low);
}

static double normal(const context *c, const igi_philox_block *block, uint32_t lane) {
    const uint32_t *pair = &block->word[lane & 2];
    double radius = sqrt(-2 * log((double)igi_uniform_above_zero(pair[0])));
    double angle = 2 * M_PI * igi_uniform(pair[1], 24);
    double z = radius * (lane & 1 ? sin(angle) : cos(angle));
    return c->call->p.random.first + c->call->p.random.second * z;
}

// Rounding to the type may reach the limit that the numbers must stay below.
static double below(ig_type type, double value, double high) {
    char element[8];
    igi_tensor_store_doubles(type, element, 0, 1, &value);
    igi_tensor_load_doubles(type, element, 0, 1, &value);
    igi_tensor_store_doubles(type, element, 0, 1, &high);
    igi_tensor_load_doubles(type, element, 0, 1, &high);
    return value < high ? value : igi_tensor_next_below(type, high);
}

static void random_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    context *c = user;
    const igi_tensor_call *call = c->call;
    bool flat = call->op == IG_OP_RANDOM_UNIFORM;
    for (uint64_t i = 0; i < count; i++, c->at++) {
        char *element = data[0] + (int64_t)i * strides[0];
        igi_philox_block block = igi_philox(call->p.random.seed, c->at / 4);
        uint32_t lane = c->at % 4;
        double value = flat ? uniform(c, block.word[lane]) : normal(c, &block, lane);
        if (flat) value = below(call->out[0].type, value, call->p.random.second);
        igi_tensor_store_doubles(call->out[0].type, element, 0, 1, &value);
    }
}

ig_status igi_scalar_random(const igi_tensor_call *call) {
    context c = {call, call->p.random.position};
    igi_tensor_walk walk = igi_tensor_walk_of(1, (const igi_tensor_view *[]){&call->out[0]});
    igi_tensor_walk_all(&walk, random_row, &c);
    return IG_STATUS_OK;
}
