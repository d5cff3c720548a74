// SPDX-License-Identifier: Apache-2.0
// The simd backend's rows.
#include "tensor/op-table.h"

const igi_op_backend igi_ops_simd = {.id = IG_BACKEND_SIMD};
