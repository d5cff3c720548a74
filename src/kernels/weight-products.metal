// SPDX-License-Identifier: Apache-2.0
// Products with weights in blocks, and dequantisation. A format defines weights i and i + 16 of 32 in a block, and how
// many times 32 a block has. 16 threads share a row, each with two weights of 32, so that neighbours read neighbouring
// bytes.

// Matches igi_metal_weights.
struct Weights {
    uint tokens, rows, blocks, row_bytes;
    int x_row, x_step, out_row, out_step;
};

constant constexpr uint width = 16, height = 4;

// x may be read as contiguous if the function constant says so.
static int along(uint i, int stride) { return consecutive & 1 ? int(i) : int(i) * stride; }

// The sums of a row's threads, for all rows of the group.
template <typename T, uint count>
static void finish(thread const float *sums, threadgroup float (*scratch)[height][width], device T *out,
                   constant Weights &w, uint row, uint first, uint2 at) {
    for (uint t = 0; t < count; t++) scratch[t][at.y][at.x] = sums[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (at.x != 0 || row >= w.rows) return;
    for (uint t = 0; t < count && first + t < w.tokens; t++) {
        float sum = 0.0f;
        for (uint i = 0; i < width; i++) sum += scratch[t][at.y][i];
        out[int(first + t) * w.out_row + int(row) * w.out_step] = T(sum);
    }
}

// `count` tokens at a time: each weight is unpacked once for all of them.
template <typename T, typename Format, uint count>
kernel void product(device const T *x [[buffer(0)]], device const uchar *weight [[buffer(1)]],
                    device T *out [[buffer(2)]], constant Weights &w [[buffer(3)]],
                    uint2 where [[threadgroup_position_in_grid]], uint2 at [[thread_position_in_threadgroup]]) {
    threadgroup float scratch[count][height][width];
    uint row = where.x * height + at.y, first = where.y * count;
    device const uchar *block = weight + ulong(min(row, w.rows - 1)) * w.row_bytes;
    float sums[count];
    int starts[count];
    for (uint t = 0; t < count; t++) sums[t] = 0.0f, starts[t] = int(min(first + t, w.tokens - 1)) * w.x_row;
    uint i = at.x;
    for (uint b = 0; b < w.blocks; b++, block += Format::bytes)
        for (uint group = 0; group < Format::groups; group++, i += 32) {
            float2 weights = Format::pair(block, group, at.x);
            for (uint t = 0; t < count; t++)
                sums[t] = fma(weights.x, float(x[starts[t] + along(i, w.x_step)]),
                              fma(weights.y, float(x[starts[t] + along(i + 16, w.x_step)]), sums[t]));
        }
    finish<T, count>(sums, scratch, out, w, row, first, at);
}

// One token, whose elements the rows of the group share in threadgroup memory.
template <typename T, typename Format>
kernel void tiled(device const T *x [[buffer(0)]], device const uchar *weight [[buffer(1)]],
                  device T *out [[buffer(2)]], constant Weights &w [[buffer(3)]],
                  uint2 where [[threadgroup_position_in_grid]], uint2 at [[thread_position_in_threadgroup]]) {
    constexpr uint tile = 1024;
    threadgroup float shared[tile], scratch[1][height][width];
    uint row = where.x * height + at.y, token = where.y, columns = w.blocks * Format::groups * 32;
    device const uchar *block = weight + ulong(min(row, w.rows - 1)) * w.row_bytes;
    float sums[1] = {0.0f};
    x += int(token) * w.x_row;
    for (uint from = 0; from < columns; from += tile) {
        uint length = min(tile, columns - from);
        for (uint i = at.y * width + at.x; i < length; i += width * height)
            shared[i] = float(x[along(from + i, w.x_step)]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint i = at.x;
        for (uint b = 0; b < length / (32 * Format::groups); b++, block += Format::bytes)
            for (uint group = 0; group < Format::groups; group++, i += 32) {
                float2 weights = Format::pair(block, group, at.x);
                sums[0] = fma(weights.x, shared[i], fma(weights.y, shared[i + 16], sums[0]));
            }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    finish<T, 1>(sums, scratch, out, w, row, token, at);
}

// A thread for two weights; y counts times 32.
template <typename T, typename Format>
kernel void dequantize(device const uchar *weight [[buffer(0)]], device T *out [[buffer(1)]],
                       constant Weights &w [[buffer(2)]], uint3 at [[thread_position_in_grid]]) {
    device const uchar *block = weight + ulong(at.z) * w.row_bytes + at.y / Format::groups * Format::bytes;
    float2 weights = Format::pair(block, at.y % Format::groups, at.x);
    out += int(at.z) * w.out_row + int(at.y * 32 + at.x) * w.out_step;
    out[0] = T(weights.x);
    out[16 * w.out_step] = T(weights.y);
}

#define PRODUCT(suffix, T, name, Format, count)                                                               \
    template [[host_name("product_" #count "_" #name "_" #suffix)]] kernel void product<T, Format, count>(    \
        device const T *, device const uchar *, device T *, constant Weights &, uint2, uint2);
#define TILED(suffix, T, name, Format)                                                                        \
    template [[host_name("tiled_" #name "_" #suffix)]] kernel void tiled<T, Format>(                          \
        device const T *, device const uchar *, device T *, constant Weights &, uint2, uint2);
#define QUANTIZE(suffix, T, name)                                                                             \
    template [[host_name(#name "_" #suffix)]] kernel void name<T>(device const T *, device uchar *,           \
                                                                  constant Weights &, uint2, uint);
#define DEQUANTIZE(suffix, T, name)                                                                           \
    template [[host_name("dequantize_" #name "_" #suffix)]] kernel void dequantize<T, name>(                  \
        device const uchar *, device T *, constant Weights &, uint3);
#define BLOCKS(name)                       \
    FOR_FLOATS(PRODUCT, name, name, 1)     \
    FOR_FLOATS(PRODUCT, name, name, 8)     \
    FOR_FLOATS(TILED, name, name)          \
    FOR_FLOATS(DEQUANTIZE, name)
