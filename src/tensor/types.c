// SPDX-License-Identifier: Apache-2.0
// Element types.
#include "tensor/types.h"

#include <assert.h>
#include <math.h>
#include <string.h>

ig_type igi_tensor_promote(ig_type a, ig_type b) {
    // The common type is the one of higher rank; small integers of different signs, and f16 with bf16, need a larger
    // type.
    static const uint8_t rank[IG_TYPE_COUNT] = {
        [IG_TYPE_BOOL] = 0, [IG_TYPE_U8] = 1,  [IG_TYPE_I8] = 1,   [IG_TYPE_I32] = 2,
        [IG_TYPE_I64] = 3,  [IG_TYPE_F16] = 4, [IG_TYPE_BF16] = 4, [IG_TYPE_F32] = 5,
    };
    assert(igi_tensor_type_in(a, IGI_ANY_TYPE) && igi_tensor_type_in(b, IGI_ANY_TYPE));
    if (a == b) return a;
    if (rank[a] != rank[b]) return rank[a] > rank[b] ? a : b;
    return igi_tensor_is_float(a) ? IG_TYPE_F32 : IG_TYPE_I32;
}

// ---- Halves ----

double igi_tensor_f16_to_double(uint16_t bits) {
    _Float16 half;
    memcpy(&half, &bits, sizeof half);
    return (double)half;
}

uint16_t igi_tensor_f16_from_double(double value) {
    _Float16 half = (_Float16)value;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}

double igi_tensor_bf16_to_double(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

// Through float, rounded to odd so that the second rounding is correct (Boldo and Melquiond, 2008).
static uint32_t float_bits_rounded_to_odd(double value) {
    float nearest = (float)value;
    uint32_t bits;
    memcpy(&bits, &nearest, sizeof bits);
    if ((double)nearest == value || isinf(value)) return bits;
    if (fabs((double)nearest) > fabs(value)) bits--;
    return bits | 1;
}

uint16_t igi_tensor_bf16_from_double(double value) {
    if (isnan(value)) return 0x7fc0;
    uint32_t bits = float_bits_rounded_to_odd(value);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double igi_tensor_next_below(ig_type type, double value) {
    if (type == IG_TYPE_F32) return nextafterf((float)value, -INFINITY);
    bool half = type == IG_TYPE_F16;
    uint16_t bits = half ? igi_tensor_f16_from_double(value) : igi_tensor_bf16_from_double(value);
    if (value > 0)
        bits--;
    else
        bits = value == 0 ? 0x8001 : (uint16_t)(bits + 1);
    return half ? igi_tensor_f16_to_double(bits) : igi_tensor_bf16_to_double(bits);
}

// ---- Conversions ----

static int64_t saturated(double value, double low, double high) {
    if (isnan(value)) return 0;
    if (value <= low) return (int64_t)low;
    if (value >= high) return high >= 0x1p63 ? INT64_MAX : (int64_t)high;
    return (int64_t)value;
}

#define AS_IS(x) ((double)(x))
#define TO_BOOL(x) ((x) != 0)
#define TO_I8(x) ((int8_t)saturated(x, INT8_MIN, INT8_MAX))
#define TO_U8(x) ((uint8_t)saturated(x, 0, UINT8_MAX))
#define TO_I32(x) ((int32_t)saturated(x, INT32_MIN, INT32_MAX))
#define TO_I64(x) saturated(x, -0x1p63, 0x1p63)
#define TO_F32(x) ((float)(x))
#define WRAP(x) (x)
#define I64_OF(x) saturated((double)(x), -0x1p63, 0x1p63)
#define I64_OF_F16(x) I64_OF(igi_tensor_f16_to_double(x))
#define I64_OF_BF16(x) I64_OF(igi_tensor_bf16_to_double(x))
#define F16_OF(x) igi_tensor_f16_from_double((double)(x))
#define BF16_OF(x) igi_tensor_bf16_from_double((double)(x))
#define NOT_ZERO(x) ((x) != 0)

// type, C type, to double, from double, to int64_t, from int64_t
#define CONVERSIONS(X)                                                                              \
    X(BOOL, uint8_t, NOT_ZERO, TO_BOOL, NOT_ZERO, NOT_ZERO)                                         \
    X(I8, int8_t, AS_IS, TO_I8, WRAP, WRAP)                                                         \
    X(U8, uint8_t, AS_IS, TO_U8, WRAP, WRAP)                                                        \
    X(I32, int32_t, AS_IS, TO_I32, WRAP, WRAP)                                                      \
    X(I64, int64_t, AS_IS, TO_I64, WRAP, WRAP)                                                      \
    X(F16, uint16_t, igi_tensor_f16_to_double, igi_tensor_f16_from_double, I64_OF_F16, F16_OF)      \
    X(BF16, uint16_t, igi_tensor_bf16_to_double, igi_tensor_bf16_from_double, I64_OF_BF16, BF16_OF) \
    X(F32, float, AS_IS, TO_F32, I64_OF, TO_F32)

#define DEFINE(type, c_type, to_double, from_double, to_integer, from_integer)                                   \
    static void type##_to_doubles(const char *from, int64_t stride, uint64_t count, double *to) {                \
        for (uint64_t i = 0; i < count; i++, from += stride) to[i] = to_double(*(const c_type *)from);           \
    }                                                                                                            \
    static void type##_from_doubles(const double *from, int64_t stride, uint64_t count, char *to) {              \
        for (uint64_t i = 0; i < count; i++, to += stride) *(c_type *)to = (c_type)from_double(from[i]);         \
    }                                                                                                            \
    static void type##_to_integers(const char *from, int64_t stride, uint64_t count, int64_t *to) {              \
        for (uint64_t i = 0; i < count; i++, from += stride) to[i] = (int64_t)to_integer(*(const c_type *)from); \
    }                                                                                                            \
    static void type##_from_integers(const int64_t *from, int64_t stride, uint64_t count, char *to) {            \
        for (uint64_t i = 0; i < count; i++, to += stride) *(c_type *)to = (c_type)from_integer(from[i]);        \
    }
CONVERSIONS(DEFINE)

static const struct {
    void (*to_doubles)(const char *from, int64_t stride, uint64_t count, double *to);
    void (*from_doubles)(const double *from, int64_t stride, uint64_t count, char *to);
    void (*to_integers)(const char *from, int64_t stride, uint64_t count, int64_t *to);
    void (*from_integers)(const int64_t *from, int64_t stride, uint64_t count, char *to);
} conversions[IG_TYPE_COUNT] = {
#define ROW(type, ...) \
    [IG_TYPE_##type] = {type##_to_doubles, type##_from_doubles, type##_to_integers, type##_from_integers},
    CONVERSIONS(ROW)
#undef ROW
};

void igi_tensor_load_doubles(ig_type type, const char *elements, int64_t stride, uint64_t count, double *values) {
    conversions[type].to_doubles(elements, stride, count, values);
}

void igi_tensor_store_doubles(ig_type type, char *elements, int64_t stride, uint64_t count, const double *values) {
    conversions[type].from_doubles(values, stride, count, elements);
}

void igi_tensor_load_integers(ig_type type, const char *elements, int64_t stride, uint64_t count, int64_t *values) {
    conversions[type].to_integers(elements, stride, count, values);
}

void igi_tensor_store_integers(ig_type type, char *elements, int64_t stride, uint64_t count, const int64_t *values) {
    conversions[type].from_integers(values, stride, count, elements);
}

bool igi_tensor_is_whole(double value) {
    return value == rint(value) && fabs(value) < 0x1p63;
}
