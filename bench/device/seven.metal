// SPDX-License-Identifier: Apache-2.0
// Seven kernels as a GPU programmer would write them, to measure how long compiling takes. seven.cl is the same.
#include <metal_stdlib>
using namespace metal;

kernel void add(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                device float *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    out[i] = a[i] + b[i];
}

kernel void saxpy(device float *y [[buffer(0)]], device const float *x [[buffer(1)]], constant float &a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = a * x[i] + y[i];
}

kernel void sum(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
                uint local [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
                uint size [[threads_per_threadgroup]]) {
    threadgroup float part[256];
    uint i = group * size + local;
    part[local] = i < n ? in[i] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (local < step) part[local] += part[local + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (local == 0) out[group] = part[0];
}

kernel void softmax(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                    constant uint &columns [[buffer(2)]], uint local [[thread_index_in_threadgroup]],
                    uint row [[threadgroup_position_in_grid]], uint size [[threads_per_threadgroup]]) {
    threadgroup float part[256];
    float largest = -INFINITY;
    for (uint c = local; c < columns; c += size) largest = max(largest, in[row * columns + c]);
    part[local] = largest;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (local < step) part[local] = max(part[local], part[local + step]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    largest = part[0];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float total = 0;
    for (uint c = local; c < columns; c += size) total += exp(in[row * columns + c] - largest);
    part[local] = total;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (local < step) part[local] += part[local + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    float scale = 1 / part[0];
    for (uint c = local; c < columns; c += size)
        out[row * columns + c] = exp(in[row * columns + c] - largest) * scale;
}

kernel void transpose(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                      constant uint2 &size [[buffer(2)]], uint2 local [[thread_position_in_threadgroup]],
                      uint2 group [[threadgroup_position_in_grid]]) {
    threadgroup float tile[16][17];
    uint2 at = group * 16 + local;
    if (at.x < size.x && at.y < size.y) tile[local.y][local.x] = in[at.y * size.x + at.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    at = group.yx * 16 + local;
    if (at.x < size.y && at.y < size.x) out[at.y * size.y + at.x] = tile[local.x][local.y];
}

kernel void matmul(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                   device float *c [[buffer(2)]], constant uint &n [[buffer(3)]],
                   uint2 local [[thread_position_in_threadgroup]], uint2 at [[thread_position_in_grid]]) {
    threadgroup float left[16][16], right[16][16];
    float total = 0;
    for (uint k = 0; k < n; k += 16) {
        left[local.y][local.x] = a[at.y * n + k + local.x];
        right[local.y][local.x] = b[(k + local.y) * n + at.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint j = 0; j < 16; j++) total += left[local.y][j] * right[j][local.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[at.y * n + at.x] = total;
}

kernel void mandelbrot(device uint *out [[buffer(0)]], constant uint2 &size [[buffer(1)]],
                       uint2 at [[thread_position_in_grid]]) {
    float2 c = float2(at) / float2(size) * float2(3, 2) - float2(2, 1), z = 0;
    uint steps = 0;
    while (steps < 256 && dot(z, z) < 4) {
        z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
        steps++;
    }
    out[at.y * size.x + at.x] = steps;
}
