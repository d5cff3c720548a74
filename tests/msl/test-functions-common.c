// SPDX-License-Identifier: Apache-2.0
// Common, relational and geometric functions.
#include <math.h>

#include "../conformance/values.h"
#include "test-functions.h"

#define LIMIT(name, float_amount, narrow_amount)                                              \
    static double name(const function_context *c, const long double *x, long double wanted) { \
        return c->type == IG_TYPE_F32 ? (float_amount) : (narrow_amount);                     \
    }
LIMIT(exact, 0, 0)
LIMIT(ulp1, 1, 1)

// mix is x + (y - x) * a: each of the three operations rounds.
static double mix_limit(const function_context *c, const long double *x, long double wanted) {
    long double scale = fabsl(x[0]) + fabsl(x[1]) + fabsl(wanted);
    return (double)(1 + 3 * value_ulp(c->type, scale) / value_ulp(c->type, wanted));
}
static double smoothstep_limit(const function_context *c, const long double *x, long double wanted) {
    return (double)(4 + 0x1p-21L / value_ulp(c->type, wanted));
}
// Sums of products: off by a few roundings of the largest term.
static double sum_limit(const function_context *c, const long double *x, long double wanted) {
    long double terms = 4 * (fabsl(x[0] * x[1]) + x[2] * x[2] + 1);
    return (double)(1 + 6 * value_ulp(IG_TYPE_F32, terms) / value_ulp(c->type, wanted));
}
// Squares of tiny components vanish, for which the specification has no rule.
static double length_limit(const function_context *c, const long double *x, long double wanted) {
    if (fmaxl(fmaxl(fabsl(x[0]), fabsl(x[1])), fabsl(x[2])) < 1e-15L) return -1;
    return c->type == IG_TYPE_F32 ? 4 : 1.5;
}

static long double clamped(long double x, long double low, long double high) {
    return fminl(fmaxl(x, low), high);
}
static long double smooth(long double t) {
    return t * t * (3 - 2 * t);
}
static long double sign_of(long double x) {
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}
static bool is_normal(ig_type type, long double x) {
    return isfinite(x) && fabsl(x) >= (type == IG_TYPE_F16 ? 0x1p-14L : 0x1p-126L);
}

// name, MSL, arity, reference, safe limit, fast limit, whether inputs are finite, bounds
#define COMMON_LIST(X)                                                                                           \
    X(clamp, "clamp(a, min(b, c), max(b, c))", 3, clamped(x, fminl(y, z), fmaxl(y, z)), exact, exact, true, ANY) \
    X(saturate, "saturate(a)", 1, clamped(x, 0, 1), exact, exact, true, UNIT)                                    \
    X(sign, "sign(a)", 1, isnan(x) ? 0 : sign_of(x), exact, exact, false, ANY)                                   \
    X(step, "step(a, b)", 2, y < x ? 0 : 1, exact, exact, true, ANY)                                             \
    X(mix, "mix(a, b, saturate(c))", 3, x + (y - x) * clamped(z, 0, 1), mix_limit, mix_limit, true, UNIT)        \
    X(smoothstep, "smoothstep(a, b, c)", 3, smooth(clamped((z - x) / (y - x), 0, 1)), smoothstep_limit,          \
      smoothstep_limit, true, {-4, 1, -6}, {-1, 4, 6})
#define RELATIONAL_LIST(X)                                                                                        \
    X(isfinite, "isfinite(a)", 1, isfinite(x), exact, exact, false, ANY)                                          \
    X(isinf, "isinf(a)", 1, isinf(x) != 0, exact, exact, false, ANY)                                              \
    X(isnan, "isnan(a)", 1, isnan(x), exact, exact, false, ANY)                                                   \
    X(isnormal, "isnormal(a)", 1, is_normal(c->type, x), exact, exact, false, ANY)                                \
    X(signbit, "isnan(a) ? 0 : signbit(a)", 1, isnan(x) ? 0 : signbit(x) != 0, exact, exact, false, ANY)          \
    X(isordered, "isordered(a, b)", 2, !isnan(x) && !isnan(y), exact, exact, false, ANY)                          \
    X(isunordered, "isunordered(a, b)", 2, isnan(x) || isnan(y), exact, exact, false, ANY)                        \
    X(less, "a < b", 2, x < y, exact, exact, true, ANY)                                                           \
    X(less_equal, "a <= b", 2, x <= y, exact, exact, true, ANY)                                                   \
    X(equal, "a == b", 2, x == y, exact, exact, true, ANY)                                                        \
    X(not_equal, "a != b", 2, x != y, exact, exact, true, ANY)                                                    \
    X(select, "select(a, b, c > T(0))", 3, z > 0 ? y : x, exact, exact, true, ANY)                                \
    X(all, "all(bool4(a > T(0), b > T(0), c > T(0), true))", 3, x > 0 && y > 0 && z > 0, exact, exact, true, ANY) \
    X(any, "any(bool3(a > T(0), b > T(0), c > T(0)))", 3, x > 0 || y > 0 || z > 0, exact, exact, true, ANY)
