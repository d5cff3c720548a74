// SPDX-License-Identifier: Apache-2.0
// The blas backend's rows.
#include "tensor/op-table.h"

const igi_op_backend igi_ops_blas = {.id = IG_BACKEND_BLAS};
