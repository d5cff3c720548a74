// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels.
#include "tensor/simd/isa/isa.h"
#include "tensor/simd/isa/loop.h"
#include "tensor/simd/isa/math.h"

// ---- Unary ----

#define UNARY_LIST(X)                                                                       \
    X(ABS, absolute(x))                                                                     \
    X(NEG, -x)                                                                              \
    X(SIGN, choose(x > splat(0), splat(1), choose(x < splat(0), splat(-1), x)))             \
    X(SQUARE, x *x)                                                                         \
    X(RELU, choose(x < splat(0), splat(0), x))                                              \
    X(FLOOR, floor_of(x))                                                                   \
    X(CEIL, ceil_of(x))                                                                     \
    X(ROUND, round_even(x))                                                                 \
    X(SQRT, square_root(x))                                                                 \
    X(RSQRT, 1 / square_root(x))                                                            \
    X(RECIPROCAL, 1 / x)                                                                    \
    X(EXP, exp_of(x))                                                                       \
    X(EXP2, exp2_of(x))                                                                     \
    X(EXPM1, expm1_of(x))                                                                   \
    X(LOG, log_of(x))                                                                       \
    X(LOG2, log2_of(x))                                                                     \
    X(LOG1P, log1p_of(x))                                                                   \
    X(SIN, sin_of(x))                                                                       \
    X(COS, cos_of(x))                                                                       \
    X(TAN, tan_of(x))                                                                       \
    X(ASIN, asin_of(x))                                                                     \
    X(ACOS, acos_of(x))                                                                     \
    X(ATAN, atan_of(x))                                                                     \
    X(SINH, sinh_of(x))                                                                     \
    X(COSH, cosh_of(x))                                                                     \
    X(TANH, tanh_of(x))                                                                     \
    X(ERF, erf_of(x))                                                                       \
    X(SIGMOID, sigmoid_of(x))                                                               \
    X(SOFTPLUS, softplus_of(x))                                                             \
    X(SILU, silu_of(x))                                                                     \
    X(GELU, gelu_of(x))                                                                     \
    X(GELU_TANH, gelu_tanh_of(x))                                                           \
    X(LEAKY_RELU, choose(x < splat(0), x * (float)p->elementwise.slope, x))                 \
    X(CLAMP, choose(x < splat((float)p->elementwise.low), splat((float)p->elementwise.low), \
                    choose(x > splat((float)p->elementwise.high), splat((float)p->elementwise.high), x)))

#define TEST_LIST(X)               \
    X(LOGICAL_NOT, x == 0)         \
    X(ISNAN, x != x)               \
    X(ISINF, fabsf(x) == INFINITY) \
    X(ISFINITE, fabsf(x) < INFINITY)

