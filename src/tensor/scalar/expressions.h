// SPDX-License-Identifier: Apache-2.0
// What each elementwise op computes, in double and in int64_t. a, b: operands; p: parameters.
#ifndef INGOT_TENSOR_SCALAR_EXPRESSIONS_H
#define INGOT_TENSOR_SCALAR_EXPRESSIONS_H

#include <math.h>
#include <stdint.h>

static inline double igi_tensor_sigmoid(double a) {
    double e = exp(-fabs(a));
    return a >= 0 ? 1 / (1 + e) : e / (1 + e);
}
// A product with a factor that vanishes faster than the other grows.
static inline double igi_tensor_times_vanishing(double a, double factor) {
    return a == -INFINITY ? 0 : a * factor;
}
static inline double igi_tensor_gelu_tanh(double a) {
    double inner = 0.7978845608028654 * (a + 0.044715 * a * a * a);  // sqrt(2 / pi)
    return igi_tensor_times_vanishing(a, igi_tensor_sigmoid(2 * inner));
}
static inline double igi_tensor_floor_mod(double a, double b) {
    double rest = fmod(a, b);
    if (rest != 0 && (rest < 0) != (b < 0)) return rest + b;
    return rest == 0 ? copysign(0, b) : rest;
}
// As in Python: the quotient that belongs to floor_mod.
static inline double igi_tensor_floor_div(double a, double b) {
    if (b == 0) return a / b;
    double quotient = (a - igi_tensor_floor_mod(a, b)) / b, below = floor(quotient);
    if (quotient == 0) return copysign(0, a / b);
    return quotient - below > 0.5 ? below + 1 : below;
}

