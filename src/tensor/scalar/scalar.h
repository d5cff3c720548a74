// SPDX-License-Identifier: Apache-2.0
// The reference implementations: simple, for any strides, accumulating in double or int64_t.
#ifndef INGOT_TENSOR_SCALAR_H
#define INGOT_TENSOR_SCALAR_H

#include "tensor/op-table.h"

ig_status igi_scalar_elementwise(const igi_call *call);
ig_status igi_scalar_convert(const igi_call *call);
ig_status igi_scalar_where(const igi_call *call);
ig_status igi_scalar_reduce(const igi_call *call);
ig_status igi_scalar_matmul(const igi_call *call);

#endif
