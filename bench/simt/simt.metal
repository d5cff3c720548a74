// SPDX-License-Identifier: Apache-2.0
// The kernels of `ingot bench simt`, as a GPU programmer writes them. simt.cl is the same in OpenCL C.
#include <metal_stdlib>
using namespace metal;

// ---- Streams ----

kernel void saxpy(device float *y [[buffer(0)]], device const float *x [[buffer(1)]], constant float &a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = a * x[i] + y[i];
}

kernel void add(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                device float *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    out[i] = a[i] + b[i];
}

// ---- Rows: one threadgroup each ----

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

kernel void rmsnorm(device const float *in [[buffer(0)]], device const float *weight [[buffer(1)]],
                    device float *out [[buffer(2)]], constant uint &columns [[buffer(3)]],
                    uint local [[thread_index_in_threadgroup]], uint row [[threadgroup_position_in_grid]],
                    uint size [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float part[32];
    device const float *x = in + row * columns;
    float squares = 0;
    for (uint c = local; c < columns; c += size) squares += x[c] * x[c];
    squares = simd_sum(squares);
    if (lane == 0) part[simdgroup] = squares;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    squares = simd_sum(lane < simdgroups ? part[lane] : 0.0f);
    float scale = rsqrt(squares / columns + 1e-5f);
    for (uint c = local; c < columns; c += size) out[row * columns + c] = x[c] * scale * weight[c];
}

// ---- Reductions ----

// Each threadgroup sums 16 elements per thread; a second launch sums the sums.
kernel void sum(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
                uint local [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
                uint size [[threads_per_threadgroup]]) {
    threadgroup float part[256];
    float total = 0;
    for (uint k = 0, i = group * size * 16 + local; k < 16; k++, i += size) total += i < n ? in[i] : 0.0f;
    part[local] = total;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = size / 2; step > 0; step /= 2) {
        if (local < step) part[local] += part[local + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (local == 0) out[group] = part[0];
}

// Hillis and Steele: the inclusive prefix sum of each threadgroup's elements, and its total.
kernel void scan(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]], device uint *totals [[buffer(2)]],
                 uint i [[thread_position_in_grid]], uint local [[thread_index_in_threadgroup]],
                 uint group [[threadgroup_position_in_grid]], uint size [[threads_per_threadgroup]]) {
    threadgroup uint part[256];
    uint value = in[i];
    part[local] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 1; step < size; step *= 2) {
        uint before = local >= step ? part[local - step] : 0;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        value += before;
        part[local] = value;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = value;
    if (local == size - 1) totals[group] = value;
}

// Adds the sum of all groups before it to each group's elements.
kernel void scan_add(device uint *out [[buffer(0)]], device const uint *totals [[buffer(1)]],
                     uint i [[thread_position_in_grid]], uint group [[threadgroup_position_in_grid]]) {
    if (group > 0) out[i] += totals[group - 1];
}

kernel void clear(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = 0;
}

kernel void histogram(device const uchar *in [[buffer(0)]], device atomic_uint *bins [[buffer(1)]],
                      constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]],
                      uint threads [[threads_per_grid]], uint local [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint part[256];
    atomic_store_explicit(&part[local], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = i; k < n; k += threads) atomic_fetch_add_explicit(&part[in[k]], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint count = atomic_load_explicit(&part[local], memory_order_relaxed);
    atomic_fetch_add_explicit(&bins[local], count, memory_order_relaxed);
}

// ---- Matrices ----

kernel void transpose(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                      constant uint &n [[buffer(2)]], uint2 local [[thread_position_in_threadgroup]],
                      uint2 group [[threadgroup_position_in_grid]]) {
    threadgroup float tile[16][17];
    uint2 at = group * 16 + local;
    tile[local.y][local.x] = in[at.y * n + at.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    at = group.yx * 16 + local;
    out[at.y * n + at.x] = tile[local.x][local.y];
}

kernel void matmul_naive(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                         device float *c [[buffer(2)]], constant uint &n [[buffer(3)]],
                         uint2 at [[thread_position_in_grid]]) {
    float total = 0;
    for (uint k = 0; k < n; k++) total += a[at.y * n + k] * b[k * n + at.x];
    c[at.y * n + at.x] = total;
}

kernel void matmul_tiled(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
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

// A simdgroup computes 32x32 elements of c in sixteen 8x8 accumulators.
kernel void matmul_simdgroup(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                             device float *c [[buffer(2)]], constant uint &n [[buffer(3)]],
                             uint2 group [[threadgroup_position_in_grid]]) {
    a += group.y * 32 * n;
    b += group.x * 32;
    c += group.y * 32 * n + group.x * 32;
    simdgroup_float8x8 total[4][4];
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++) total[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    for (uint k = 0; k < n; k += 8) {
        simdgroup_float8x8 left[4], right[4];
        for (uint i = 0; i < 4; i++) simdgroup_load(left[i], a + i * 8 * n + k, n);
        for (uint j = 0; j < 4; j++) simdgroup_load(right[j], b + k * n + j * 8, n);
        for (uint i = 0; i < 4; i++)
            for (uint j = 0; j < 4; j++) simdgroup_multiply_accumulate(total[i][j], left[i], right[j], total[i][j]);
    }
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++) simdgroup_store(total[i][j], c + i * 8 * n + j * 8, n);
}

// As libraries do it: four simdgroups compute 64x64 elements of c from tiles in threadgroup memory, 16 deep, of which each
// thread copies eight elements. Threads load their own two elements of matrices. Simdgroups have every second matrix.
kernel void matmul_staged(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                          device float *c [[buffer(2)]], constant uint &n [[buffer(3)]],
                          uint2 group [[threadgroup_position_in_grid]], uint local [[thread_index_in_threadgroup]],
                          ushort lane [[thread_index_in_simdgroup]],
                          ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
    constexpr short left_row = 20, right_row = 68;
    threadgroup float left[64 * left_row], right[16 * right_row];
    a += (group.y * 64 + local / 2) * n + local % 2 * 8;
    b += group.x * 64 + local / 8 * n + local % 8 * 8;
    threadgroup float *to_left = left + local / 2 * left_row + local % 2 * 8;
    threadgroup float *to_right = right + local / 8 * right_row + local % 8 * 8;
    short quad = lane / 4, row = (quad & 4) + lane / 2 % 4, column = (quad & 2) * 2 + lane % 2 * 2;
    short top = simdgroup / 2 * 8 + row, side = simdgroup % 2 * 8 + column;
    float2 total[4][4];
    for (short i = 0; i < 4; i++)
        for (short j = 0; j < 4; j++) total[i][j] = 0;
    for (uint k = 0; k < n; k += 16) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (short j = 0; j < 8; j++) to_left[j] = a[j];
        for (short j = 0; j < 8; j++) to_right[j] = b[j];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (short step = 0; step < 16; step += 8) {
            simdgroup_float8x8 x[4], y[4], sum;
            for (short i = 0; i < 4; i++) {
                threadgroup const float *from = left + (top + i * 16) * left_row + step + column;
                x[i].thread_elements()[0] = from[0];
                x[i].thread_elements()[1] = from[1];
            }
            for (short j = 0; j < 4; j++) {
                threadgroup const float *from = right + (step + row) * right_row + side + j * 16;
                y[j].thread_elements()[0] = from[0];
                y[j].thread_elements()[1] = from[1];
            }
            for (short i = 0; i < 4; i++)
                for (short j = 0; j < 4; j++) {
                    sum.thread_elements() = total[i][j];
                    simdgroup_multiply_accumulate(sum, x[i], y[j], sum);
                    total[i][j] = sum.thread_elements();
                }
        }
        a += 16;
        b += 16 * n;
    }
    c += (group.y * 64 + top) * n + group.x * 64 + side;
    for (short i = 0; i < 4; i++)
        for (short j = 0; j < 4; j++) {
            c[i * 16 * n + j * 16] = total[i][j].x;
            c[i * 16 * n + j * 16 + 1] = total[i][j].y;
        }
}

// 32 weights: element j in the low half of byte j, element j + 16 in its high half.
struct q4_block {
    half scale;
    uchar quants[16];
};

// One simdgroup per row, one block per thread and step.
kernel void q4_matvec(device const q4_block *weights [[buffer(0)]], device const float *x [[buffer(1)]],
                      device float *y [[buffer(2)]], constant uint &columns [[buffer(3)]],
                      uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    uint blocks = columns / 32;
    float total = 0;
    for (uint b = lane; b < blocks; b += 32) {
        device const q4_block &block = weights[row * blocks + b];
        float part = 0;
        for (uint j = 0; j < 16; j++) {
            part += (float(block.quants[j] & 15) - 8) * x[b * 32 + j];
            part += (float(block.quants[j] >> 4) - 8) * x[b * 32 + j + 16];
        }
        total += float(block.scale) * part;
    }
    total = simd_sum(total);
    if (lane == 0) y[row] = total;
}

// ---- Simulation ----

kernel void stencil(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                    constant uint &n [[buffer(2)]], uint3 at [[thread_position_in_grid]]) {
    uint i = (at.z * n + at.y) * n + at.x;
    if (any(at == 0) || any(at == n - 1)) {
        out[i] = in[i];
        return;
    }
    float around = in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n];
    out[i] = 0.4f * in[i] + 0.1f * around;
}

