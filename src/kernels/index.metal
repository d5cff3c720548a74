// SPDX-License-Identifier: Apache-2.0
// Elements by index. The host has seen to it that all indices lie inside.

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

#define GATHER(size, T, suffix, I)                                                                              \
    template [[host_name("gather_" #size "_" #suffix)]] kernel void gather<T, I>(                               \
        device const T *, device const I *, device T *, constant Axis &, constant Layout &, uint2);
#define BITS(size, T) GATHER(size, T, i32, int) GATHER(size, T, i64, long)
BITS(1, uchar)
BITS(2, ushort)
BITS(4, uint)
BITS(8, ulong)
