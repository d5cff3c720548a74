// SPDX-License-Identifier: Apache-2.0
// Integer functions, every type, against 128-bit arithmetic.
#include <math.h>

#include "../conformance/values.h"
#include "test-functions.h"

static double exact(const function_context *c, const long double *x, long double wanted) {
    return 0;
}

static int width_of(const function_context *c) {
    return (int)ig_type_size(c->type) * 8;
}
static bool is_signed(const function_context *c) {
    return c->type == IG_TYPE_I8 || c->type == IG_TYPE_I16 || c->type == IG_TYPE_I32 || c->type == IG_TYPE_I64;
}
static __int128 lowest(const function_context *c) {
    return is_signed(c) ? -((__int128)1 << (width_of(c) - 1)) : 0;
}
static __int128 highest(const function_context *c) {
    return ((__int128)1 << (width_of(c) - is_signed(c))) - 1;
}
// The bits, without a sign.
static unsigned __int128 bits(const function_context *c, __int128 v) {
    return (unsigned __int128)v & (((unsigned __int128)1 << width_of(c)) - 1);
}
static __int128 saturated(const function_context *c, __int128 v) {
    return v < lowest(c) ? lowest(c) : v > highest(c) ? highest(c) : v;
}
static __int128 wrapped(const function_context *c, unsigned __int128 v) {
    unsigned __int128 low = bits(c, (__int128)v);
    return is_signed(c) && low >> (width_of(c) - 1) ? (__int128)low - ((__int128)1 << width_of(c)) : (__int128)low;
}
static int leading_zeros(const function_context *c, __int128 v) {
    int n = 0;
    for (int k = width_of(c) - 1; k >= 0 && !(bits(c, v) >> k & 1); k--) n++;
    return n;
}
static int trailing_zeros(const function_context *c, __int128 v) {
    int n = 0;
    for (; n < width_of(c) && !(bits(c, v) >> n & 1); n++) {
    }
    return n;
}
static int ones(const function_context *c, __int128 v) {
    int n = 0;
    for (int k = 0; k < width_of(c); k++) n += bits(c, v) >> k & 1;
    return n;
}
static __int128 reversed(const function_context *c, __int128 v) {
    unsigned __int128 r = 0;
    for (int k = 0; k < width_of(c); k++) r |= (bits(c, v) >> k & 1) << (width_of(c) - 1 - k);
    return wrapped(c, r);
}
static __int128 rotated(const function_context *c, __int128 v, __int128 by) {
    int n = (int)(bits(c, by) % (unsigned)width_of(c));
    return wrapped(c, bits(c, v) << n | bits(c, v) >> (width_of(c) - n));
}
static __int128 smaller(__int128 a, __int128 b) {
    return a < b ? a : b;
}
static __int128 larger(__int128 a, __int128 b) {
    return a > b ? a : b;
}
// Towards minus infinity, as a shift of the product does.
static __int128 high_part(const function_context *c, __int128 x, __int128 y) {
    if (is_signed(c)) return (x * y) >> width_of(c);
    return (__int128)(((unsigned __int128)x * (unsigned __int128)y) >> width_of(c));
}
static unsigned __int128 magnitude(__int128 x) {
    return x < 0 ? -(unsigned __int128)x : (unsigned __int128)x;
}
// The product of two 64-bit factors may need all 128 bits. (libgcc has no __builtin_mul_overflow for these.)
static __int128 multiply_add_saturated(const function_context *c, __int128 x, __int128 y, __int128 z) {
    unsigned __int128 product = magnitude(x) * magnitude(y);
    bool negative = (x < 0) != (y < 0);
    if (product >> 126) return negative ? lowest(c) : highest(c);
    return saturated(c, (negative ? -(__int128)product : (__int128)product) + z);
}
static __int128 extracted(const function_context *c, __int128 v, int offset, int count) {
    if (!count) return 0;
    unsigned __int128 field = bits(c, v) >> offset & (((unsigned __int128)1 << count) - 1);
    bool negative = is_signed(c) && field >> (count - 1);
    return negative ? (__int128)field - ((__int128)1 << count) : (__int128)field;
}
static __int128 inserted(const function_context *c, __int128 base, __int128 v, int offset, int count) {
    unsigned __int128 mask = bits(c, (__int128)((((unsigned __int128)1 << count) - 1) << offset));
    return wrapped(c, (bits(c, base) & ~mask) | ((bits(c, v) << offset) & mask));
}
// The offset of the field that the MSL below extracts.
static int offset_of(const function_context *c, __int128 z) {
    return (int)(bits(c, z) % (unsigned)(width_of(c) / 2));
}
static int count_of(const function_context *c, __int128 z) {
    return (int)(bits(c, z) / 8 % (unsigned)(width_of(c) / 2 + 1));
}

