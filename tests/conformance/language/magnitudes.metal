// Largest magnitudes, with their signs: LLVM 19 loses the second magnitude when the loop is unrolled.
#include <metal_stdlib>
using namespace metal;

template <typename T>
kernel void extreme(device const T *x [[buffer(0)]], device T *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    T largest = 0;
    for (int k = 0; k < 4; k++) largest = fabs(x[4 * i + k]) > fabs(largest) ? x[4 * i + k] : largest;
    out[i] = largest;
}
template [[host_name("extreme_float")]] kernel void extreme<float>(device const float *, device float *, uint);
template [[host_name("extreme_half")]] kernel void extreme<half>(device const half *, device half *, uint);

kernel void by_abs(device const float *x [[buffer(0)]], device float *out [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
    float largest = 0;
    for (int k = 0; k < 4; k++)
        if (abs(x[4 * i + k]) >= abs(largest)) largest = x[4 * i + k];
    out[i] = largest;
}

// The count is not known to the compiler.
kernel void counted(device const float *x [[buffer(0)]], device float *out [[buffer(1)]], constant int &count [[buffer(2)]],
                    uint i [[thread_position_in_grid]]) {
    float largest = 0;
    for (int k = 0; k < count; k++) largest = fabs(x[4 * i + k]) > fabs(largest) ? x[4 * i + k] : largest;
    out[i] = largest;
}

kernel void vectors(device const float4 *x [[buffer(0)]], device float *out [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    float4 v = select(float4(0), x[i], fabs(x[i]) > 0.0f), m = fabs(v);
    out[i] = m.x + 10 * m.y + 100 * m.z + 1000 * m.w;
}

kernel void not_zero(device const float *x [[buffer(0)]], device float *out [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
    float e = fabs(x[i]) > 0.0f ? x[i] : 0.0f;
    out[i] = sqrt(fabs(e)) + (fabs(e) > 3 ? 100 : 0);
}
