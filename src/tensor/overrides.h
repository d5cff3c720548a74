// SPDX-License-Identifier: Apache-2.0
// "simd,matmul=blas": which backends the user wants.
#ifndef INGOT_TENSOR_OVERRIDES_H
#define INGOT_TENSOR_OVERRIDES_H

#include "core/status-internal.h"
#include "tensor/op-table.h"

// Fills `forced` (an ig_backend for each op), which is untouched on failure. errors: NOT_FOUND, BAD_FORMAT.
ig_status igi_tensor_overrides_parse(const char *text, uint8_t forced[IG_OP_COUNT], ig_error *error);

#endif
