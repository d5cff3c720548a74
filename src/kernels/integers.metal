// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of integers, which wrap around. Integers of less than 32 bits are computed in 32.

template <typename T>
struct Number {
    typedef int Value;
    typedef uint Bits;
};
template <>
struct Number<long> {
    typedef long Value;
    typedef ulong Bits;
};

// ---- Functions: V is a signed number, U its bits ----

template <typename V>
static V floor_div(V a, V b) {
    if (b == 0) return 0;
    V quotient = a / b;
    return quotient - V(a % b != 0 && (a < 0) != (b < 0));
}

template <typename V>
static V floor_mod(V a, V b) {
    if (b == 0) return 0;
    V rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

template <typename V, typename U>
static V power(V base, V exponent) {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    U result = 1, square = U(base);
    for (; exponent != 0; exponent >>= 1, square *= square)
        if (exponent & 1) result *= square;
    return V(result);
}

#define FOR_UNARY(X)                                             \
    X(abs, a < 0 ? V(U(0) - U(a)) : a)                           \
    X(neg, V(U(0) - U(a)))                                       \
    X(sign, V(a > 0) - V(a < 0))                                 \
    X(square, V(U(a) * U(a)))                                    \
    X(relu, a < 0 ? V(0) : a)                                    \
    X(floor, a)                                                  \
    X(ceil, a)                                                   \
    X(round, a)                                                  \
    X(clamp, V(long(a) < p.x ? p.x : long(a) > p.y ? p.y : long(a)))
#define FOR_TESTS(X)       \
    X(logical_not, a == 0) \
    X(isnan, false)        \
    X(isinf, false)        \
    X(isfinite, true)
// Divisors of -1 are handled separately: the smallest number has no opposite.
#define FOR_BINARY(X)                                                    \
    X(add, V(U(a) + U(b)))                                               \
    X(sub, V(U(a) - U(b)))                                               \
    X(mul, V(U(a) * U(b)))                                               \
    X(pow, (power<V, U>(a, b)))                                          \
    X(maximum, a > b ? a : b)                                            \
    X(minimum, a < b ? a : b)                                            \
    X(floor_div, b == -1 ? V(U(0) - U(a)) : floor_div(a, b))             \
    X(mod, b == -1 ? V(0) : floor_mod(a, b))
#define FOR_COMPARISONS(X)                \
    X(equal, a == b)                      \
    X(not_equal, a != b)                  \
    X(less, a < b)                        \
    X(less_equal, a <= b)                 \
    X(greater, a > b)                     \
    X(greater_equal, a >= b)              \
    X(logical_and, a != 0 && b != 0)      \
    X(logical_or, a != 0 || b != 0)       \
    X(logical_xor, (a != 0) != (b != 0))

#define UNARY(name, expression)                                     \
    template <typename V, typename U>                               \
    struct name##_op {                                              \
        static V of(V a, constant long2 &p) { return expression; } \
    };
#define TEST(name, expression)                                         \
    template <typename V, typename U>                                  \
    struct name##_op {                                                 \
        static uchar of(V a, constant long2 &p) { return expression; } \
    };
#define BINARY(name, expression)                     \
    template <typename V, typename U>                \
    struct name##_op {                               \
        static V of(V a, V b) { return expression; } \
    };
#define COMPARISON(name, expression)                     \
    template <typename V, typename U>                    \
    struct name##_op {                                   \
        static uchar of(V a, V b) { return expression; } \
    };
FOR_UNARY(UNARY)
FOR_TESTS(TEST)
FOR_BINARY(BINARY)
FOR_COMPARISONS(COMPARISON)

// ---- Kernels ----

template <typename T, typename R, template <typename, typename> class Op>
kernel void unary(device const T *x [[buffer(0)]], device R *out [[buffer(1)]], constant long2 &p [[buffer(2)]],
                  constant Layout &layout [[buffer(3)]], uint2 position [[thread_position_in_grid]]) {
    typedef typename Number<T>::Value V;
    Offsets<2> offsets(position, layout);
    out[offsets.at[0]] = R(Op<V, typename Number<T>::Bits>::of(V(x[offsets.at[1]]), p));
}

template <typename T, typename R, template <typename, typename> class Op>
kernel void binary(device const T *x [[buffer(0)]], device const T *y [[buffer(1)]], device R *out [[buffer(2)]],
                   constant Layout &layout [[buffer(3)]], uint2 position [[thread_position_in_grid]]) {
    typedef typename Number<T>::Value V;
    Offsets<3> offsets(position, layout);
    out[offsets.at[0]] = R(Op<V, typename Number<T>::Bits>::of(V(x[offsets.at[1]]), V(y[offsets.at[2]])));
}

#define UNARY_INSTANCE(suffix, T, R, name)                                                               \
    template [[host_name(#name "_" #suffix)]] kernel void unary<T, R, name##_op>(                        \
        device const T *, device R *, constant long2 &, constant Layout &, uint2);
#define BINARY_INSTANCE(suffix, T, R, name)                                                              \
    template [[host_name(#name "_" #suffix)]] kernel void binary<T, R, name##_op>(                       \
        device const T *, device const T *, device R *, constant Layout &, uint2);

#define KEEP_UNARY(suffix, T, name) UNARY_INSTANCE(suffix, T, T, name)
#define BOOL_UNARY(suffix, T, name) UNARY_INSTANCE(suffix, T, uchar, name)
#define KEEP_BINARY(suffix, T, name) BINARY_INSTANCE(suffix, T, T, name)
#define BOOL_BINARY(suffix, T, name) BINARY_INSTANCE(suffix, T, uchar, name)
#define UNARY_INSTANCES(name, expression) FOR_INTEGERS(KEEP_UNARY, name)
#define TEST_INSTANCES(name, expression) FOR_INTEGERS(BOOL_UNARY, name)
#define BINARY_INSTANCES(name, expression) FOR_INTEGERS(KEEP_BINARY, name)
#define COMPARISON_INSTANCES(name, expression) FOR_INTEGERS(BOOL_BINARY, name)
FOR_UNARY(UNARY_INSTANCES)
FOR_TESTS(TEST_INSTANCES)
FOR_BINARY(BINARY_INSTANCES)
FOR_COMPARISONS(COMPARISON_INSTANCES)
