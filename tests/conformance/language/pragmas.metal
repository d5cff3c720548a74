// a is 1 + 2^-12: a * a - (1 + 2^-11) is 2^-24 if it is one operation, and 0 if the product is rounded first.
#include <metal_stdlib>
using namespace metal;

static float scalar_sum(float a, float b) { return a * a - b; }

kernel void fused(device const float4 *a [[buffer(0)]], device float4 *out [[buffer(1)]]) {
    out[0] = a[0] * a[0] - a[1];
    out[1] = scalar_sum(a[0].x, a[1].x);
    float product = a[0].x * a[0].x;
    out[2] = product - a[1].x;
}

#pragma METAL fp contract(off)

static float apart_sum(float a, float b) { return a * a - b; }

kernel void apart(device const float4 *a [[buffer(0)]], device float4 *out [[buffer(1)]]) {
    out[0] = a[0] * a[0] - a[1];
    out[1] = apart_sum(a[0].x, a[1].x);
    float4 x = a[0];
    x *= a[0];
    x -= a[1];
    out[2] = x;
    out[3] = scalar_sum(a[0].x, a[1].x);
}

// What contract() says is not changed by a math mode.
#pragma METAL fp math_mode(safe)
[[kernel]] void still_apart(device const float4 *a [[buffer(0)]], device float4 *out [[buffer(1)]]) {
    out[0] = a[0] * a[0] - a[1];
    out[1] = a[0].x * a[0].x - a[1].x;
}

#pragma METAL fp contract(fast)
kernel void fused_again(device const float4 *a [[buffer(0)]], device float4 *out [[buffer(1)]]) {
    out[0] = a[0] * a[0] - a[1];
    out[1] = a[0].x * a[0].x - a[1].x;
}

kernel void in_a_block(device const float4 *a [[buffer(0)]], device float4 *out [[buffer(1)]]) {
    out[0] = a[0].x * a[0].x - a[1].x;
    {
#pragma METAL fp contract(off)
        out[1] = a[0].x * a[0].x - a[1].x;
        out[2] = a[0] * a[0] - a[1];
    }
    out[3] = a[0].x * a[0].x - a[1].x;
}

kernel void after_the_block(device const float4 *a [[buffer(0)]], device float4 *out [[buffer(1)]]) {
    out[0] = a[0] * a[0] - a[1];
}

#if 0
#pragma METAL fp nonsense(1)
#endif
