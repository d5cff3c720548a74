#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device float *y [[buffer(0)]], device const float *x [[buffer(1)]], constant float &a [[buffer(2)]],
                  uint id [[thread_position_in_grid]]) {
    y[id] = a * x[id] + y[id];
}
