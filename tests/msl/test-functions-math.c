// SPDX-License-Identifier: Apache-2.0
// Math functions: references in long double and the limits of tables 8.1 (safe) and 8.2 (fast) of the specification.
#include <float.h>
#include <math.h>

#include "../conformance/values.h"
#include "test-functions.h"

static const long double pi = 3.14159265358979323846264338327950288L;

// ---- Limits ----

// half and bfloat are computed in float: one ulp is plenty, and correct rounding may be missed by very little.
static double narrow(const function_context *c, double limit) {
    if (c->type == IG_TYPE_F32) return limit;
    return limit == 0 ? 0 : limit == 0.5 ? 0.502 : 1;
}
#define ULP_LIMIT(name, amount)                                                               \
    static double name(const function_context *c, const long double *x, long double wanted) { \
        return narrow(c, amount);                                                             \
    }
ULP_LIMIT(exact, 0)
ULP_LIMIT(rounded, 0.5)
ULP_LIMIT(ulp2, 2)
ULP_LIMIT(ulp4, 4)
ULP_LIMIT(ulp5, 5)
ULP_LIMIT(ulp6, 6)
ULP_LIMIT(ulp16, 16)

// `amount` as an absolute error, in ulp of the wanted value.
static double absolute(const function_context *c, long double amount, long double wanted) {
    if (c->type != IG_TYPE_F32) return 1;
    return (double)(amount / value_ulp(c->type, wanted));
}

static double undefined(const function_context *c, const long double *x, long double wanted) {
    return -1;
}
static double fast_exp(const function_context *c, const long double *x, long double wanted) {
    return narrow(c, 3 + floor((double)fabsl(2 * x[0])));
}
// exp2(x * log2(10)), with the error of the product added.
static double fast_exp10(const function_context *c, const long double *x, long double wanted) {
    double t = (double)fabsl(x[0] * log2l(10));
    return narrow(c, 3 + floor(2 * t) + 2 * t);
}
static double fast_log(const function_context *c, const long double *x, long double wanted) {
    return x[0] >= 0.5L && x[0] <= 2 ? absolute(c, 0x1p-21L, wanted) : narrow(c, 3);
}
static double fast_log2(const function_context *c, const long double *x, long double wanted) {
    return x[0] >= 0.5L && x[0] <= 2 ? absolute(c, 0x1p-22L, wanted) : narrow(c, 2);
}
// log2(x) * log10(2)
static double fast_log10(const function_context *c, const long double *x, long double wanted) {
    return x[0] >= 0.5L && x[0] <= 2 ? absolute(c, 0x1p-22L, wanted) : narrow(c, 4);
}
// exp2(y * log2(x)): the error of log2, a few ulp or 2^-22, times y, in the exponent.
static double fast_pow(const function_context *c, const long double *x, long double wanted) {
    double t = (double)fabsl(x[1] * log2l(x[0])), y = (double)fabsl(x[1]);
    return c->type == IG_TYPE_F32 ? 4 + 6 * t + 3 * y : 1;
}
static double fast_sin(const function_context *c, const long double *x, long double wanted) {
    return absolute(c, 0x1p-13L, wanted);
}
// sin(x) * (1 / cos(x)), each off by 2^-13.
static double fast_tan(const function_context *c, const long double *x, long double wanted) {
    return absolute(c, 0x1p-12L * (1 + wanted * wanted), wanted);
}
// 0.5 * (exp(x) + exp(-x))
static double fast_cosh(const function_context *c, const long double *x, long double wanted) {
    double terms = 5 + 2 * (double)fabsl(x[0]);
    return c->type == IG_TYPE_F32 ? absolute(c, terms * value_ulp(c->type, coshl(x[0])), wanted) : 1;
}
// (t - 1) / (t + 1), t = exp(2x)
static double fast_tanh(const function_context *c, const long double *x, long double wanted) {
    return absolute(c, 8 * (1 + fabsl(x[0])) * 0x1p-23L, wanted);
}
// Twice the error of table 8.2's formula itself in float, and a few ulp for its log and sqrt.
static double formula(const function_context *c, float value, long double wanted) {
    return c->type == IG_TYPE_F32 ? 8 + absolute(c, 2 * fabsl((long double)value - wanted), wanted) : 1;
}
static double fast_acosh(const function_context *c, const long double *x, long double wanted) {
    float v = (float)x[0];
    return formula(c, logf(v + sqrtf(v * v - 1)), wanted);
}
static double fast_asinh(const function_context *c, const long double *x, long double wanted) {
    float v = (float)x[0];
    return formula(c, logf(v + sqrtf(v * v + 1)), wanted);
}
static double fast_atanh(const function_context *c, const long double *x, long double wanted) {
    float v = (float)x[0];
    return formula(c, 0.5f * logf((1 + v) / (1 - v)), wanted);
}
static double fast_atan2(const function_context *c, const long double *x, long double wanted) {
    return x[0] == 0 || x[1] == 0 ? -1 : narrow(c, 8);
}
static double fast_divide(const function_context *c, const long double *x, long double wanted) {
    return fabsl(x[1]) >= 0x1p-126L && fabsl(x[1]) <= 0x1p126L ? narrow(c, 2.5) : -1;
}
// The largest value of the type below 1 is as close as fract gets.
static double fract_limit(const function_context *c, const long double *x, long double wanted) {
    return isfinite(x[0]) ? narrow(c, 0.5) : -1;
}

