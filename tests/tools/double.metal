// SPDX-License-Identifier: Apache-2.0
kernel void twice(device float *data [[buffer(0)]]) {
    data[0] *= 2;
}
