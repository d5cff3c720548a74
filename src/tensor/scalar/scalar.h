// SPDX-License-Identifier: Apache-2.0
// The reference implementations: simple, for any strides, accumulating in double or int64_t.
#ifndef INGOT_TENSOR_SCALAR_H
#define INGOT_TENSOR_SCALAR_H

#include "tensor/runtime.h"

ig_status igi_scalar_elementwise(const igi_call *call);
ig_status igi_scalar_convert(const igi_call *call);
ig_status igi_scalar_where(const igi_call *call);
ig_status igi_scalar_reduce(const igi_call *call);
ig_status igi_scalar_matmul(const igi_call *call);
ig_status igi_scalar_softmax(const igi_call *call);
ig_status igi_scalar_norm(const igi_call *call);
ig_status igi_scalar_cumsum(const igi_call *call);
ig_status igi_scalar_gather(const igi_call *call);
ig_status igi_scalar_scatter(const igi_call *call);
ig_status igi_scalar_sort(const igi_call *call);
ig_status igi_scalar_generate(const igi_call *call);
ig_status igi_scalar_random(const igi_call *call);
ig_status igi_scalar_convolve(const igi_call *call);

#endif