#define INTEGER_LIST(X)                                                                               \
    X(abs, "abs(a)", 1, wrapped(c, (unsigned __int128)(x < 0 ? -x : x)))                              \
    X(absdiff, "absdiff(a, b)", 2, wrapped(c, (unsigned __int128)(x > y ? x - y : y - x)))            \
    X(addsat, "addsat(a, b)", 2, saturated(c, x + y))                                                 \
    X(clamp, "clamp(a, min(b, c), max(b, c))", 3, smaller(larger(x, smaller(y, z)), larger(y, z)))    \
    X(clz, "clz(a)", 1, leading_zeros(c, x))                                                          \
    X(ctz, "ctz(a)", 1, trailing_zeros(c, x))                                                         \
    X(extract_bits, "extract_bits(a, FIELD)", 3, extracted(c, x, offset_of(c, z), count_of(c, z)))    \
    X(hadd, "hadd(a, b)", 2, (x + y) >> 1)                                                            \
    X(insert_bits, "insert_bits(a, b, FIELD)", 3, inserted(c, x, y, offset_of(c, z), count_of(c, z))) \
    X(madhi, "madhi(a, b, c)", 3, wrapped(c, (unsigned __int128)(high_part(c, x, y) + z)))            \
    X(madsat, "madsat(a, b, c)", 3, multiply_add_saturated(c, x, y, z))                               \
    X(max, "max(a, b)", 2, larger(x, y))                                                              \
    X(max3, "max3(a, b, c)", 3, larger(larger(x, y), z))                                              \
    X(median3, "median3(a, b, c)", 3, larger(smaller(x, y), smaller(larger(x, y), z)))                \
    X(min, "min(a, b)", 2, smaller(x, y))                                                             \
    X(min3, "min3(a, b, c)", 3, smaller(smaller(x, y), z))                                            \
    X(mulhi, "mulhi(a, b)", 2, high_part(c, x, y))                                                    \
    X(popcount, "popcount(a)", 1, ones(c, x))                                                         \
    X(reverse_bits, "reverse_bits(a)", 1, reversed(c, x))                                             \
    X(rhadd, "rhadd(a, b)", 2, (x + y + 1) >> 1)                                                      \
    X(rotate, "rotate(a, b)", 2, rotated(c, x, y))                                                    \
    X(subsat, "subsat(a, b)", 2, saturated(c, x - y))                                                 \
    X(sum, "a + b", 2, wrapped(c, (unsigned __int128)(x + y)))                                        \
    X(product, "a * b", 2, wrapped(c, (unsigned __int128)x *(unsigned __int128)y))                    \
    X(quotient, "a / (b == T(0) ? T(1) : b)", 2, wrapped(c, (unsigned __int128)(x / (y ? y : 1))))    \
    X(remainder, "a % (b == T(0) ? T(1) : b)", 2, x % (y ? y : 1))

#define REFERENCE(name, msl, arity, value)                                                           \
    static long double reference_##name(const function_context *c, const long double *arguments) {   \
        __int128 x = (__int128)arguments[0], y = (__int128)arguments[1], z = (__int128)arguments[2]; \
        (void)x, (void)y, (void)z, (void)c;                                                          \
        return (long double)(value);                                                                 \
    }
INTEGER_LIST(REFERENCE)
#undef REFERENCE

#define ENTRY(name, msl, arity, value) \
    {#name, msl, arity, reference_##name, exact, exact, {-20, -20, -20}, {100, 100, 100}, false},
static const function_test tests[] = {INTEGER_LIST(ENTRY)};

static const char helpers[] =
    "template <class U> uint offset_of(U z) { return uint(make_unsigned_t<U>(z) % (sizeof(U) * 4)); }\n"
    "template <class U> uint count_of(U z) { return uint(make_unsigned_t<U>(z) / 8 % (sizeof(U) * 4 + 1)); }\n"
    "#define FIELD offset_of(c), count_of(c)\n";

const function_family integer_functions = {"integer functions", helpers, tests, sizeof tests / sizeof *tests};
