// SPDX-License-Identifier: Apache-2.0
// The reference backend's rows.
#include "tensor/scalar/scalar.h"

#define ROW(id, set, function) {.op = IG_OP_##id, .types = (set), .run = igi_scalar_##function},
#define ELEMENTWISE(id, name, type) ROW(id, IGI_ANY_TYPE, elementwise)
#define REDUCE(id, name, type) ROW(id, IGI_ANY_TYPE, reduce)

static const igi_tensor_implementation rows[] = {
    // clang-format off
    IG_UNARY_LIST(ELEMENTWISE)
    IG_BINARY_LIST(ELEMENTWISE)
    IG_REDUCE_LIST(REDUCE)
    IGI_SCALAR_ROWS(ROW)
    // clang-format on
};

const igi_op_backend igi_ops_scalar = {.id = IG_BACKEND_SCALAR, .rows = rows, .row_count = sizeof rows / sizeof *rows};