// ---- References the C library does not have ----

static long double reduced_pi(long double x, long double (*f)(long double)) {
    return isfinite(x) ? f(fmodl(x, 2) * pi) : (long double)NAN;
}
static long double sinpi_of(long double x) {
    return truncl(x) == x && isfinite(x) ? copysignl(0, x) : reduced_pi(x, sinl);
}
static long double cospi_of(long double x) {
    return isfinite(x) && truncl(2 * x) == 2 * x && fabsl(fmodl(x, 1)) == 0.5L ? 0 : reduced_pi(x, cosl);
}
static long double tanpi_of(long double x) {
    long double c = cospi_of(x);
    return c == 0 ? (long double)INFINITY : sinpi_of(x) / c;
}
// An infinity of either sign is correct at odd multiples of a half.
static double tanpi_limit(const function_context *c, const long double *x, long double wanted) {
    return isinf(wanted) ? -1 : narrow(c, 6);
}
static double fast_tanpi(const function_context *c, const long double *x, long double wanted) {
    return isinf(wanted) ? -1 : fast_tan(c, x, wanted);
}
static long double next_after(ig_type type, long double x, long double y) {
    if (isnan(x) || isnan(y)) return (long double)NAN;
    if (x == y) return y;
    uint64_t bits = 0;
    if (x == 0) {
        bits = 1;
        long double smallest = value_read(type, &bits);
        return y > 0 ? smallest : -smallest;
    }
    value_write(type, x, &bits);
    bits += (y > x) == (x > 0) ? 1 : (uint64_t)-1;
    return value_read(type, &bits);
}
static long double fract_of(ig_type type, long double x) {
    long double f = x - floorl(x), below = 1 - value_ulp(type, 0.75L);
    return f > below ? below : f;
}
static long double middle(long double x, long double y, long double z) {
    return fmaxl(fminl(x, y), fminl(fmaxl(x, y), z));
}
static long double fdim_of(ig_type type, long double x, long double y) {
    return isnan(x) || isnan(y) ? (long double)NAN : x > y ? x - y : 0;
}
static long double modf_whole(long double x) {
    return truncl(x);
}
static long double frexp_part(long double x, bool exponent) {
    int e = 0;
    long double f = frexpl(x, &e);
    return exponent ? e : f;
}
// Exact product, rounded once with the sum; doubles and halves both fit.
static long double fma_of(long double x, long double y, long double z) {
    return fmal(x, y, z);
}

// ---- The list: name, MSL, arity, reference, safe limit, fast limit, bounds of inputs, whether they are finite ----

