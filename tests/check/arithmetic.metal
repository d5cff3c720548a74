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

// case division_by_zero: b1=256 only=arithmetic
kernel void division_by_zero(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
    float part = 1 / in[i];      // finds not-finite
    out[i] = part * 2 + float(i);  // finds not-finite
}
// case nan_through_a_loop: u1=4 only=arithmetic
kernel void nan_through_a_loop(device float *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                               uint i [[thread_position_in_grid]]) {
    float x = float(i) + 1, sum = 0;
    for (uint k = 0; k < n; k++) {
        sum += x;
        x = x > 0 ? sqrt(x - 100) : x;  // finds not-finite
    }
    out[i] = sum;  // finds not-finite
}
// case infinity_of_a_product: u1=3000000000 only=arithmetic
kernel void infinity_of_a_product(device float2 *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                                  uint i [[thread_position_in_grid]]) {
    float x = float(n), y = x * x * x * x * x;  // finds not-finite
    out[i % 32] = float2(float(i), y);          // finds not-finite
}
// case half_overflows: u1=70000 only=arithmetic
kernel void half_overflows(device half *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
    half h = half(float(n));  // finds not-finite
    out[i] = h;               // finds not-finite
}
// case infinity_is_only_a_start: b1=256 only=arithmetic
kernel void infinity_is_only_a_start(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                                     uint i [[thread_position_in_grid]]) {
    float most = -INFINITY;
    for (uint k = 0; k < 4; k++) most = max(most, in[(i + k) % 64]);
    out[i] = exp(in[i] - most) + (most > 0 ? 1 / most : 0.0f);
}
// case finite_in_the_end: u1=0 only=arithmetic
kernel void finite_in_the_end(device float *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
    float inverse = 1 / float(n);
    out[i] = isinf(inverse) ? 0 : inverse;
}

// case vector_does_not_fit: u1=300 only=arithmetic
kernel void vector_does_not_fit(device int2 *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                                uint i [[thread_position_in_grid]]) {
    out[i % 32] = int2(float2(float(i), float(n) * 1e8f));  // finds conversion
}
// case vector_fits: u1=300 only=arithmetic
kernel void vector_fits(device int2 *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
    out[i % 32] = (int2(float2(float(i), float(n))) + int2(int(i))) << 3;
}
