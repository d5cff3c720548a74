// SPDX-License-Identifier: Apache-2.0
kernel void denormals(device float *data [[buffer(0)]]) {
    data[0] *= 0.5f;
}