#define ANY {-1e4, -1e4, -1e4}, {1e4, 1e4, 1e4}
#define UNIT {-1, -1, -1}, {1, 1, 1}
#define POSITIVE {1e-4, 1e-4, 1e-4}, {1e4, 1e4, 1e4}
#define TURN {-3.14159, -3.14159, -3.14159}, {3.14159, 3.14159, 3.14159}
// In half range: exponentials of these neither overflow float nor vanish.
#define SMALL {-80, -80, -80}, {80, 80, 80}
#define MATH_LIST(X)                                                                                       \
    X(acos, "acos(a)", 1, acosl(x), ulp4, ulp5, false, UNIT)                                               \
    X(acosh, "acosh(a)", 1, acoshl(x), ulp4, fast_acosh, false, {1, 1, 1}, {1e4, 1, 1})                    \
    X(asin, "asin(a)", 1, asinl(x), ulp4, ulp5, false, UNIT)                                               \
    X(asinh, "asinh(a)", 1, asinhl(x), ulp4, fast_asinh, false, ANY)                                       \
    X(atan, "atan(a)", 1, atanl(x), ulp5, ulp5, false, ANY)                                                \
    X(atan2, "atan2(a, b)", 2, atan2l(x, y), ulp6, fast_atan2, false, ANY)                                 \
    X(atanh, "atanh(a)", 1, atanhl(x), ulp5, fast_atanh, false, UNIT)                                      \
    X(ceil, "ceil(a)", 1, ceill(x), rounded, rounded, false, ANY)                                          \
    X(copysign, "copysign(a, b)", 2, copysignl(x, y), exact, exact, true, ANY)                             \
    X(cos, "cos(a)", 1, cosl(x), ulp4, fast_sin, false, TURN)                                              \
    X(cosh, "cosh(a)", 1, coshl(x), ulp4, fast_cosh, false, SMALL)                                         \
    X(cospi, "cospi(a)", 1, cospi_of(x), ulp4, fast_sin, false, UNIT)                                      \
    X(divide, "divide(a, b)", 2, x / y, rounded, fast_divide, false, ANY)                                  \
    X(quotient, "a / b", 2, x / y, rounded, fast_divide, false, ANY)                                       \
    X(sum, "a + b", 2, x + y, rounded, rounded, false, ANY)                                                \
    X(difference, "a - b", 2, x - y, rounded, rounded, false, ANY)                                         \
    X(product, "a * b", 2, x *y, rounded, rounded, false, ANY)                                             \
    X(exp, "exp(a)", 1, expl(x), ulp4, fast_exp, false, SMALL)                                             \
    X(exp10, "exp10(a)", 1, powl(10, x), ulp4, fast_exp10, false, {-37, 0, 0}, {37, 0, 0})                 \
    X(exp2, "exp2(a)", 1, exp2l(x), ulp4, fast_exp, false, {-120, 0, 0}, {120, 0, 0})                      \
    X(fabs, "fabs(a)", 1, fabsl(x), exact, exact, false, ANY)                                              \
    X(abs, "abs(a)", 1, fabsl(x), exact, exact, false, ANY)                                                \
    X(fdim, "fdim(a, b)", 2, fdim_of(c->type, x, y), rounded, rounded, true, ANY)                          \
    X(floor, "floor(a)", 1, floorl(x), rounded, rounded, false, ANY)                                       \
    X(fma, "fma(a, b, c)", 3, fma_of(x, y, z), rounded, rounded, true, ANY)                                \
    X(fmax, "fmax(a, b)", 2, fmaxl(x, y), exact, exact, false, ANY)                                        \
    X(fmax3, "fmax3(a, b, c)", 3, fmaxl(fmaxl(x, y), z), exact, exact, true, ANY)                          \
    X(fmedian3, "fmedian3(a, b, c)", 3, middle(x, y, z), exact, exact, true, ANY)                          \
    X(fmin, "fmin(a, b)", 2, fminl(x, y), exact, exact, false, ANY)                                        \
    X(fmin3, "fmin3(a, b, c)", 3, fminl(fminl(x, y), z), exact, exact, true, ANY)                          \
    X(fmod, "fmod(a, b)", 2, fmodl(x, y), exact, undefined, false, ANY)                                    \
    X(fract, "fract(a)", 1, fract_of(c->type, x), fract_limit, fract_limit, false, ANY)                    \
    X(frexp_fraction, "frexp_fraction(a)", 1, frexp_part(x, false), exact, exact, true, ANY)               \
    X(frexp_exponent, "frexp_exponent(a)", 1, frexp_part(x, true), exact, exact, true, POSITIVE)           \
    X(ilogb, "ilogb(a)", 1, (long double)ilogbl(x), exact, exact, true, POSITIVE)                          \
    X(ldexp, "ldexp_by(a, b)", 2, ldexpl(x, (int)y), rounded, rounded, true, {-1e4, -12, 0}, {1e4, 12, 0}) \
    X(log, "log(a)", 1, logl(x), ulp4, fast_log, false, POSITIVE)                                          \
    X(log10, "log10(a)", 1, log10l(x), ulp4, fast_log10, false, POSITIVE)                                  \
    X(log2, "log2(a)", 1, log2l(x), ulp4, fast_log2, false, POSITIVE)                                      \
    X(max, "max(a, b)", 2, fmaxl(x, y), exact, exact, true, ANY)                                           \
    X(max3, "max3(a, b, c)", 3, fmaxl(fmaxl(x, y), z), exact, exact, true, ANY)                            \
    X(median3, "median3(a, b, c)", 3, middle(x, y, z), exact, exact, true, ANY)                            \
    X(min, "min(a, b)", 2, fminl(x, y), exact, exact, true, ANY)                                           \
    X(min3, "min3(a, b, c)", 3, fminl(fminl(x, y), z), exact, exact, true, ANY)                            \
    X(modf_fraction, "modf_fraction(a)", 1, x - modf_whole(x), exact, exact, true, ANY)                    \
    X(modf_whole, "modf_whole(a)", 1, modf_whole(x), exact, exact, true, ANY)                              \
    X(nextafter, "nextafter(a, b)", 2, next_after(c->type, x, y), exact, exact, false, ANY)                \
    X(pow, "pow(a, b)", 2, powl(x, y), ulp16, fast_pow, false, {1e-2, -8, 0}, {100, 8, 0})                 \
    X(powr, "powr(a, b)", 2, powl(x, y), ulp16, fast_pow, true, {1e-2, -8, 0}, {100, 8, 0})                \
    X(rint, "rint(a)", 1, rintl(x), rounded, rounded, false, ANY)                                          \
    X(round, "round(a)", 1, roundl(x), rounded, rounded, false, ANY)                                       \
    X(rsqrt, "rsqrt(a)", 1, 1 / sqrtl(x), rounded, ulp2, false, POSITIVE)                                  \
    X(sin, "sin(a)", 1, sinl(x), ulp4, fast_sin, false, TURN)                                              \
    X(sincos_sin, "sincos_sin(a)", 1, sinl(x), ulp4, fast_sin, false, TURN)                                \
    X(sincos_cos, "sincos_cos(a)", 1, cosl(x), ulp4, fast_sin, false, TURN)                                \
    X(sinh, "sinh(a)", 1, sinhl(x), ulp4, fast_cosh, false, SMALL)                                         \
    X(sinpi, "sinpi(a)", 1, sinpi_of(x), ulp4, fast_sin, false, UNIT)                                      \
    X(sqrt, "sqrt(a)", 1, sqrtl(x), rounded, ulp4, false, POSITIVE)                                        \
    X(tan, "tan(a)", 1, tanl(x), ulp6, fast_tan, false, TURN)                                              \
    X(tanh, "tanh(a)", 1, tanhl(x), ulp5, fast_tanh, false, {-20, 0, 0}, {20, 0, 0})                       \
    X(tanpi, "tanpi(a)", 1, tanpi_of(x), tanpi_limit, fast_tanpi, false, UNIT)                             \
    X(trunc, "trunc(a)", 1, truncl(x), rounded, rounded, false, ANY)

