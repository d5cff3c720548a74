// SPDX-License-Identifier: Apache-2.0
// Elements by index. The host has checked that all indices are in range.

// Matches igi_metal_axis.
struct Axis {
    int length, stride;  // of the indexed axis
};

// Operands of the layout: the result, the index, and the first element of x along the axis.
template <typename T, typename I>
kernel void gather(device const T *x [[buffer(0)]], device const I *index [[buffer(1)]], device T *out [[buffer(2)]],
                   constant Axis &axis [[buffer(3)]], constant Layout &layout [[buffer(4)]],
                   uint2 position [[thread_position_in_grid]]) {
    Offsets<3> offsets(position, layout);
    int at = int(index[offsets.at[1]]);
    out[offsets.at[0]] = x[offsets.at[2] + (at < 0 ? at + axis.length : at) * axis.stride];
}

// Matches igi_metal_picked.
struct Picked {
    uint count;                       // along the axis
    int index_stride, source_stride;  // along it
};

static float added(float a, float b) { return a + b; }
static half added(half a, half b) { return half(float(a) + float(b)); }
static bfloat added(bfloat a, bfloat b) { return bfloat(float(a) + float(b)); }
template <typename T>
static T added(T a, T b) {
    return T(ulong(a) + ulong(b));
}

template <typename T, bool adds>
struct Put {
    static T of(T, T source) { return source; }
};
template <typename T>
struct Put<T, true> {
    static T of(T target, T source) { return added(target, source); }
};

// A thread for each line along the axis, in order: the last of several wins, and sums are reproducible. Operands of the
// layout: the result, the index and the source, each at its first element along the axis.
template <typename T, typename I, bool adds>
kernel void scatter(device const T *source [[buffer(0)]], device const I *index [[buffer(1)]],
                    device T *out [[buffer(2)]], constant Axis &axis [[buffer(3)]],
                    constant Layout &layout [[buffer(4)]], constant Picked &picked [[buffer(5)]],
                    uint2 position [[thread_position_in_grid]]) {
    Offsets<3> offsets(position, layout);
    for (uint i = 0; i < picked.count; i++) {
        int at = int(index[offsets.at[1] + int(i) * picked.index_stride]);
        int target = offsets.at[0] + (at < 0 ? at + axis.length : at) * axis.stride;
        out[target] = Put<T, adds>::of(out[target], source[offsets.at[2] + int(i) * picked.source_stride]);
    }
}

#define GATHER(size, T, suffix, I)                                                                              \
    template [[host_name("gather_" #size "_" #suffix)]] kernel void gather<T, I>(                               \
        device const T *, device const I *, device T *, constant Axis &, constant Layout &, uint2);
#define SCATTER(name, T, suffix, I, adds)                                                                       \
    template [[host_name("scatter_" #name "_" #suffix)]] kernel void scatter<T, I, adds>(                       \
        device const T *, device const I *, device T *, constant Axis &, constant Layout &, constant Picked &, uint2);
#define BITS(size, T)                                                   \
    GATHER(size, T, i32, int)                                           \
    GATHER(size, T, i64, long)                                          \
    SCATTER(size, T, i32, int, false)                                   \
    SCATTER(size, T, i64, long, false)
BITS(1, uchar)
BITS(2, ushort)
BITS(4, uint)
BITS(8, ulong)
#define SUMS(name, T) SCATTER(add_##name, T, i32, int, true) SCATTER(add_##name, T, i64, long, true)
SUMS(f32, float)
SUMS(f16, half)
SUMS(bf16, bfloat)
SUMS(i8, char)
SUMS(u8, uchar)
SUMS(i32, int)
SUMS(i64, long)