#define DEFINE_UNARY(id, expression)                                                                       \
    INLINE vf unary_##id(vf x, const igi_tensor_parameters *p) {                                           \
        (void)p;                                                                                           \
        return expression;                                                                                 \
    }                                                                                                      \
    static void NAME(f32_##id)(uint64_t count, const float *a, float *out, const igi_tensor_parameters *p, \
                               bool stream) {                                                              \
        VECTOR_LOOP(unary_##id(load(a + at), p), unary_##id(load_part(a + at, left, 1), p));               \
    }
UNARY_LIST(DEFINE_UNARY)

// The backend has a row for every op of the public list: this does not compile if one has no expression above.
#define HAS(id, expression) HAS_##id,
enum { UNARY_LIST(HAS) TEST_LIST(HAS) UNARY_FORMS };
#define NEED(id, name, type) +(HAS_##id < UNARY_FORMS)
_Static_assert(IG_UNARY_LIST(NEED), "every unary op has a form");

static void NAME(f32_copy)(uint64_t count, const float *a, float *out, bool stream) {
    VECTOR_LOOP(load(a + at), load_part(a + at, left, 0));
}

// ---- Binary ----

INLINE vf floor_mod_each(vf a, vf b) {
    for (int i = 0; i < LANES; i++) {
        float rest = fmodf(a[i], b[i]);
        if (rest != 0 && (rest < 0) != (b[i] < 0)) rest += b[i];
        a[i] = rest == 0 ? copysignf(0, b[i]) : rest;
    }
    return a;
}

INLINE vf floor_mod(vf a, vf b) {
#if defined(FUSES_MULTIPLY_ADD)
    // For a small quotient, which may be one too large, the remainder is exact.
    vf quotient = floor_of(a / b), rest = a - quotient * b;
    rest = choose((rest < splat(0)) & (b > splat(0)), rest + b, rest);
    rest = choose((rest > splat(0)) & (b < splat(0)), rest + b, rest);
    vi simple = (absolute(quotient) < splat(0x1p22F)) & (absolute(b) < splat(INFINITY));
    if (!any(~simple)) return choose(rest == splat(0), with_sign(splat(0), b), rest);
#endif
    return floor_mod_each(a, b);
}

#define BINARY_LIST(X)                            \
    X(ADD, a + b)                                 \
    X(SUB, a - b)                                 \
    X(MUL, a *b)                                  \
    X(DIV, a / b)                                 \
    X(POW, pow_of(a, b))                          \
    X(MAXIMUM, choose((a > b) | is_nan(a), a, b)) \
    X(MINIMUM, choose((a < b) | is_nan(a), a, b)) \
    X(MOD, floor_mod(a, b))                       \
    X(ATAN2, atan2_of(a, b))                      \
    X(SILU_MUL, silu_of(a) * b)

#define DEFINE_BINARY(id, expression)                                                                      \
    INLINE vf binary_##id(vf a, vf b) {                                                                    \
        return expression;                                                                                 \
    }                                                                                                      \
    static void NAME(f32_##id)(uint64_t count, igi_simd_pair in, float *out, bool stream) {                \
        const float *a = in.a, *b = in.b;                                                                  \
        vf all_a = splat(*a), all_b = splat(*b);                                                           \
        if (in.b_repeats)                                                                                  \
            VECTOR_LOOP(binary_##id(load(a + at), all_b), binary_##id(load_part(a + at, left, 1), all_b)); \
        else if (in.a_repeats)                                                                             \
            VECTOR_LOOP(binary_##id(all_a, load(b + at)), binary_##id(all_a, load_part(b + at, left, 1))); \
        else                                                                                               \
            VECTOR_LOOP(binary_##id(load(a + at), load(b + at)),                                           \
                        binary_##id(load_part(a + at, left, 1), load_part(b + at, left, 1)));              \
    }
BINARY_LIST(DEFINE_BINARY)

// ---- Tests: plain loops, which the compiler vectorises ----

#define DEFINE_TEST(id, expression)                                            \
    static void NAME(f32_##id)(uint64_t count, const float *a, uint8_t *out) { \
        for (uint64_t i = 0; i < count; i++) {                                 \
            float x = a[i];                                                    \
            out[i] = (uint8_t)(expression);                                    \
        }                                                                      \
    }
TEST_LIST(DEFINE_TEST)

#define COMPARE_LIST(X)                 \
    X(EQUAL, x == y)                    \
    X(NOT_EQUAL, x != y)                \
    X(LESS, x < y)                      \
    X(LESS_EQUAL, x <= y)               \
    X(GREATER, x > y)                   \
    X(GREATER_EQUAL, x >= y)            \
    X(LOGICAL_AND, (x != 0) & (y != 0)) \
    X(LOGICAL_OR, (x != 0) | (y != 0))  \
    X(LOGICAL_XOR, (x != 0) ^ (y != 0))

#define COMPARE_LOOP(expression, of_a, of_b) \
    for (uint64_t i = 0; i < count; i++) {   \
        float x = of_a, y = of_b;            \
        out[i] = (uint8_t)(expression);      \
    }

#define DEFINE_COMPARE(id, expression)                                           \
    static void NAME(f32_##id)(uint64_t count, igi_simd_pair in, uint8_t *out) { \
        const float *a = in.a, *b = in.b, first_a = *a, first_b = *b;            \
        if (in.b_repeats) {                                                      \
            COMPARE_LOOP(expression, a[i], first_b)                              \
        } else if (in.a_repeats) {                                               \
            COMPARE_LOOP(expression, first_a, b[i])                              \
        } else {                                                                 \
            COMPARE_LOOP(expression, a[i], b[i])                                 \
        }                                                                        \
    }
COMPARE_LIST(DEFINE_COMPARE)

static void NAME(f32_where)(uint64_t count, const uint8_t *condition, igi_simd_pair in, float *out, bool stream) {
    (void)stream;
    uint64_t a_step = !in.a_repeats, b_step = !in.b_repeats;
    if (a_step && b_step) {
        for (uint64_t i = 0; i < count; i++) out[i] = condition[i] ? in.a[i] : in.b[i];
        return;
    }
    for (uint64_t i = 0; i < count; i++) out[i] = condition[i] ? in.a[i * a_step] : in.b[i * b_step];
}

// ---- Conversions ----

// The bits of a half times 2^112 are those of its value, except for infinities and NaN.
static void NAME(f16_to_f32)(uint64_t count, const uint16_t *from, float *to) {
    uint64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= count; i += 16)
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from + i))));
#elif defined(__F16C__)
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
#elif defined(NEON)
    for (; i + 4 <= count; i += 4) vst1q_f32(to + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from + i))));