#define REFERENCE(name, msl, arity, value, safe, fast, finite, ...)                                \
    static long double reference_##name(const function_context *c, const long double *arguments) { \
        long double x = arguments[0], y = arguments[1], z = arguments[2];                          \
        (void)x, (void)y, (void)z, (void)c;                                                        \
        return value;                                                                              \
    }
MATH_LIST(REFERENCE)
#undef REFERENCE

#define ENTRY(name, msl, arity, value, safe, fast, finite, ...) \
    {#name, msl, arity, reference_##name, safe, fast, BOUNDS(__VA_ARGS__), finite},
#define BOUNDS(...) __VA_ARGS__
static const function_test tests[] = {MATH_LIST(ENTRY)};

static const char helpers[] =
    "template <class V> V frexp_fraction(V x) { int e; return frexp(x, e); }\n"
    "template <class V> V frexp_exponent(V x) { int e; frexp(x, e); return V(e); }\n"
    "template <class V> V modf_fraction(V x) { V w; return modf(x, w); }\n"
    "template <class V> V modf_whole(V x) { V w; modf(x, w); return w; }\n"
    "template <class V> V sincos_sin(V x) { V c; return sincos(x, c); }\n"
    "template <class V> V sincos_cos(V x) { V c; sincos(x, c); return c; }\n"
    "template <class V> V ldexp_by(V x, V k) { return ldexp(x, int(k)); }\n"
    "template <class E> vec<E, 4> frexp_fraction(vec<E, 4> x) { int4 e; return frexp(x, e); }\n"
    "template <class E> vec<E, 4> frexp_exponent(vec<E, 4> x) { int4 e; frexp(x, e); return vec<E, 4>(e); }\n"
    "template <class E> vec<E, 4> ldexp_by(vec<E, 4> x, vec<E, 4> k) { return ldexp(x, int4(k)); }\n";

const function_family math_functions = {"math functions", helpers, tests, sizeof tests / sizeof *tests};