static inline int64_t igi_tensor_wrap(uint64_t value) {
    return (int64_t)value;
}
static inline int64_t igi_tensor_int_mod(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static inline int64_t igi_tensor_int_floor_div(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return igi_tensor_wrap(0 - (uint64_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t igi_tensor_int_pow(int64_t base, int64_t exponent) {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    uint64_t result = 1, square = (uint64_t)base;
    for (; exponent; exponent >>= 1, square *= square)
        if (exponent & 1) result *= square;
    return igi_tensor_wrap(result);
}
static inline int64_t igi_tensor_int_bound(double bound) {
    return bound <= -0x1p63 ? INT64_MIN : bound >= 0x1p63 ? INT64_MAX : (int64_t)bound;
}
static inline int64_t igi_tensor_int_clamp(int64_t a, double low, double high) {
    int64_t least = igi_tensor_int_bound(ceil(low)), most = igi_tensor_int_bound(floor(high));
    return a < least ? least : a > most ? most : a;
}

// Ulps: how much an implementation that computes in float may differ from the expression, in units of the last place of
// the result. gelu_tanh: far below zero, e^x magnifies the rounding of its argument.
#define IGI_DOUBLE_EXPRESSIONS(X)                                                                             \
    X(ABS, 1, fabs(a))                                                                                        \
    X(NEG, 1, -a)                                                                                             \
    X(SIGN, 1, a > 0 ? 1 : a < 0 ? -1 : a)                                                                    \
    X(SQUARE, 1, a *a)                                                                                        \
    X(RELU, 1, a < 0 ? 0 : a)                                                                                 \
    X(FLOOR, 1, floor(a))                                                                                     \
    X(CEIL, 1, ceil(a))                                                                                       \
    X(ROUND, 1, rint(a))                                                                                      \
    X(SQRT, 1, sqrt(a))                                                                                       \
    X(RSQRT, 4, 1 / sqrt(a))                                                                                  \
    X(RECIPROCAL, 1, 1 / a)                                                                                   \
    X(EXP, 4, exp(a))                                                                                         \
    X(EXP2, 4, exp2(a))                                                                                       \
    X(EXPM1, 4, expm1(a))                                                                                     \
    X(LOG, 4, log(a))                                                                                         \
    X(LOG2, 4, log2(a))                                                                                       \
    X(LOG1P, 4, log1p(a))                                                                                     \
    X(SIN, 6, sin(a))                                                                                         \
    X(COS, 6, cos(a))                                                                                         \
    X(TAN, 16, tan(a))                                                                                        \
    X(ASIN, 6, asin(a))                                                                                       \
    X(ACOS, 6, acos(a))                                                                                       \
    X(ATAN, 4, atan(a))                                                                                       \
    X(SINH, 6, sinh(a))                                                                                       \
    X(COSH, 6, cosh(a))                                                                                       \
    X(TANH, 6, tanh(a))                                                                                       \
    X(ERF, 4, erf(a))                                                                                         \
    X(SIGMOID, 4, igi_tensor_sigmoid(a))                                                                      \
    X(SOFTPLUS, 6, a > 0 ? a + log1p(exp(-a)) : log1p(exp(a)))                                                \
    X(SILU, 6, igi_tensor_times_vanishing(a, igi_tensor_sigmoid(a)))                                          \
    X(GELU, 16, igi_tensor_times_vanishing(a, 0.5 * erfc(a * -M_SQRT1_2)))                                    \
    X(GELU_TANH, 256, igi_tensor_gelu_tanh(a))                                                                \
    X(LOGICAL_NOT, 1, a == 0)                                                                                 \
    X(ISNAN, 1, isnan(a) != 0)                                                                                \
    X(ISINF, 1, isinf(a) != 0)                                                                                \
    X(ISFINITE, 1, isfinite(a) != 0)                                                                          \
    X(LEAKY_RELU, 1, a < 0 ? p->elementwise.slope * a : a)                                                    \
    X(CLAMP, 1, a<p->elementwise.low ? p->elementwise.low : a> p->elementwise.high ? p->elementwise.high : a) \
    X(ADD, 1, a + b)                                                                                          \
    X(SUB, 1, a - b)                                                                                          \
    X(MUL, 1, a *b)                                                                                           \
    X(DIV, 1, a / b)                                                                                          \
    X(POW, 16, pow(a, b))                                                                                     \
    X(MAXIMUM, 1, isnan(a) || a > b ? a : b)                                                                  \
    X(MINIMUM, 1, isnan(a) || a < b ? a : b)                                                                  \
    X(FLOOR_DIV, 1, igi_tensor_floor_div(a, b))                                                               \
    X(MOD, 1, igi_tensor_floor_mod(a, b))                                                                     \
    X(ATAN2, 4, atan2(a, b))                                                                                  \
    X(SILU_MUL, 6, igi_tensor_times_vanishing(a, igi_tensor_sigmoid(a)) * b)                                  \
    X(EQUAL, 1, a == b)                                                                                       \
    X(NOT_EQUAL, 1, a != b)                                                                                   \
    X(LESS, 1, a < b)                                                                                         \
    X(LESS_EQUAL, 1, a <= b)                                                                                  \
    X(GREATER, 1, a > b)                                                                                      \
    X(GREATER_EQUAL, 1, a >= b)                                                                               \
    X(LOGICAL_AND, 1, a != 0 && b != 0)                                                                       \
    X(LOGICAL_OR, 1, a != 0 || b != 0)                                                                        \
    X(LOGICAL_XOR, 1, (a != 0) != (b != 0))

// Ops of integers that return integers or bool; all others see only floats.
#define IGI_INTEGER_EXPRESSIONS(X)                                             \
    X(ABS, a < 0 ? igi_tensor_wrap(0 - (uint64_t)a) : a)                       \
    X(NEG, igi_tensor_wrap(0 - (uint64_t)a))                                   \
    X(SIGN, (a > 0) - (a < 0))                                                 \
    X(SQUARE, igi_tensor_wrap((uint64_t)a *(uint64_t)a))                       \
    X(RELU, a < 0 ? 0 : a)                                                     \
    X(FLOOR, a)                                                                \
    X(CEIL, a)                                                                 \
    X(ROUND, a)                                                                \
    X(LOGICAL_NOT, a == 0)                                                     \
    X(ISNAN, a && 0)                                                           \
    X(ISINF, a && 0)                                                           \
    X(ISFINITE, a || 1)                                                        \
    X(CLAMP, igi_tensor_int_clamp(a, p->elementwise.low, p->elementwise.high)) \
    X(ADD, igi_tensor_wrap((uint64_t)a + (uint64_t)b))                         \
    X(SUB, igi_tensor_wrap((uint64_t)a - (uint64_t)b))                         \
    X(MUL, igi_tensor_wrap((uint64_t)a *(uint64_t)b))                          \
    X(POW, igi_tensor_int_pow(a, b))                                           \
    X(MAXIMUM, a > b ? a : b)                                                  \
    X(MINIMUM, a < b ? a : b)                                                  \
    X(FLOOR_DIV, igi_tensor_int_floor_div(a, b))                               \
    X(MOD, igi_tensor_int_mod(a, b))                                           \
    X(EQUAL, a == b)                                                           \
    X(NOT_EQUAL, a != b)                                                       \
    X(LESS, a < b)                                                             \
    X(LESS_EQUAL, a <= b)                                                      \
    X(GREATER, a > b)                                                          \
    X(GREATER_EQUAL, a >= b)                                                   \
    X(LOGICAL_AND, a != 0 && b != 0)                                           \
    X(LOGICAL_OR, a != 0 || b != 0)                                            \
    X(LOGICAL_XOR, (a != 0) != (b != 0))

#endif
