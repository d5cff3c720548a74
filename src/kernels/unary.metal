// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of one operand, one template for every type: computed in float, rounded once.

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

// The rounding of 1 + x is taken back by the quotient.
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

// Products with something that vanishes faster than the other grows.
static float times_vanishing(float a, float factor) { return a == -INFINITY ? 0.0f : a * factor; }

// a / 2 erfc(-a / sqrt 2): far below zero the rounding of a^2 would show, so its lost part is put back.
static float gelu(float a) {
    float square = min(a * a, 1e4f), lost = square < 1e4f ? fma(a, a, -square) : 0.0f;
    float e = exp(-0.5f * square), tail = 0.5f * erfc_scaled(min(abs(a), 1e4f) * 0.707106781f) * fma(e, -0.5f * lost, e);
    return a != a ? a : times_vanishing(a, a > 0.0f ? 1.0f - tail : tail);
}

static float gelu_tanh(float a) {
    return times_vanishing(a, sigmoid(1.5957691216f * fma(0.044715f * a * a, a, a)));
}

// ---- Kernels ----

// Four elements of consecutive operands for each thread.
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

#define UNARY(name, expression)                                      \
    struct name##_op {                                               \
        static float of(float a, float2 p) { return expression; }    \
    };                                                               \
    FOR_FLOATS(KEEP_INSTANCE, name)
#define TEST(name, expression)                                       \
    struct name##_op {                                               \
        static bool of(float a, float2 p) { return expression; }     \
    };                                                               \
    FOR_FLOATS(BOOL_INSTANCE, name)

UNARY(abs, abs(a))
UNARY(neg, -a)
UNARY(sign, a > 0.0f ? 1.0f : a < 0.0f ? -1.0f : a)
UNARY(square, a *a)
UNARY(relu, a < 0.0f ? 0.0f : a)
UNARY(floor, floor(a))
UNARY(ceil, ceil(a))
UNARY(round, rint(a))
UNARY(sqrt, sqrt(a))
UNARY(rsqrt, 1.0f / sqrt(a))
UNARY(reciprocal, 1.0f / a)
UNARY(exp, exp(a))
UNARY(exp2, exp2(a))
UNARY(expm1, expm1(a))
UNARY(log, log(a))
UNARY(log2, log2(a))
UNARY(log1p, log1p(a))
UNARY(sin, sin(a))
UNARY(cos, cos(a))
UNARY(tan, tan(a))
UNARY(asin, asin(a))
UNARY(acos, acos(a))
UNARY(atan, atan(a))
UNARY(sinh, sinh(a))
UNARY(cosh, cosh(a))
UNARY(tanh, tanh(a))
UNARY(erf, erf(a))
UNARY(sigmoid, sigmoid(a))
UNARY(softplus, softplus(a))
UNARY(silu, times_vanishing(a, sigmoid(a)))
UNARY(gelu, gelu(a))
UNARY(gelu_tanh, gelu_tanh(a))
UNARY(leaky_relu, a < 0.0f ? p.x * a : a)
UNARY(clamp, a < p.x ? p.x : a > p.y ? p.y : a)
TEST(logical_not, a == 0.0f)
TEST(isnan, isnan(a))
TEST(isinf, isinf(a))
TEST(isfinite, isfinite(a))
