// SPDX-License-Identifier: Apache-2.0
// The reference backend's rows.
#include "tensor/scalar/scalar.h"

#define ELEMENTWISE(id, name, type) {.op = IG_OP_##id, .types = IGI_ANY_TYPE, .run = igi_scalar_elementwise},
#define REDUCE(id, name, type) {.op = IG_OP_##id, .types = IGI_ANY_TYPE, .run = igi_scalar_reduce},
#define ROW(id, function) {.op = IG_OP_##id, .types = IGI_ANY_TYPE, .run = function},

static const igi_implementation rows[] = {IG_UNARY_LIST(ELEMENTWISE) IG_BINARY_LIST(ELEMENTWISE) IG_REDUCE_LIST(REDUCE)
                                              ROW(LEAKY_RELU, igi_scalar_elementwise) ROW(CLAMP, igi_scalar_elementwise)
                                                  ROW(CAST, igi_scalar_convert) ROW(COPY, igi_scalar_convert)
                                                      ROW(WHERE, igi_scalar_where) ROW(MATMUL, igi_scalar_matmul)};

const igi_op_backend igi_ops_scalar = {.id = IG_BACKEND_SCALAR, .rows = rows, .row_count = sizeof rows / sizeof *rows};
