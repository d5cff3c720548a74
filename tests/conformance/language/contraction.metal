// Which products and sums become one operation, and which type the functions of precise:: and fast:: have.
#include <metal_stdlib>
using namespace metal;

// 1 + 2^-12, squared, minus the part of it that a float holds: what is left shows whether the product was rounded.
kernel void contraction(device const float *a [[buffer(0)]], device float *out [[buffer(1)]]) {
    out[0] = a[0] * a[0] - a[1];
    float product = a[0] * a[0];
    out[1] = product - a[1];
    out[2] = fma(a[0], a[0], -a[1]);
    float4 v = float4(a[0]);
    out[3] = (v * v - a[1]).x;
}

// half: 1 + 2^-6, likewise. Rounded twice in either mode.
kernel void contraction_of_half(device const half *a [[buffer(0)]], device half *out [[buffer(1)]]) {
    out[0] = a[0] * a[0] - a[1];
}

// MSL has both families for float only; arguments of other types are converted.
kernel void families(device const half *a [[buffer(0)]], device float *out [[buffer(1)]]) {
    half h = a[0];
    static_assert(is_same_v<decltype(precise::exp(h)), float> && is_same_v<decltype(fast::exp(h)), float>, "");
    static_assert(is_same_v<decltype(precise::sqrt(h)), float> && is_same_v<decltype(precise::floor(h)), float>, "");
    static_assert(is_same_v<decltype(precise::pow(h, h)), float> && is_same_v<decltype(fast::fmod(h, h)), float>, "");
    static_assert(is_same_v<decltype(fast::fmax(h, h)), float> && is_same_v<decltype(fast::clamp(h, h, h)), float>, "");
    static_assert(is_same_v<decltype(precise::exp(bfloat(h))), float> && is_same_v<decltype(precise::exp(1)), float>, "");
    static_assert(is_same_v<decltype(precise::sqrt(1)), float> && is_same_v<decltype(sqrt(1)), float>, "");
    static_assert(is_same_v<decltype(exp(h)), half> && is_same_v<decltype(metal::sqrt(h)), half>, "");
    static_assert(is_same_v<decltype(precise::exp(float4(h))), float4>, "");
    out[0] = 1 + precise::sqrt(h);  // half has no 2^-11 beside 1
}