// The vectors are (a, b, c), (c, a, b) and the like.
#define GEOMETRIC_LIST(X)                                                                                              \
    X(dot, "dot(vec<T, 3>(a, c, T(1)), vec<T, 3>(b, c, T(-1)))", 3, x *y + z * z - 1, sum_limit, sum_limit, true,      \
      NEAR)                                                                                                            \
    X(dot4, "dot(vec<T, 4>(a, c, T(1), T(2)), vec<T, 4>(b, c, T(-1), T(1)))", 3, x *y + z * z + 1, sum_limit,          \
      sum_limit, true, NEAR)                                                                                           \
    X(length, "length(vec<T, 3>(a, b, c))", 3, sqrtl(x *x + y * y + z * z), length_limit, length_limit, true, NEAR)    \
    X(length_squared, "length_squared(vec<T, 3>(a, b, c))", 3, x *x + y * y + z * z, length_limit, length_limit, true, \
      NEAR)                                                                                                            \
    X(distance, "distance(vec<T, 2>(a, b), vec<T, 2>(c, T(0)))", 3, sqrtl((x - z) * (x - z) + y * y), length_limit,    \
      length_limit, true, NEAR)                                                                                        \
    X(distance_squared, "distance_squared(vec<T, 2>(a, b), vec<T, 2>(c, T(0)))", 3, (x - z) * (x - z) + y * y,         \
      length_limit, length_limit, true, NEAR)                                                                          \
    X(normalize, "normalize(vec<T, 4>(a, b, c, T(3))).x", 3, x / sqrtl(x * x + y * y + z * z + 9), length_limit,       \
      length_limit, true, NEAR)                                                                                        \
    X(cross_x, "cross(vec<T, 3>(T(1), a, c), vec<T, 3>(T(2), b, c)).x", 3, x *z - z * y, cross_limit, cross_limit,     \
      true, NEAR)                                                                                                      \
    X(faceforward, "faceforward(vec<T, 2>(a, b), vec<T, 2>(c, T(0)), vec<T, 2>(T(1), T(0))).x", 3, z < 0 ? x : -x,     \
      exact, exact, true, NEAR)                                                                                        \
    X(reflect, "reflect(vec<T, 2>(a, b), vec<T, 2>(T(0), T(1))).y", 2, -y, exact, exact, true, NEAR)                   \
    X(refract, "refract(vec<T, 2>(T(0), T(-1)), vec<T, 2>(T(0), T(1)), a).y", 1, -1, ulp1, ulp1, true, {0.25, 0, 0},   \
      {4, 0, 0})
#define ANY {-1e4, -1e4, -1e4}, {1e4, 1e4, 1e4}
#define UNIT {-2, -2, -2}, {2, 2, 2}
#define NEAR {-8, -8, -8}, {8, 8, 8}

static double cross_limit(const function_context *c, const long double *x, long double wanted) {
    long double terms = fabsl(x[0] * x[2]) + fabsl(x[2] * x[1]) + 0x1p-20L;
    return (double)(1 + 2 * value_ulp(IG_TYPE_F32, terms) / value_ulp(c->type, wanted));
}

#define REFERENCE(name, msl, arity, value, safe, fast, finite, ...)                                \
    static long double reference_##name(const function_context *c, const long double *arguments) { \
        long double x = arguments[0], y = arguments[1], z = arguments[2];                          \
        (void)x, (void)y, (void)z, (void)c;                                                        \
        return value;                                                                              \
    }
COMMON_LIST(REFERENCE)
RELATIONAL_LIST(REFERENCE)
GEOMETRIC_LIST(REFERENCE)
#undef REFERENCE

#define BOUNDS(...) __VA_ARGS__
#define ENTRY(name, msl, arity, value, safe, fast, finite, ...) \
    {#name, msl, arity, reference_##name, safe, fast, BOUNDS(__VA_ARGS__), finite},
static const function_test common[] = {COMMON_LIST(ENTRY)};
static const function_test relational[] = {RELATIONAL_LIST(ENTRY)};
static const function_test geometric[] = {GEOMETRIC_LIST(ENTRY)};

const function_family common_functions = {"common functions", "", common, sizeof common / sizeof *common};
const function_family relational_functions = {"relational functions", "", relational,
                                              sizeof relational / sizeof *relational};
const function_family geometric_functions = {"geometric functions", "", geometric,
                                             sizeof geometric / sizeof *geometric};
