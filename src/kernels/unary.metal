// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of one operand, one template for every type: computed in float, rounded once.

// Four elements of contiguous operands for each thread.
template <typename T, typename R, typename Op>
kernel void unary(device const T *x [[buffer(0)]], device R *out [[buffer(1)]], constant float2 &p [[buffer(2)]],
                  constant uint &count [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    uint at = 4 * i;
    if (at + 4 <= count) {
        vec<T, 4> a = *(device const vec<T, 4> *)(x + at);
        *(device vec<R, 4> *)(out + at) = vec<R, 4>(R(Op::of(float(a.x), p)), R(Op::of(float(a.y), p)),
                                                    R(Op::of(float(a.z), p)), R(Op::of(float(a.w), p)));
    } else {
        for (; at < count; at++) out[at] = R(Op::of(float(x[at]), p));
    }
}

template <typename T, typename R, typename Op>
kernel void unary_strided(device const T *x [[buffer(0)]], device R *out [[buffer(1)]], constant float2 &p [[buffer(2)]],
                          constant Layout &layout [[buffer(3)]], uint2 position [[thread_position_in_grid]]) {
    Offsets<2> offsets(position, layout);
    out[offsets.at[0]] = R(Op::of(float(x[offsets.at[1]]), p));
}

#define INSTANCE(suffix, T, R, name)                                                                      \
    template [[host_name(#name "_" #suffix)]] kernel void unary<T, R, name##_op>(                         \
        device const T *, device R *, constant float2 &, constant uint &, uint);                          \
    template [[host_name(#name "_strided_" #suffix)]] kernel void unary_strided<T, R, name##_op>(         \
        device const T *, device R *, constant float2 &, constant Layout &, uint2);
#define KEEP_INSTANCE(suffix, T, name) INSTANCE(suffix, T, T, name)
#define BOOL_INSTANCE(suffix, T, name) INSTANCE(suffix, T, uchar, name)

#define KEEP_INSTANCES(name, expression) FOR_FLOATS(KEEP_INSTANCE, name)
#define BOOL_INSTANCES(name, expression) FOR_FLOATS(BOOL_INSTANCE, name)
FOR_UNARY(KEEP_INSTANCES)
FOR_TESTS(BOOL_INSTANCES)
