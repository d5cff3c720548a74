// SPDX-License-Identifier: Apache-2.0
// Arithmetic that does not do what it says.
#include <metal_stdlib>
using namespace metal;

// case integer_wraps: u1=2147483647 only=arithmetic
kernel void integer_wraps(device int *out [[buffer(0)]], constant int &n [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    out[i] = n + int(i);  // finds integer-overflow
}
// case integer_fits: u1=1000 only=arithmetic
kernel void integer_fits(device int *out [[buffer(0)]], constant int &n [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
    out[i] = n + int(i);
}
// case unsigned_may_wrap: u1=4294967295 only=arithmetic
kernel void unsigned_may_wrap(device uint *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
    out[i] = n + i;
}
// case shift_too_far: u1=40 only=arithmetic
kernel void shift_too_far(device uint *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    out[i] = i << n;  // finds shift
}
// case shift_inside: u1=31 only=arithmetic
kernel void shift_inside(device uint *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
    out[i] = i << n;
}
// case conversion_too_large: u1=3000 only=arithmetic
kernel void conversion_too_large(device int *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                                 uint i [[thread_position_in_grid]]) {
    out[i] = int(float(n) * 1e6f);  // finds conversion
}
// case conversion_fits: u1=3000 only=arithmetic
kernel void conversion_fits(device int *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
    out[i] = int(float(n) * 0.5f);
}
// case negative_to_unsigned: u1=3 only=arithmetic
kernel void negative_to_unsigned(device uint *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                                 uint i [[thread_position_in_grid]]) {
    out[i] = uint(-float(n));  // finds conversion
}
// case product_wraps: u1=65536 only=arithmetic
kernel void product_wraps(device int *out [[buffer(0)]], constant int &n [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    out[i] = n * n;  // finds integer-overflow
}
