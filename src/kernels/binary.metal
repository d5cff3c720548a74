// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of two operands, one template for every type: computed in float, rounded once.

// Four elements of contiguous operands for each thread.
template <typename T, typename R, typename Op>
kernel void binary(device const T *x [[buffer(0)]], device const T *y [[buffer(1)]], device R *out [[buffer(2)]],
                   constant uint &count [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    uint at = 4 * i;
    if (at + 4 <= count) {
        vec<T, 4> a = *(device const vec<T, 4> *)(x + at), b = *(device const vec<T, 4> *)(y + at);
        *(device vec<R, 4> *)(out + at) =
            vec<R, 4>(R(Op::of(float(a.x), float(b.x))), R(Op::of(float(a.y), float(b.y))),
                      R(Op::of(float(a.z), float(b.z))), R(Op::of(float(a.w), float(b.w))));
    } else {
        for (; at < count; at++) out[at] = R(Op::of(float(x[at]), float(y[at])));
    }
}

template <typename T, typename R, typename Op>
kernel void binary_strided(device const T *x [[buffer(0)]], device const T *y [[buffer(1)]],
                           device R *out [[buffer(2)]], constant Layout &layout [[buffer(3)]],
                           uint2 position [[thread_position_in_grid]]) {
    Offsets<3> offsets(position, layout);
    out[offsets.at[0]] = R(Op::of(float(x[offsets.at[1]]), float(y[offsets.at[2]])));
}

#define INSTANCE(suffix, T, R, name)                                                                          \
    template [[host_name(#name "_" #suffix)]] kernel void binary<T, R, name##_op>(                            \
        device const T *, device const T *, device R *, constant uint &, uint);                               \
    template [[host_name(#name "_strided_" #suffix)]] kernel void binary_strided<T, R, name##_op>(            \
        device const T *, device const T *, device R *, constant Layout &, uint2);
#define KEEP_INSTANCE(suffix, T, name) INSTANCE(suffix, T, T, name)
#define BOOL_INSTANCE(suffix, T, name) INSTANCE(suffix, T, uchar, name)

#define KEEP_INSTANCES(name, expression) FOR_FLOATS(KEEP_INSTANCE, name)
#define BOOL_INSTANCES(name, expression) FOR_FLOATS(BOOL_INSTANCE, name)
FOR_BINARY(KEEP_INSTANCES)
FOR_COMPARISONS(BOOL_INSTANCES)
