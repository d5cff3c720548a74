// SPDX-License-Identifier: Apache-2.0
// What elementwise ops compute for each element, in float: for kernels of one op, and for chains of ops in one kernel.

// A product is never fused into the next op's sum: a chain computes the same bits as its ops one by one.
static float product(float a, float b) {
#pragma METAL fp contract(off)
    return a * b;
}
static float sum(float a, float b) {
#pragma METAL fp contract(off)
    return a + b;
}

// e^x - 1: 2^k (e^f - 1) + (2^k - 1), with f = x - k ln 2 and a polynomial for e^f - 1.
static float expm1(float x) {
    if (abs(x) > 20.0f || x != x) return exp(x) - 1.0f;
    float k = rint(x * 1.44269504f), f = fma(k, -1.42860677e-6f, fma(k, -6.93145752e-1f, x));
    float p = 2.48015873e-5f;
    p = fma(p, f, 1.98412698e-4f);
    p = fma(p, f, 1.38888889e-3f);
    p = fma(p, f, 8.33333333e-3f);
    p = fma(p, f, 4.16666667e-2f);
    p = fma(p, f, 1.66666667e-1f);
    p = fma(p, f, 0.5f);
    p = fma(p, f * f, f);
    float scale = ldexp(1.0f, int(k));
    return k == 0.0f ? p : fma(scale, p, scale - 1.0f);
}

// The quotient corrects the rounding of 1 + x.
static float log1p(float x) {
    float u = 1.0f + x;
    return u == 1.0f || u == INFINITY ? x : log(u) * (x / (u - 1.0f));
}

// Within an ulp; the polynomials are N. Juffa's.
static float erf(float x) {
    float t = abs(x), s = x * x, r;
    if (t > 0.927734375f) {
        r = fma(-1.72853470e-5f, t, 3.83197126e-4f);
        r = fma(r, s, fma(-3.88396438e-3f, t, 2.42546219e-2f));
        r = fma(r, t, -1.06777877e-1f);
        r = fma(r, t, -6.34846687e-1f);
        r = fma(r, t, -1.28717512e-1f);
        return copysign(1.0f - exp(fma(r, t, -t)), x);
    }
    r = -5.96761703e-4f;
    r = fma(r, s, 4.99119423e-3f);
    r = fma(r, s, -2.67681349e-2f);
    r = fma(r, s, 1.12819925e-1f);
    r = fma(r, s, -3.76125336e-1f);
    r = fma(r, s, 1.28379166e-1f);
    return fma(r, x, x);
}

// e^(z^2) erfc(z) for z >= 0, which changes slowly. Shepherd and Laframboise, 1981; the polynomial is N. Juffa's.
static float erfc_scaled(float z) {
    float r = 1.0f / (z + 2.0f), q = (z - 2.0f) * r;
    q = fma(r, fma(q, -z, fma(q + 1.0f, -2.0f, z)), q);
    float p = 5.92470169e-5f;
    p = fma(p, q, 1.61224554e-4f);
    p = fma(p, q, -3.46481771e-4f);
    p = fma(p, q, -1.39681227e-3f);
    p = fma(p, q, 1.20588380e-3f);
    p = fma(p, q, 8.69014394e-3f);
    p = fma(p, q, -8.01387429e-3f);
    p = fma(p, q, -5.42122945e-2f);
    p = fma(p, q, 1.64048523e-1f);
    p = fma(p, q, -1.66031078e-1f);
    p = fma(p, q, -9.27637145e-2f);
    p = fma(p, q, 2.76978403e-1f);
    return (1.0f + p) / fma(2.0f, z, 1.0f);
}

static float sigmoid(float a) {
    float e = exp(-abs(a));
    return (a >= 0.0f ? 1.0f : e) / (1.0f + e);
}

static float softplus(float a) {
    return max(a, 0.0f) + log1p(exp(-abs(a))) + (a != a ? a : 0.0f);
}

// A product with a factor that vanishes faster than the other grows.
static float times_vanishing(float a, float factor) { return a == -INFINITY ? 0.0f : a * factor; }

static float silu(float a) { return times_vanishing(a, sigmoid(a)); }

// a / 2 erfc(-a / sqrt 2): far below zero the rounding of a^2 would be noticeable, so the lost part is added back.
static float gelu(float a) {
    float square = min(a * a, 1e4f), lost = square < 1e4f ? fma(a, a, -square) : 0.0f;
    float e = exp(-0.5f * square), tail = 0.5f * erfc_scaled(min(abs(a), 1e4f) * 0.707106781f) * fma(e, -0.5f * lost, e);
    return a != a ? a : times_vanishing(a, a > 0.0f ? 1.0f - tail : tail);
}

static float gelu_tanh(float a) {
    return times_vanishing(a, sigmoid(1.5957691216f * fma(0.044715f * a * a, a, a)));
}

// With the sign of b, as in Python.
static float floor_mod(float a, float b) {
    float rest = fmod(a, b);
    if (rest != 0.0f && (rest < 0.0f) != (b < 0.0f)) return rest + b;
    return rest == 0.0f ? copysign(0.0f, b) : rest;
}

// The quotient that belongs to it: rounding may have lifted a / b to the next integer, which the remainder then shows.
static float floor_div(float a, float b) {
    float quotient = a / b, below = floor(quotient);
    if (b == 0.0f) return quotient;
    if (isinf(a) || (isinf(b) && quotient == 0.0f && a != 0.0f && (a < 0.0f) != (b < 0.0f))) return NAN;
    if (isinf(b)) return quotient;
    float rest = fma(-below, b, a);
    if (rest != 0.0f && (rest < 0.0f) != (b < 0.0f)) below -= 1.0f;
    return below == 0.0f ? copysign(0.0f, quotient) : below;
}

