// SPDX-License-Identifier: Apache-2.0
// Integers, and conversions between packed elements: plain loops, which the compiler vectorises.
#include <math.h>

#include "tensor/simd/isa/isa.h"

// ---- Binary ----

// type, C type, unsigned C type
#define INTEGER_TYPES(X, ...)              \
    X(I8, int8_t, uint8_t, __VA_ARGS__)    \
    X(U8, uint8_t, uint8_t, __VA_ARGS__)   \
    X(I32, int32_t, uint32_t, __VA_ARGS__) \
    X(I64, int64_t, uint64_t, __VA_ARGS__)

// op, expression of x and y (as unsigned u and v), type of the result: the SAME, or bool from a TEST
#define INTEGER_OPS(X)              \
    X(ADD, u + v, SAME)             \
    X(SUB, u - v, SAME)             \
    X(MUL, u *v, SAME)              \
    X(MAXIMUM, x > y ? x : y, SAME) \
    X(MINIMUM, x < y ? x : y, SAME) \
    X(EQUAL, x == y, TEST)          \
    X(NOT_EQUAL, x != y, TEST)      \
    X(LESS, x < y, TEST)            \
    X(LESS_EQUAL, x <= y, TEST)     \
    X(GREATER, x > y, TEST)         \
    X(GREATER_EQUAL, x >= y, TEST)

#define LOOP(c_type, unsigned_type, result_type, at_a, at_b, expression) \
    for (uint64_t i = 0; i < count; i++) {                               \
        c_type x = (at_a), y = (at_b);                                   \
        unsigned_type u = (unsigned_type)x, v = (unsigned_type)y;        \
        (void)u, (void)v;                                                \
        ((result_type *)out)[i] = (result_type)(expression);             \
    }

#define DEFINE_FOR_RESULT(type, c_type, unsigned_type, result_type, id, expression)                             \
    static void NAME(type##_##id)(uint64_t count, const void *a, bool a_repeats, const void *b, bool b_repeats, \
                                  void *out) {                                                                  \
        const c_type *as = a, *bs = b;                                                                          \
        if (b_repeats) {                                                                                        \
            c_type all = *bs;                                                                                   \
            LOOP(c_type, unsigned_type, result_type, as[i], all, expression)                                    \
        } else if (a_repeats) {                                                                                 \
            c_type all = *as;                                                                                   \
            LOOP(c_type, unsigned_type, result_type, all, bs[i], expression)                                    \
        } else {                                                                                                \
            LOOP(c_type, unsigned_type, result_type, as[i], bs[i], expression)                                  \
        }                                                                                                       \
    }
#define RESULT_TEST(c_type) uint8_t
#define RESULT_SAME(c_type) c_type
#define DEFINE_ONE(type, c_type, unsigned_type, id, expression, tests) \
    DEFINE_FOR_RESULT(type, c_type, unsigned_type, RESULT_##tests(c_type), id, expression)
#define DEFINE_OP(id, expression, tests) INTEGER_TYPES(DEFINE_ONE, id, expression, tests)
INTEGER_OPS(DEFINE_OP)

// ---- Conversions ----

static inline int64_t saturated(float x, float low, float high, int64_t least, int64_t most) {
    return x != x ? 0 : x <= low ? least : x >= high ? most : (int64_t)x;
}

#define TO_BOOL(x) ((x) != 0)
#define TO_SAME(x) (x)
#define FLOAT_TO_I8(x) saturated(x, -128, 127, INT8_MIN, INT8_MAX)
#define FLOAT_TO_U8(x) saturated(x, 0, 255, 0, UINT8_MAX)
#define FLOAT_TO_I32(x) saturated(x, -0x1p31F, 0x1p31F, INT32_MIN, INT32_MAX)
#define FLOAT_TO_I64(x) saturated(x, -0x1p63F, 0x1p63F, INT64_MIN, INT64_MAX)

// from, C type, to, C type, how
#define CASTS_FROM_INTEGER(X, from, c_from) \
    X(from, c_from, BOOL, uint8_t, TO_BOOL) \
    X(from, c_from, I8, int8_t, TO_SAME)    \
    X(from, c_from, U8, uint8_t, TO_SAME)   \
    X(from, c_from, I32, int32_t, TO_SAME)  \
    X(from, c_from, I64, int64_t, TO_SAME)  \
    X(from, c_from, F32, float, TO_SAME)
#define CASTS(X)                              \
    CASTS_FROM_INTEGER(X, BOOL, uint8_t)      \
    CASTS_FROM_INTEGER(X, I8, int8_t)         \
    CASTS_FROM_INTEGER(X, U8, uint8_t)        \
    CASTS_FROM_INTEGER(X, I32, int32_t)       \
    CASTS_FROM_INTEGER(X, I64, int64_t)       \
    X(F32, float, BOOL, uint8_t, TO_BOOL)     \
    X(F32, float, I8, int8_t, FLOAT_TO_I8)    \
    X(F32, float, U8, uint8_t, FLOAT_TO_U8)   \
    X(F32, float, I32, int32_t, FLOAT_TO_I32) \
    X(F32, float, I64, int64_t, FLOAT_TO_I64)

#define DEFINE_CAST(from, c_from, to, c_to, how)                                         \
    static void NAME(from##_to_##to)(uint64_t count, const void *source, void *target) { \
        const c_from *s = source;                                                        \
        c_to *t = target;                                                                \
        for (uint64_t i = 0; i < count; i++) t[i] = (c_to)how(s[i]);                     \
    }
CASTS(DEFINE_CAST)

void NAME(igi_simd_fill_integers)(igi_simd_kernels *table) {
#define ENTER_ONE(type, c_type, unsigned_type, id) \
    table->integer_binary[IG_OP_##id][IG_TYPE_##type] = NAME(type##_##id);
#define ENTER_OP(id, expression, tests) INTEGER_TYPES(ENTER_ONE, id)
#define ENTER_CAST(from, c_from, to, c_to, how) table->cast[IG_TYPE_##from][IG_TYPE_##to] = NAME(from##_to_##to);
    INTEGER_OPS(ENTER_OP)
    CASTS(ENTER_CAST)
}
