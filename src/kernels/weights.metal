// SPDX-License-Identifier: Apache-2.0
// Weights in blocks of 32: to blocks, back, and products. 16 threads share a row, each with two weights of a block, so
// that neighbours read neighbouring bytes.

// ---- Formats: weights i and i + 16 of a block, not yet scaled ----

struct q8_0 {
    static constexpr constant uint bytes = 34;
    static float scale(device const uchar *block) { return float(*(device const half *)block); }
    static float2 pair(device const uchar *block, uint i) {
        return float2(float(char(block[2 + i])), float(char(block[18 + i])));
    }
};

struct q4_0 {
    static constexpr constant uint bytes = 18;
    static float scale(device const uchar *block) { return float(*(device const half *)block); }
    static float2 pair(device const uchar *block, uint i) {
        uint both = block[2 + i];
        return float2(float(int(both & 15) - 8), float(int(both >> 4) - 8));
    }
};

template <typename T>
struct plain {
    static constexpr constant uint bytes = 64;
    static float scale(device const uchar *) { return 1.0f; }
    static float2 pair(device const uchar *block, uint i) {
        device const T *elements = (device const T *)block;
        return float2(float(elements[i]), float(elements[i + 16]));
    }
};

// ---- Products ----

// Matches igi_metal_weights.
struct Weights {
    uint tokens, rows, blocks, row_bytes;
    int x_row, x_step, out_row, out_step;
};

constant constexpr uint width = 16, height = 4;

// x may be read as consecutive when the function constant says so.
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
                    uint2 group [[threadgroup_position_in_grid]], uint2 at [[thread_position_in_threadgroup]]) {
    threadgroup float scratch[count][height][width];
    uint row = group.x * height + at.y, first = group.y * count;
    device const uchar *block = weight + ulong(min(row, w.rows - 1)) * w.row_bytes;
    float sums[count];
    int starts[count];
    for (uint t = 0; t < count; t++) sums[t] = 0.0f, starts[t] = int(min(first + t, w.tokens - 1)) * w.x_row;
    for (uint b = 0; b < w.blocks; b++, block += Format::bytes) {
        float2 weights = Format::pair(block, at.x) * Format::scale(block);
        uint i = b * 32 + at.x;
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
                  uint2 group [[threadgroup_position_in_grid]], uint2 at [[thread_position_in_threadgroup]]) {
    constexpr uint tile = 1024;
    threadgroup float shared[tile], scratch[1][height][width];
    uint row = group.x * height + at.y, token = group.y, columns = w.blocks * 32;
    device const uchar *block = weight + ulong(min(row, w.rows - 1)) * w.row_bytes;
    float sums[1] = {0.0f};
    x += int(token) * w.x_row;
    for (uint from = 0; from < columns; from += tile) {
        uint length = min(tile, columns - from);
        for (uint i = at.y * width + at.x; i < length; i += width * height)
            shared[i] = float(x[along(from + i, w.x_step)]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint b = 0; b < length / 32; b++, block += Format::bytes) {
            float2 weights = Format::pair(block, at.x) * Format::scale(block);
            sums[0] = fma(weights.x, shared[b * 32 + at.x], fma(weights.y, shared[b * 32 + 16 + at.x], sums[0]));
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    finish<T, 1>(sums, scratch, out, w, row, token, at);
}

// ---- To blocks and back ----

// A simdgroup for each block, a thread for each weight.
template <typename T>
kernel void quantize_q8_0(device const T *x [[buffer(0)]], device uchar *out [[buffer(1)]],
                          constant Weights &w [[buffer(2)]], uint2 at [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
    device uchar *block = out + ulong(at.y) * w.row_bytes + at.x * 34;
    float a = float(x[int(at.y) * w.x_row + int(at.x * 32 + lane) * w.x_step]);
    float scale = simd_max(abs(a)) / 127.0f, inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
    if (lane == 0) *(device half *)block = half(scale);
    block[2 + lane] = uchar(char(int(round(a * inverse))));
}

// The first of the greatest magnitude becomes -8, which has no opposite.
template <typename T>
kernel void quantize_q4_0(device const T *x [[buffer(0)]], device uchar *out [[buffer(1)]],
                          constant Weights &w [[buffer(2)]], uint2 at [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
    device uchar *block = out + ulong(at.y) * w.row_bytes + at.x * 18;
    float a = float(x[int(at.y) * w.x_row + int(at.x * 32 + lane) * w.x_step]);
    uint first = simd_min(abs(a) == simd_max(abs(a)) ? lane : 31u);
    float scale = simd_shuffle(a, ushort(first)) / -8.0f, inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
    int number = min(15, int(fma(a, inverse, 8.5f))), other = simd_shuffle_down(number, ushort(16));
    if (lane == 0) *(device half *)block = half(scale);
    if (lane < 16) block[2 + lane] = uchar(number | other << 4);
}

// A thread for two weights.
template <typename T, typename Format>
kernel void dequantize(device const uchar *weight [[buffer(0)]], device T *out [[buffer(1)]],
                       constant Weights &w [[buffer(2)]], uint3 at [[thread_position_in_grid]]) {
    device const uchar *block = weight + ulong(at.z) * w.row_bytes + at.y * Format::bytes;
    float2 weights = Format::pair(block, at.x) * Format::scale(block);
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
#define PLAIN(suffix, T)                         \
    PRODUCT(f32, float, suffix, plain<T>, 1)     \
    PRODUCT(f32, float, suffix, plain<T>, 8)     \
    TILED(f32, float, suffix, plain<T>)

BLOCKS(q8_0)
BLOCKS(q4_0)
PLAIN(f16, half)
PLAIN(bf16, bfloat)
FOR_FLOATS(QUANTIZE, quantize_q8_0)
FOR_FLOATS(QUANTIZE, quantize_q4_0)