#endif
    for (; i < count; i++) {
        uint32_t half = from[i], magnitude = (half & 0x7fff) << 13, bits;
        float scaled;
        memcpy(&scaled, &magnitude, sizeof scaled);
        scaled *= 0x1p112F;
        memcpy(&bits, &scaled, sizeof bits);
        if ((half & 0x7c00) == 0x7c00) bits |= 0x7f800000;
        bits |= (half & 0x8000) << 16;
        memcpy(&to[i], &bits, sizeof bits);
    }
}

// To nearest even: adding a number whose last place is that of the result rounds there.
static void NAME(f32_to_f16)(uint64_t count, const float *from, uint16_t *to) {
    uint64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= count; i += 16)
        _mm256_storeu_si256((__m256i *)(to + i), _mm512_cvtps_ph(_mm512_loadu_ps(from + i), 0));
#elif defined(__F16C__)
    for (; i + 8 <= count; i += 8) _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
#elif defined(NEON)
    for (; i + 4 <= count; i += 4) vst1_u16(to + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(from + i))));
#endif
    for (; i < count; i++) {
        uint32_t bits, sign, shifted;
        memcpy(&bits, &from[i], sizeof bits);
        sign = bits >> 16 & 0x8000;
        bits &= 0x7fffffff;
        float magnitude, small;
        memcpy(&magnitude, &bits, sizeof bits);
        small = magnitude + 0.5F;
        memcpy(&shifted, &small, sizeof shifted);
        uint32_t denormal = shifted - 0x3f000000, normal = (bits + 0xfff + (bits >> 13 & 1) - (112u << 23)) >> 13;
        uint32_t half = bits < 113u << 23 ? denormal : normal;
        if (bits >= 143u << 23 || normal > 0x7c00) half = bits < 113u << 23 ? half : 0x7c00;
        if (bits > 0x7f800000) half = 0x7e00;
        to[i] = (uint16_t)(half | sign);
    }
}

static void NAME(bf16_to_f32)(uint64_t count, const uint16_t *from, float *to) {
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)from[i] << 16;
        memcpy(&to[i], &bits, sizeof bits);
    }
}

static void NAME(f32_to_bf16)(uint64_t count, const float *from, uint16_t *to) {
    uint64_t i = 0;
#if defined(NEON) && defined(__ARM_FEATURE_BF16)
    for (; i + 4 <= count; i += 4) vst1_u16(to + i, vreinterpret_u16_bf16(vcvt_bf16_f32(vld1q_f32(from + i))));
#endif
    for (; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &from[i], sizeof bits);
        uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        to[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
    }
}

// ---- The table ----

void NAME(igi_simd_fill_elementwise)(igi_simd_kernels *table) {
#define ENTER_UNARY(id, expression) table->unary[IG_OP_##id] = NAME(f32_##id);
#define ENTER_BINARY(id, expression) table->binary[IG_OP_##id] = NAME(f32_##id);
#define ENTER_TEST(id, expression) table->unary_test[IG_OP_##id] = NAME(f32_##id);
#define ENTER_COMPARE(id, expression) table->compare[IG_OP_##id] = NAME(f32_##id);
    UNARY_LIST(ENTER_UNARY)
    BINARY_LIST(ENTER_BINARY)
    TEST_LIST(ENTER_TEST)
    COMPARE_LIST(ENTER_COMPARE)
    table->copy = NAME(f32_copy);
    table->where = NAME(f32_where);
    table->f16_to_f32 = NAME(f16_to_f32);
    table->f32_to_f16 = NAME(f32_to_f16);
    table->bf16_to_f32 = NAME(bf16_to_f32);
    table->f32_to_bf16 = NAME(f32_to_bf16);
}
