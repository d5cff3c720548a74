// SPDX-License-Identifier: Apache-2.0
// Casts, copies and where. Copies and where treat elements as bits of their size.

template <typename T, typename R>
kernel void convert(device const T *x [[buffer(0)]], device R *out [[buffer(1)]],
                    constant Layout &layout [[buffer(2)]], uint2 position [[thread_position_in_grid]]) {
    Offsets<2> offsets(position, layout);
    out[offsets.at[0]] = Cast<R, T>::of(x[offsets.at[1]]);
}

// All operands contiguous.
template <typename T, typename R>
kernel void convert_plain(device const T *x [[buffer(0)]], device R *out [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    out[i] = Cast<R, T>::of(x[i]);
}

template <typename T>
kernel void copy_plain(device const T *x [[buffer(0)]], device T *out [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
    out[i] = x[i];
}

template <typename T>
kernel void copy(device const T *x [[buffer(0)]], device T *out [[buffer(1)]], constant Layout &layout [[buffer(2)]],
                 uint2 position [[thread_position_in_grid]]) {
    Offsets<2> offsets(position, layout);
    out[offsets.at[0]] = x[offsets.at[1]];
}

// Matrices of which one is contiguous along rows and the other along columns: through threadgroup memory, so that both
// are accessed in order. Batches of `layout`; the last two of its dimensions are rows and columns.
constant constexpr uint side = 32;

template <typename T>
kernel void transpose(device const T *x [[buffer(0)]], device T *out [[buffer(1)]],
                      constant Layout &layout [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
                      uint3 place [[thread_position_in_threadgroup]]) {
    threadgroup T tile[side][side + 1];
    uint rank = layout.rank - 2, rows = layout.shape[rank], columns = layout.shape[rank + 1];
    x += offset_of(group.z, rank, layout, 1);
    out += offset_of(group.z, rank, layout, 0);
    uint top = group.y * side, left = group.x * side;
    for (uint i = place.y; i < side; i += 8)
        if (left + i < columns && top + place.x < rows)
            tile[i][place.x] = x[int(left + i) * layout.strides[1][rank + 1] + int(top + place.x)];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = place.y; i < side; i += 8)
        if (top + i < rows && left + place.x < columns)
            out[int(top + i) * layout.strides[0][rank] + int(left + place.x)] = tile[place.x][i];
}

template <typename T>
kernel void choose(device const uchar *condition [[buffer(0)]], device const T *a [[buffer(1)]],
                   device const T *b [[buffer(2)]], device T *out [[buffer(3)]],
                   constant Layout &layout [[buffer(4)]], uint2 position [[thread_position_in_grid]]) {
    Offsets<4> offsets(position, layout);
    out[offsets.at[0]] = condition[offsets.at[1]] != 0 ? a[offsets.at[2]] : b[offsets.at[3]];
}

template <typename T>
kernel void choose_plain(device const uchar *condition [[buffer(0)]], device const T *a [[buffer(1)]],
                         device const T *b [[buffer(2)]], device T *out [[buffer(3)]],
                         uint i [[thread_position_in_grid]]) {
    out[i] = condition[i] != 0 ? a[i] : b[i];
}

#define CONVERT(from, T, to, R)                                                                       \
    template [[host_name(#from "_to_" #to)]] kernel void convert_plain<T, R>(device const T *, device R *, uint); \
    template [[host_name(#from "_to_" #to "_strided")]] kernel void convert<T, R>(device const T *, device R *,   \
                                                                                  constant Layout &, uint2);
#define CONVERT_TO_ALL(from, T)   \
    CONVERT(from, T, bool, bool)  \
    CONVERT(from, T, i8, char)    \
    CONVERT(from, T, u8, uchar)   \
    CONVERT(from, T, i32, int)    \
    CONVERT(from, T, i64, long)   \
    CONVERT(from, T, f16, half)   \
    CONVERT(from, T, bf16, bfloat) \
    CONVERT(from, T, f32, float)
CONVERT_TO_ALL(bool, bool)
CONVERT_TO_ALL(i8, char)
CONVERT_TO_ALL(u8, uchar)
CONVERT_TO_ALL(i32, int)
CONVERT_TO_ALL(i64, long)
CONVERT_TO_ALL(f16, half)
CONVERT_TO_ALL(bf16, bfloat)
CONVERT_TO_ALL(f32, float)

#define BITS(size, T)                                                                                              \
    template [[host_name("copy_" #size)]] kernel void copy_plain<T>(device const T *, device T *, uint);           \
    template [[host_name("copy_strided_" #size)]] kernel void copy<T>(device const T *, device T *,                \
                                                                      constant Layout &, uint2);                   \
    template [[host_name("transpose_" #size)]] kernel void transpose<T>(device const T *, device T *,              \
                                                                        constant Layout &, uint3, uint3);          \
    template [[host_name("where_" #size)]] kernel void choose_plain<T>(                                            \
        device const uchar *, device const T *, device const T *, device T *, uint);                               \
    template [[host_name("where_strided_" #size)]] kernel void choose<T>(                                          \
        device const uchar *, device const T *, device const T *, device T *, constant Layout &, uint2);
BITS(1, uchar)
BITS(2, ushort)
BITS(4, uint)
BITS(8, ulong)