// ---- Ops ----

// Of a; p.x and p.y are parameters.
#define FOR_UNARY(X)                                \
    X(abs, abs(a))                                  \
    X(neg, -a)                                      \
    X(sign, a > 0.0f ? 1.0f : a < 0.0f ? -1.0f : a) \
    X(square, product(a, a))                        \
    X(relu, a < 0.0f ? 0.0f : a)                    \
    X(floor, floor(a))                              \
    X(ceil, ceil(a))                                \
    X(round, rint(a))                               \
    X(sqrt, sqrt(a))                                \
    X(rsqrt, 1.0f / sqrt(a))                        \
    X(reciprocal, 1.0f / a)                         \
    X(exp, exp(a))                                  \
    X(exp2, exp2(a))                                \
    X(expm1, expm1(a))                              \
    X(log, log(a))                                  \
    X(log2, log2(a))                                \
    X(log1p, log1p(a))                              \
    X(sin, sin(a))                                  \
    X(cos, cos(a))                                  \
    X(tan, tan(a))                                  \
    X(asin, asin(a))                                \
    X(acos, acos(a))                                \
    X(atan, atan(a))                                \
    X(sinh, sinh(a))                                \
    X(cosh, cosh(a))                                \
    X(tanh, tanh(a))                                \
    X(erf, erf(a))                                  \
    X(sigmoid, sigmoid(a))                          \
    X(softplus, softplus(a))                        \
    X(silu, silu(a))                                \
    X(gelu, gelu(a))                                \
    X(gelu_tanh, gelu_tanh(a))                      \
    X(leaky_relu, a < 0.0f ? p.x * a : a)           \
    X(clamp, a < p.x ? p.x : a > p.y ? p.y : a)
#define FOR_TESTS(X)          \
    X(logical_not, a == 0.0f) \
    X(isnan, isnan(a))        \
    X(isinf, isinf(a))        \
    X(isfinite, isfinite(a))
// Of a and b.
#define FOR_BINARY(X)                     \
    X(add, sum(a, b))                     \
    X(sub, sum(a, -b))                    \
    X(mul, product(a, b))                 \
    X(div, a / b)                         \
    X(pow, pow(a, b))                     \
    X(maximum, isnan(a) || a > b ? a : b) \
    X(minimum, isnan(a) || a < b ? a : b) \
    X(floor_div, floor_div(a, b))         \
    X(mod, floor_mod(a, b))               \
    X(atan2, atan2(a, b))                 \
    X(silu_mul, product(silu(a), b))
#define FOR_COMPARISONS(X)                     \
    X(equal, a == b)                           \
    X(not_equal, a != b)                       \
    X(less, a < b)                             \
    X(less_equal, a <= b)                      \
    X(greater, a > b)                          \
    X(greater_equal, a >= b)                   \
    X(logical_and, a != 0.0f && b != 0.0f)     \
    X(logical_or, a != 0.0f || b != 0.0f)      \
    X(logical_xor, (a != 0.0f) != (b != 0.0f))

#define UNARY(name, expression)                                   \
    struct name##_op {                                            \
        static float of(float a, float2 p) { return expression; } \
    };
#define TEST(name, expression)                                   \
    struct name##_op {                                           \
        static bool of(float a, float2 p) { return expression; } \
    };
#define BINARY(name, expression)                                 \
    struct name##_op {                                           \
        static float of(float a, float b) { return expression; } \
    };
#define COMPARISON(name, expression)                            \
    struct name##_op {                                          \
        static bool of(float a, float b) { return expression; } \
    };
FOR_UNARY(UNARY)
FOR_TESTS(TEST)
FOR_BINARY(BINARY)
FOR_COMPARISONS(COMPARISON)

// ---- Casts ----

// Floats to integers: towards zero, saturating, NaN is 0. Integers to integers wrap. To bool: nonzero is true.
template <typename R, typename T>
struct Cast {
    static R of(T x) { return R(x); }
};
template <typename T>
static long saturated(T value, float low, float high, long least, long most) {
    float x = float(value);
    return isnan(x) ? 0 : x <= low ? least : x >= high ? most : long(x);
}
#define SATURATING(T)                                                                               \
    template <>                                                                                     \
    struct Cast<char, T> {                                                                          \
        static char of(T x) { return char(saturated(x, -128.0f, 127.0f, -128, 127)); }              \
    };                                                                                              \
    template <>                                                                                     \
    struct Cast<uchar, T> {                                                                         \
        static uchar of(T x) { return uchar(saturated(x, 0.0f, 255.0f, 0, 255)); }                  \
    };                                                                                              \
    template <>                                                                                     \
    struct Cast<int, T> {                                                                           \
        static int of(T x) {                                                                        \
            return int(saturated(x, -0x1p31f, 0x1p31f, -2147483648L, 2147483647L));                 \
        }                                                                                           \
    };                                                                                              \
    template <>                                                                                     \
    struct Cast<long, T> {                                                                          \
        static long of(T x) {                                                                       \
            return saturated(x, -0x1p63f, 0x1p63f, -9223372036854775807L - 1, 9223372036854775807L); \
        }                                                                                           \
    };
SATURATING(float)
SATURATING(half)
SATURATING(bfloat)
// Not every pair of types converts in one step.
template <typename T>
struct Cast<half, T> {
    static half of(T x) { return half(float(x)); }
};
template <typename T>
struct Cast<bfloat, T> {
    static bfloat of(T x) { return bfloat(float(x)); }
};
template <typename T>
struct Cast<bool, T> {
    static bool of(T x) { return x != T(0); }
};
