// SPDX-License-Identifier: Apache-2.0
// Operands with one batch dimension, so that implementations meet one rank only.
#ifndef INGOT_NN_FLATTEN_H
#define INGOT_NN_FLATTEN_H

#include "tensor/front.h"

// Makes the dimensions before the last `kept` one; there may be none. pre: the operand has `kept` dimensions or more
void igi_tensor_front_flatten_input(igi_tensor_front *f, uint32_t index,
                                    uint32_t kept);                        // by a copy where strides forbid
void igi_tensor_front_flatten_output(igi_tensor_front *f, uint32_t kept);  // of options.into: may fail

#endif
