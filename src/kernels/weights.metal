// SPDX-License-Identifier: Apache-2.0
// Weights in blocks of 32, and plain ones.

// ---- Formats ----

static float half_at(device const uchar *from) { return float(*(device const half *)from); }

// The low halves of bytes are the first 16.
static float2 nibbles(uint both) { return float2(float(both & 15), float(both >> 4)); }

// Numbers of five bits, of which the fifth is stored separately.
static int2 five_bits(device const uchar *bits, device const uchar *bytes, uint i) {
    device const ushort *words = (device const ushort *)bits;
    uint both = bytes[i];
    return int2(int((both & 15) | (uint(words[0]) << 4 >> i & 16)), int(both >> 4 | (uint(words[1]) << 4 >> i & 16)));
}

struct q8_0 {
    static constexpr constant uint bytes = 34, groups = 1;
    static float2 pair(device const uchar *block, uint, uint i) {
        return float2(float(char(block[2 + i])), float(char(block[18 + i]))) * half_at(block);
    }
};

struct q4_0 {
    static constexpr constant uint bytes = 18, groups = 1;
    static float2 pair(device const uchar *block, uint, uint i) {
        uint both = block[2 + i];
        return float2(float(int(both & 15) - 8), float(int(both >> 4) - 8)) * half_at(block);
    }
};

struct q4_1 {
    static constexpr constant uint bytes = 20, groups = 1;
    static float2 pair(device const uchar *block, uint, uint i) {
        return fma(nibbles(block[4 + i]), half_at(block), half_at(block + 2));
    }
};

struct q5_0 {
    static constexpr constant uint bytes = 22, groups = 1;
    static float2 pair(device const uchar *block, uint, uint i) {
        return float2(five_bits(block + 2, block + 6, i) - 16) * half_at(block);
    }
};

struct q5_1 {
    static constexpr constant uint bytes = 24, groups = 1;
    static float2 pair(device const uchar *block, uint, uint i) {
        return fma(float2(five_bits(block + 4, block + 8, i)), half_at(block), half_at(block + 2));
    }
};

template <typename T>
struct plain {
    static constexpr constant uint bytes = 64, groups = 1;
    static float2 pair(device const uchar *block, uint, uint i) {
        device const T *elements = (device const T *)block;
        return float2(float(elements[i]), float(elements[i + 16]));
    }
};

// ---- To blocks ----

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

// The first element of the greatest magnitude becomes -8, which has no opposite.
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

// Stores a number of the block's 32 in each lane to bytes and the bits above them.
static void put_five_bits(device uchar *bits, device uchar *bytes, int number, uint lane) {
    int other = simd_shuffle_down(number, ushort(16));
    uint mask = uint(ulong(simd_ballot(number > 15)));
    if (lane < 16) bytes[lane] = uchar((number & 15) | (other & 15) << 4);
    if (lane < 4) bits[lane] = uchar(mask >> 8 * lane);
}

template <typename T>
kernel void quantize_q5_0(device const T *x [[buffer(0)]], device uchar *out [[buffer(1)]],
                          constant Weights &w [[buffer(2)]], uint2 at [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
    device uchar *block = out + ulong(at.y) * w.row_bytes + at.x * 22;
    float a = float(x[int(at.y) * w.x_row + int(at.x * 32 + lane) * w.x_step]);
    uint first = simd_min(abs(a) == simd_max(abs(a)) ? lane : 31u);
    float scale = simd_shuffle(a, ushort(first)) / -16.0f, inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
    if (lane == 0) *(device half *)block = half(scale);
    put_five_bits(block + 2, block + 6, min(31, int(fma(a, inverse, 16.5f))), lane);
}

// Between the smallest, which is stored, and the greatest.
static int spread_out(float a, float most, device uchar *block, uint lane) {
    float low = simd_min(a), scale = (simd_max(a) - low) / most, inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
    if (lane == 0) *(device half *)block = half(scale), *(device half *)(block + 2) = half(low);
    return min(int(most), int(fma(a - low, inverse, 0.5f)));
}

template <typename T>
kernel void quantize_q4_1(device const T *x [[buffer(0)]], device uchar *out [[buffer(1)]],
                          constant Weights &w [[buffer(2)]], uint2 at [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
    device uchar *block = out + ulong(at.y) * w.row_bytes + at.x * 20;
    float a = float(x[int(at.y) * w.x_row + int(at.x * 32 + lane) * w.x_step]);
    int number = spread_out(a, 15.0f, block, lane), other = simd_shuffle_down(number, ushort(16));
    if (lane < 16) block[4 + lane] = uchar(number | other << 4);
}

template <typename T>
kernel void quantize_q5_1(device const T *x [[buffer(0)]], device uchar *out [[buffer(1)]],
                          constant Weights &w [[buffer(2)]], uint2 at [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
    device uchar *block = out + ulong(at.y) * w.row_bytes + at.x * 24;
    float a = float(x[int(at.y) * w.x_row + int(at.x * 32 + lane) * w.x_step]);
    put_five_bits(block + 4, block + 8, spread_out(a, 31.0f, block, lane), lane);
}

#define PLAIN(suffix, T)                         \
    PRODUCT(f32, float, suffix, plain<T>, 1)     \
    PRODUCT(f32, float, suffix, plain<T>, 8)     \
    TILED(f32, float, suffix, plain<T>)

BLOCKS(q8_0)
BLOCKS(q4_0)
BLOCKS(q4_1)
BLOCKS(q5_0)
BLOCKS(q5_1)
PLAIN(f16, half)
PLAIN(bf16, bfloat)
FOR_FLOATS(QUANTIZE, quantize_q8_0)
FOR_FLOATS(QUANTIZE, quantize_q4_0)
FOR_FLOATS(QUANTIZE, quantize_q4_1)
FOR_FLOATS(QUANTIZE, quantize_q5_0)
FOR_FLOATS(QUANTIZE, quantize_q5_1)
