// SPDX-License-Identifier: Apache-2.0
// The reference backend's rows.
#include "tensor/scalar/scalar.h"

#define ROW(id, function) {.op = IG_OP_##id, .types = IGI_ANY_TYPE, .run = (function)},
#define ELEMENTWISE(id, name, type) ROW(id, igi_scalar_elementwise)
#define REDUCE(id, name, type) ROW(id, igi_scalar_reduce)

#define OTHERS(X)                         \
    X(LEAKY_RELU, igi_scalar_elementwise) \
    X(CLAMP, igi_scalar_elementwise)      \
    X(CAST, igi_scalar_convert)           \
    X(COPY, igi_scalar_convert)           \
    X(WHERE, igi_scalar_where)            \
    X(CUMSUM, igi_scalar_cumsum)          \
    X(MATMUL, igi_scalar_matmul)          \
    X(SOFTMAX, igi_scalar_softmax)        \
    X(LOG_SOFTMAX, igi_scalar_softmax)    \
    X(LAYER_NORM, igi_scalar_norm)        \
    X(RMS_NORM, igi_scalar_norm)          \
    X(GATHER, igi_scalar_gather)          \
    X(SCATTER, igi_scalar_scatter)        \
    X(INDEX_SELECT, igi_scalar_gather)    \
    X(SORT, igi_scalar_sort)              \
    X(FILL, igi_scalar_generate)          \
    X(ARANGE, igi_scalar_generate)        \
    X(RANDOM_UNIFORM, igi_scalar_random)  \
    X(RANDOM_NORMAL, igi_scalar_random)   \
    X(CONV, igi_scalar_convolve)          \
    X(MAX_POOL, igi_scalar_convolve)      \
    X(AVG_POOL, igi_scalar_convolve)

static const igi_implementation rows[] = {IG_UNARY_LIST(ELEMENTWISE) IG_BINARY_LIST(ELEMENTWISE) IG_REDUCE_LIST(REDUCE)
                                              OTHERS(ROW)};

const igi_op_backend igi_ops_scalar = {.id = IG_BACKEND_SCALAR, .rows = rows, .row_count = sizeof rows / sizeof *rows};
