// SPDX-License-Identifier: Apache-2.0
// New tensors: constants, sequences, random numbers by position.

// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, 2011); the same numbers as core/philox.h.
static uint4 philox(uint2 key, uint2 counter) {
    uint4 b = uint4(counter, 0, 0);
    for (int round = 0; round < 10; round++) {
        uint high0 = mulhi(b.x, 0xd2511f53u), low0 = b.x * 0xd2511f53u;
        uint high1 = mulhi(b.z, 0xcd9e8d57u), low1 = b.z * 0xcd9e8d57u;
        b = uint4(high1 ^ b.y ^ key.x, low1, high0 ^ b.w ^ key.y, low0);
        key += uint2(0x9e3779b9u, 0xbb67ae85u);
    }
    return b;
}

// Matches random_parameters of src/tensor/msl/generate.c.
struct Random {
    ulong seed, position;
    float first, second;  // low and high, or mean and deviation
    float high, below;    // in the type of the result: the upper limit of the numbers, and the next smaller value
};

static uint word_of(uint4 block, uint i) {
    return i < 2 ? (i == 0 ? block.x : block.y) : (i == 2 ? block.z : block.w);
}

static uint4 block_at(ulong position, constant Random &r) {
    ulong counter = position / 4;
    return philox(uint2(uint(r.seed), uint(r.seed >> 32)), uint2(uint(counter), uint(counter >> 32)));
}

// In [0, 1), with as many bits as the type of the result holds exactly.
template <typename T, uint bits>
struct Uniform {
    static T of(uint4 block, uint lane, constant Random &r) {
        uint word = word_of(block, lane);
        float u = float(word >> (32 - bits)) * (1.0f / float(1u << bits));
        T value = T(fma(u, r.second - r.first, r.first));
        return float(value) < r.high ? value : T(r.below);
    }
};

// Box and Muller, 1958.
template <typename T>
struct Normal {
    static T of(uint4 block, uint lane, constant Random &r) {
        uint2 pair = lane < 2 ? block.xy : block.zw;
        float radius = sqrt(-2.0f * log(float((pair.x >> 8) + 1) * 0x1p-24f));
        float turns = float(pair.y >> 8) * 0x1p-24f;
        float z = radius * (lane % 2 ? sinpi(2.0f * turns) : cospi(2.0f * turns));
        return T(fma(r.second, z, r.first));
    }
};

template <typename T, typename Numbers>
kernel void random(device T *out [[buffer(0)]], constant Random &r [[buffer(1)]],
                   constant Layout &layout [[buffer(2)]], uint2 position [[thread_position_in_grid]]) {
    uint inner = layout.shape[layout.rank - 1];
    ulong at = r.position + position.y * inner + position.x;
    out[Offsets<1>(position, layout).at[0]] = Numbers::of(block_at(at, r), uint(at) % 4, r);
}

// A block of four for each thread, if they are contiguous and begin with a block.
template <typename T, typename Numbers>
kernel void random_blocks(device T *out [[buffer(0)]], constant Random &r [[buffer(1)]],
                          constant uint &count [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    uint at = 4 * i;
    uint4 block = block_at(r.position + at, r);
    if (at + 4 <= count)
        *(device vec<T, 4> *)(out + at) = vec<T, 4>(Numbers::of(block, 0, r), Numbers::of(block, 1, r),
                                                    Numbers::of(block, 2, r), Numbers::of(block, 3, r));
    else
        for (uint lane = 0; at + lane < count; lane++) out[at + lane] = Numbers::of(block, lane, r);
}

// Of the bits of one element.
template <typename T>
kernel void fill(device T *out [[buffer(0)]], constant T &value [[buffer(1)]], constant Layout &layout [[buffer(2)]],
                 uint2 position [[thread_position_in_grid]]) {
    out[Offsets<1>(position, layout).at[0]] = value;
}

template <typename T>
kernel void arange(device T *out [[buffer(0)]], constant long2 &range [[buffer(1)]],
                   constant Layout &layout [[buffer(2)]], uint2 position [[thread_position_in_grid]]) {
    long i = long(position.y) * layout.shape[layout.rank - 1] + position.x;
    out[Offsets<1>(position, layout).at[0]] = T(ulong(range.x) + ulong(range.y) * ulong(i));
}

// start and step as two floats each, so that the product is as exact as the result. i < 2^24
template <typename T>
kernel void arange_floats(device T *out [[buffer(0)]], constant float4 &range [[buffer(1)]],
                          constant Layout &layout [[buffer(2)]], uint2 position [[thread_position_in_grid]]) {
    float i = float(position.y * layout.shape[layout.rank - 1] + position.x);
    float start = range.x, step = range.z, product = step * i;
    float lost = fma(step, i, -product) + range.w * i;
    float sum = start + product, part = sum - start;
    float missing = (start - (sum - part)) + (product - part);  // Knuth's exact sum
    out[Offsets<1>(position, layout).at[0]] = T(sum + (missing + (lost + range.y)));
}

#define RANDOM(suffix, T, bits)                                                                                  \
    template [[host_name("random_uniform_" #suffix)]] kernel void random<T, Uniform<T, bits>>(                   \
        device T *, constant Random &, constant Layout &, uint2);                                                \
    template [[host_name("random_normal_" #suffix)]] kernel void random<T, Normal<T>>(                           \
        device T *, constant Random &, constant Layout &, uint2);
#define BLOCKS(suffix, T, bits)                                                                                  \
    template [[host_name("random_uniform_blocks_" #suffix)]] kernel void random_blocks<T, Uniform<T, bits>>(     \
        device T *, constant Random &, constant uint &, uint);                                                   \
    template [[host_name("random_normal_blocks_" #suffix)]] kernel void random_blocks<T, Normal<T>>(             \
        device T *, constant Random &, constant uint &, uint);
BLOCKS(f32, float, 24)
BLOCKS(f16, half, 11)
BLOCKS(bf16, bfloat, 8)
RANDOM(f32, float, 24)
RANDOM(f16, half, 11)
RANDOM(bf16, bfloat, 8)

#define FILL(size, T)                                                                                            \
    template [[host_name("fill_" #size)]] kernel void fill<T>(device T *, constant T &, constant Layout &, uint2);
FILL(1, uchar)
FILL(2, ushort)
FILL(4, uint)
FILL(8, ulong)

#define ARANGE(suffix, T)                                                                                        \
    template [[host_name("arange_" #suffix)]] kernel void arange<T>(device T *, constant long2 &, constant Layout &, uint2);
ARANGE(i8, char)
ARANGE(u8, uchar)
ARANGE(i32, int)
ARANGE(i64, long)
#define ARANGE_FLOATS(suffix, T, unused)                                                                         \
    template [[host_name("arange_" #suffix)]] kernel void arange_floats<T>(device T *, constant float4 &,        \
                                                                           constant Layout &, uint2);
FOR_FLOATS(ARANGE_FLOATS, )
