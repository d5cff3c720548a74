// SPDX-License-Identifier: Apache-2.0
#include "numbers.h"

kernel void scale(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] *= step;
}
