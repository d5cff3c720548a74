// SPDX-License-Identifier: Apache-2.0
// The kernels of simt.metal in OpenCL C. What Metal does with simd_sum is a tree in local memory here.

// ---- Streams ----

kernel void saxpy(global float *y, global const float *x, float a) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

kernel void add(global const float *a, global const float *b, global float *out) {
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}

// ---- Rows: one work-group each ----

kernel void softmax(global const float *in, global float *out, uint columns) {
    local float part[256];
    uint l = get_local_id(0), row = get_group_id(0), size = get_local_size(0);
    float largest = -MAXFLOAT;
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

kernel void rmsnorm(global const float *in, global const float *weight, global float *out, uint columns) {
    local float part[256];
    uint l = get_local_id(0), row = get_group_id(0), size = get_local_size(0);
    global const float *x = in + row * columns;
    float squares = 0;
    for (uint c = l; c < columns; c += size) squares += x[c] * x[c];
    part[l] = squares;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (l < step) part[l] += part[l + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float scale = rsqrt(part[0] / columns + 1e-5f);
    for (uint c = l; c < columns; c += size) out[row * columns + c] = x[c] * scale * weight[c];
}

// ---- Reductions ----

kernel void sum(global const float *in, global float *out, uint n) {
    local float part[256];
    uint l = get_local_id(0), group = get_group_id(0), size = get_local_size(0);
    float total = 0;
    for (uint k = 0, i = group * size * 16 + l; k < 16; k++, i += size) total += i < n ? in[i] : 0.0f;
    part[l] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (l < step) part[l] += part[l + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[group] = part[0];
}

kernel void scan(global const uint *in, global uint *out, global uint *totals) {
    local uint part[256];
    uint i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    uint value = in[i];
    part[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < size; step *= 2) {
        uint before = l >= step ? part[l - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        value += before;
        part[l] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = value;
    if (l == size - 1) totals[get_group_id(0)] = value;
}

kernel void scan_add(global uint *out, global const uint *totals) {
    uint i = get_global_id(0), group = get_group_id(0);
    if (group > 0) out[i] += totals[group - 1];
}

kernel void clear(global uint *out) {
    out[get_global_id(0)] = 0;
}

kernel void histogram(global const uchar *in, global uint *bins, uint n) {
    local uint part[256];
    uint l = get_local_id(0);
    part[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = get_global_id(0); k < n; k += get_global_size(0)) atomic_inc(&part[in[k]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[l], part[l]);
}

// ---- Matrices ----

kernel void transpose(global const float *in, global float *out, uint n) {
    local float tile[16][17];
    uint2 l = (uint2)(get_local_id(0), get_local_id(1)), g = (uint2)(get_group_id(0), get_group_id(1));
    uint2 at = g * 16 + l;
    tile[l.y][l.x] = in[at.y * n + at.x];
    barrier(CLK_LOCAL_MEM_FENCE);
    at = g.yx * 16 + l;
    out[at.y * n + at.x] = tile[l.x][l.y];
}

kernel void matmul_naive(global const float *a, global const float *b, global float *c, uint n) {
    uint2 at = (uint2)(get_global_id(0), get_global_id(1));
    float total = 0;
    for (uint k = 0; k < n; k++) total += a[at.y * n + k] * b[k * n + at.x];
    c[at.y * n + at.x] = total;
}

kernel void matmul_tiled(global const float *a, global const float *b, global float *c, uint n) {
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

typedef struct q4_block {
    half scale;
    uchar quants[16];
} q4_block;

kernel void q4_matvec(global const q4_block *weights, global const float *x, global float *y, uint columns) {
    local float part[32];
    uint lane = get_local_id(0), row = get_group_id(0), blocks = columns / 32;
    float total = 0;
    for (uint b = lane; b < blocks; b += 32) {
        global const q4_block *block = &weights[row * blocks + b];
        float sum = 0;
        for (uint j = 0; j < 16; j++) {
            sum += ((float)(block->quants[j] & 15) - 8) * x[b * 32 + j];
            sum += ((float)(block->quants[j] >> 4) - 8) * x[b * 32 + j + 16];
        }
        total += vload_half(0, &block->scale) * sum;
    }
    part[lane] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 16; step > 0; step /= 2) {
        if (lane < step) part[lane] += part[lane + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0) y[row] = part[0];
}

// ---- Simulation ----

kernel void stencil(global const float *in, global float *out, uint n) {
    uint3 at = (uint3)(get_global_id(0), get_global_id(1), get_global_id(2));
    uint i = (at.z * n + at.y) * n + at.x;
    if (any(at == 0) || any(at == n - 1)) {
        out[i] = in[i];
        return;
    }
    float around = in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n];
    out[i] = 0.4f * in[i] + 0.1f * around;
}

kernel void nbody(global const float4 *bodies, global float4 *acceleration, uint n) {
    local float4 tile[256];
    uint i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    float3 here = bodies[i].xyz, total = 0;
    for (uint k = 0; k < n; k += size) {
        tile[l] = bodies[k + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < size; j++) {
            float3 to = tile[j].xyz - here;
            float inverse = rsqrt(dot(to, to) + 1e-3f);
            total += to * (tile[j].w * inverse * inverse * inverse);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    acceleration[i] = (float4)(total, 0);
}

// ---- Divergence ----

kernel void mandelbrot(global uint *out, uint n) {
    uint2 at = (uint2)(get_global_id(0), get_global_id(1));
    float2 c = convert_float2(at) / (float)n * (float2)(3, 2) - (float2)(2, 1), z = 0;
    uint steps = 0;
    while (steps < 256 && dot(z, z) < 4) {
        z = (float2)(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
        steps++;
    }
    out[at.y * n + at.x] = steps;
}

kernel void bitonic(global uint *keys, uint distance, uint run) {
    uint pair = get_global_id(0);
    uint low = pair & (distance - 1);
    uint i = (pair - low) * 2 + low;
    uint a = keys[i], b = keys[i + distance];
    bool ascending = (i & run) == 0;
    if ((a > b) == ascending) {
        keys[i] = b;
        keys[i + distance] = a;
    }
}
