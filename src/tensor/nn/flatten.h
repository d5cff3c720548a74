// SPDX-License-Identifier: Apache-2.0
// Operands with one batch dimension, so that implementations see only one rank.
#ifndef INGOT_NN_FLATTEN_H
#define INGOT_NN_FLATTEN_H

#include "tensor/front.h"

// Merges the dimensions before the last `kept` into one; there may be none. pre: the operand has at least `kept`.
// An input is copied if its strides require it; an output, options.into, may fail.
void igi_tensor_front_flatten_input(igi_tensor_front *f, uint32_t index, uint32_t kept);
void igi_tensor_front_flatten_output(igi_tensor_front *f, uint32_t kept);

#endif
