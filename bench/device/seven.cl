// SPDX-License-Identifier: Apache-2.0
// The kernels of seven.metal in OpenCL C.
kernel void add(global const float *a, global const float *b, global float *out) {
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}

kernel void saxpy(global float *y, global const float *x, float a) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

kernel void sum(global const float *in, global float *out, uint n) {
    local float part[256];
    uint l = get_local_id(0), i = get_global_id(0), size = get_local_size(0);
    part[l] = i < n ? in[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (l < step) part[l] += part[l + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = part[0];
}

kernel void softmax(global const float *in, global float *out, uint columns) {
    local float part[256];
    uint l = get_local_id(0), row = get_group_id(0), size = get_local_size(0);
    float largest = -INFINITY;
    for (uint c = l; c < columns; c += size) largest = max(largest, in[row * columns + c]);
    part[l] = largest;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (l < step) part[l] = max(part[l], part[l + step]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    largest = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float total = 0;
    for (uint c = l; c < columns; c += size) total += exp(in[row * columns + c] - largest);
    part[l] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (l < step) part[l] += part[l + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float scale = 1 / part[0];
    for (uint c = l; c < columns; c += size) out[row * columns + c] = exp(in[row * columns + c] - largest) * scale;
}

kernel void transpose(global const float *in, global float *out, uint2 size) {
    local float tile[16][17];
    uint2 l = (uint2)(get_local_id(0), get_local_id(1)), g = (uint2)(get_group_id(0), get_group_id(1));
    uint2 at = g * 16 + l;
    if (at.x < size.x && at.y < size.y) tile[l.y][l.x] = in[at.y * size.x + at.x];
    barrier(CLK_LOCAL_MEM_FENCE);
    at = g.yx * 16 + l;
    if (at.x < size.y && at.y < size.x) out[at.y * size.y + at.x] = tile[l.x][l.y];
}

kernel void matmul(global const float *a, global const float *b, global float *c, uint n) {
    local float left[16][16], right[16][16];
    uint2 l = (uint2)(get_local_id(0), get_local_id(1)), at = (uint2)(get_global_id(0), get_global_id(1));
    float total = 0;
    for (uint k = 0; k < n; k += 16) {
        left[l.y][l.x] = a[at.y * n + k + l.x];
        right[l.y][l.x] = b[(k + l.y) * n + at.x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < 16; j++) total += left[l.y][j] * right[j][l.x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[at.y * n + at.x] = total;
}

kernel void mandelbrot(global uint *out, uint2 size) {
    uint2 at = (uint2)(get_global_id(0), get_global_id(1));
    float2 c = convert_float2(at) / convert_float2(size) * (float2)(3, 2) - (float2)(2, 1), z = 0;
    uint steps = 0;
    while (steps < 256 && dot(z, z) < 4) {
        z = (float2)(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
        steps++;
    }
    out[at.y * size.x + at.x] = steps;
}
