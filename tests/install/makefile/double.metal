// SPDX-License-Identifier: Apache-2.0
kernel void twice(device float *x [[buffer(0)]], metal::uint i [[thread_position_in_grid]]) {
    x[i] *= 2;
}
