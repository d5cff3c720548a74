// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of two operands, one template for every type: computed in float, rounded once.

// With the sign of b, as in Python.
static float floor_mod(float a, float b) {
    float rest = fmod(a, b);
    if (rest != 0.0f && (rest < 0.0f) != (b < 0.0f)) return rest + b;
    return rest == 0.0f ? copysign(0.0f, b) : rest;
}

// The quotient that goes with it: rounding may have lifted a / b to the next integer, which the rest then shows.
static float floor_div(float a, float b) {
    float quotient = a / b, below = floor(quotient);
    if (b == 0.0f) return quotient;
    if (isinf(a) || (isinf(b) && quotient == 0.0f && a != 0.0f && (a < 0.0f) != (b < 0.0f))) return NAN;
    if (isinf(b)) return quotient;
    float rest = fma(-below, b, a);
    if (rest != 0.0f && (rest < 0.0f) != (b < 0.0f)) below -= 1.0f;
    return below == 0.0f ? copysign(0.0f, quotient) : below;
}

// -inf times e^-inf is 0.
static float silu(float a) {
    float e = exp(-abs(a));
    return a == -INFINITY ? 0.0f : a * ((a >= 0.0f ? 1.0f : e) / (1.0f + e));
}

// Four elements of consecutive operands for each thread.
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

#define BINARY(name, expression)                                     \
    struct name##_op {                                               \
        static float of(float a, float b) { return expression; }     \
    };                                                               \
    FOR_FLOATS(KEEP_INSTANCE, name)
#define COMPARE(name, expression)                                    \
    struct name##_op {                                               \
        static bool of(float a, float b) { return expression; }      \
    };                                                               \
    FOR_FLOATS(BOOL_INSTANCE, name)

BINARY(add, a + b)
BINARY(sub, a - b)
BINARY(mul, a *b)
BINARY(div, a / b)
BINARY(pow, pow(a, b))
BINARY(maximum, isnan(a) || a > b ? a : b)
BINARY(minimum, isnan(a) || a < b ? a : b)
BINARY(floor_div, floor_div(a, b))
BINARY(mod, floor_mod(a, b))
BINARY(atan2, atan2(a, b))
BINARY(silu_mul, silu(a) * b)
COMPARE(equal, a == b)
COMPARE(not_equal, a != b)
COMPARE(less, a < b)
COMPARE(less_equal, a <= b)
COMPARE(greater, a > b)
COMPARE(greater_equal, a >= b)
COMPARE(logical_and, a != 0.0f && b != 0.0f)
COMPARE(logical_or, a != 0.0f || b != 0.0f)
COMPARE(logical_xor, (a != 0.0f) != (b != 0.0f))