kernel void nbody(device const float4 *bodies [[buffer(0)]], device float4 *acceleration [[buffer(1)]],
                  constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]],
                  uint local [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
    threadgroup float4 tile[256];
    float3 here = bodies[i].xyz, total = 0;
    for (uint k = 0; k < n; k += size) {
        tile[local] = bodies[k + local];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint j = 0; j < size; j++) {
            float3 to = tile[j].xyz - here;
            float inverse = rsqrt(dot(to, to) + 1e-3f);
            total += to * (tile[j].w * inverse * inverse * inverse);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    acceleration[i] = float4(total, 0);
}

// ---- Divergence ----

kernel void mandelbrot(device uint *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                       uint2 at [[thread_position_in_grid]]) {
    float2 c = float2(at) / float(n) * float2(3, 2) - float2(2, 1), z = 0;
    uint steps = 0;
    while (steps < 256 && dot(z, z) < 4) {
        z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
        steps++;
    }
    out[at.y * n + at.x] = steps;
}

// One pass of the network: every thread orders the two keys `distance` apart of its pair.
kernel void bitonic(device uint *keys [[buffer(0)]], constant uint &distance [[buffer(1)]],
                    constant uint &run [[buffer(2)]], uint pair [[thread_position_in_grid]]) {
    uint low = pair & (distance - 1);
    uint i = (pair - low) * 2 + low;
    uint a = keys[i], b = keys[i + distance];
    bool ascending = (i & run) == 0;
    if ((a > b) == ascending) {
        keys[i] = b;
        keys[i + distance] = a;
    }
}

// ---- Textures ----

// The sum of a row's pixels around x; beyond the edges, the pixels of the edge are repeated.
static float4 weighed(texture2d<float, access::read> in, int x, int y) {
    int right = int(in.get_width()) - 1, bottom = int(in.get_height()) - 1;
    y = clamp(y, 0, bottom);
    float4 centre = in.read(uint2(x, y));
    float4 near = in.read(uint2(max(x - 1, 0), y)) + in.read(uint2(min(x + 1, right), y));
    float4 far = in.read(uint2(max(x - 2, 0), y)) + in.read(uint2(min(x + 2, right), y));
    return 6.0f * centre + 4.0f * near + far;
}

// 5 x 5 pixels. A thread makes a column of 16, so that the sum of a row is used five times.
kernel void texture_blur(texture2d<float, access::read> in [[texture(0)]],
                         texture2d<float, access::write> out [[texture(1)]], uint2 at [[thread_position_in_grid]]) {
    int x = at.x, y = at.y * 16;
    float4 a = weighed(in, x, y - 2), b = weighed(in, x, y - 1), c = weighed(in, x, y), d = weighed(in, x, y + 1);
    for (int j = 0; j < 16; j++) {
        float4 e = weighed(in, x, y + j + 2);
        out.write(((a + e) + 4.0f * (b + d) + 6.0f * c) * (1.0f / 256), uint2(x, y + j));
        a = b, b = c, c = d, d = e;
    }
}

kernel void texture_resize(texture2d<float> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]],
                           uint2 at [[thread_position_in_grid]]) {
    constexpr sampler bilinear(address::clamp_to_edge, filter::linear);
    float2 step = 1.0f / float2(out.get_width(), out.get_height());
    out.write(in.sample(bilinear, (float2(at) + 0.5f) * step), at);
}

kernel void texture_histogram(texture2d<uint, access::read> in [[texture(0)]], device atomic_uint *bins [[buffer(1)]],
                              uint2 at [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint counts[256];
    atomic_store_explicit(&counts[l], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 64; j++)
        atomic_fetch_add_explicit(&counts[in.read(uint2(at.x, at.y * 64 + j)).x], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&bins[l], atomic_load_explicit(&counts[l], memory_order_relaxed), memory_order_relaxed);
}
