// As pragmas.metal, for math modes: safe allows one operation within an expression only.
#include <metal_stdlib>
using namespace metal;

#pragma METAL fp math_mode(safe)
kernel void safe(device const float *a [[buffer(0)]], device float *out [[buffer(1)]]) {
    float product = a[0] * a[0];
    out[0] = product - a[1];
}

#pragma METAL fp math_mode(relaxed)
kernel void relaxed(device const float *a [[buffer(0)]], device float *out [[buffer(1)]]) {
    float product = a[0] * a[0];
    out[0] = product - a[1];
}

kernel void safe_in_its_body(device const float *a [[buffer(0)]], device float *out [[buffer(1)]]) {
#pragma METAL fp math_mode(safe)
    float product = a[0] * a[0];
    out[0] = product - a[1];
}

#pragma METAL fp math_mode(safe) contract(off)
kernel void both(device const float *a [[buffer(0)]], device float *out [[buffer(1)]]) {
    out[0] = a[0] * a[0] - a[1];
}

#pragma METAL fp contract(fast)
#pragma METAL fp math_mode(fast)
kernel void fast(device const float *a [[buffer(0)]], device float *out [[buffer(1)]]) {
    float product = a[0] * a[0];
    out[0] = product - a[1];
}
