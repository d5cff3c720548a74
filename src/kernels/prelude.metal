// SPDX-License-Identifier: Apache-2.0
// What kernels share; it precedes every other file here.
#include <metal_stdlib>
using namespace metal;

// How to access the elements of each operand. Matches igi_tensor_metal_layout.
struct Layout {
    uint rank;
    uint shape[8];
    int strides[4][8];  // of the output and the inputs, in elements
};

// The offset of element i of the first `rank` dimensions.
static inline int offset_of(uint i, uint rank, constant Layout &layout, uint operand) {
    int offset = 0;
    for (uint axis = rank; axis-- > 0;) {
        uint length = layout.shape[axis];
        offset += int(i % length) * layout.strides[operand][axis];
        i /= length;
    }
    return offset;
}

// Bit o: operand o is known to be contiguous, in the direction that matters to the kernel.
constant uint consecutive [[function_constant(0)]];
static inline int move_by(uint operand, uint i, int stride) {
    return consecutive >> operand & 1 ? int(i) : int(i) * stride;
}

// The grid is the last dimension times all others.
template <uint operands>
struct Offsets {
    int at[operands];
    Offsets(uint2 position, constant Layout &layout) {
        uint last = layout.rank - 1, outer = position.y;
        for (uint o = 0; o < operands; o++) at[o] = move_by(o, position.x, layout.strides[o][last]);
        for (uint axis = last; axis-- > 0;) {
            uint length = layout.shape[axis], along = outer % length;
            outer /= length;
            for (uint o = 0; o < operands; o++) at[o] += int(along) * layout.strides[o][axis];
        }
    }
};

// 64 bits in two halves: simdgroups exchange 32-bit words.
static inline ulong shuffle_down(ulong x, ushort distance) {
    uint2 words = as_type<uint2>(x);
    return as_type<ulong>(uint2(simd_shuffle_down(words.x, distance), simd_shuffle_down(words.y, distance)));
}
static inline ulong shuffle_up(ulong x, ushort distance) {
    uint2 words = as_type<uint2>(x);
    return as_type<ulong>(uint2(simd_shuffle_up(words.x, distance), simd_shuffle_up(words.y, distance)));
}
static inline ulong broadcast(ulong x, ushort lane) {
    uint2 words = as_type<uint2>(x);
    return as_type<ulong>(uint2(simd_broadcast(words.x, lane), simd_broadcast(words.y, lane)));
}

// Kernels treat bool as u8.
#define FOR_INTEGERS(X, ...) \
    X(i8, char, __VA_ARGS__)  \
    X(u8, uchar, __VA_ARGS__) \
    X(i32, int, __VA_ARGS__)  \
    X(i64, long, __VA_ARGS__)
#define FOR_FLOATS(X, ...)      \
    X(f32, float, __VA_ARGS__)  \
    X(f16, half, __VA_ARGS__)   \
    X(bf16, bfloat, __VA_ARGS__)
