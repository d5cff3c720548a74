// SPDX-License-Identifier: Apache-2.0
// Elementwise ops, one template for every type: computed in float, rounded once.
#include <metal_stdlib>
using namespace metal;

// How to reach element i of each operand when they are not simply consecutive. Matches igi_metal_layout.
struct Layout {
    uint rank;
    uint shape[8];
    int strides[4][8];  // of the output and the inputs, in elements
};

static int offset_of(uint i, constant Layout &layout, uint operand) {
    int offset = 0;
    for (uint axis = layout.rank; axis-- > 0;) {
        offset += int(i % layout.shape[axis]) * layout.strides[operand][axis];
        i /= layout.shape[axis];
    }
    return offset;
}

struct Add {
    static float of(float a, float b) { return a + b; }
};
struct Mul {
    static float of(float a, float b) { return a * b; }
};

template <typename T, typename Op>
kernel void binary(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *out [[buffer(2)]],
                   constant uint &count [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    if (i < count) out[i] = T(Op::of(float(a[i]), float(b[i])));
}

template <typename T, typename Op>
kernel void binary_strided(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]],
                           device T *out [[buffer(2)]], constant uint &count [[buffer(3)]],
                           constant Layout &layout [[buffer(4)]], uint i [[thread_position_in_grid]]) {
    if (i >= count) return;
    float x = float(a[offset_of(i, layout, 1)]), y = float(b[offset_of(i, layout, 2)]);
    out[offset_of(i, layout, 0)] = T(Op::of(x, y));
}

#define BINARY(name, Op, suffix, T)                                                                            \
    template [[host_name(#name "_" #suffix)]] kernel void binary<T, Op>(                                       \
        device const T *, device const T *, device T *, constant uint &, uint);                                \
    template [[host_name(#name "_strided_" #suffix)]] kernel void binary_strided<T, Op>(                       \
        device const T *, device const T *, device T *, constant uint &, constant Layout &, uint);
#define BINARY_OF_ALL_TYPES(name, Op) \
    BINARY(name, Op, f32, float)      \
    BINARY(name, Op, f16, half)       \
    BINARY(name, Op, bf16, bfloat)

BINARY_OF_ALL_TYPES(add, Add)
BINARY_OF_ALL_TYPES(mul, Mul)
