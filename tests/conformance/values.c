// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <math.h>
#include <string.h>

typedef struct format {
    int digits;            // of the significand, the leading one included
    int lowest;            // exponent of the smallest denormal
    int highest;           // the largest value is just below 2^highest
    int significand_bits;  // stored
} format;

static format format_of(ig_type type) {
    switch (type) {
        case IG_TYPE_F16: return (format){11, -24, 16, 10};
        case IG_TYPE_BF16: return (format){8, -133, 128, 7};
        default: return (format){24, -149, 128, 23};
    }
}

bool value_is_float(ig_type type) {
    return type == IG_TYPE_F16 || type == IG_TYPE_BF16 || type == IG_TYPE_F32;
}

bool value_type(const char *name, ig_type *type) {
    for (int t = 0; t < IG_TYPE_COUNT; t++) {
        if (strcmp(ig_type_name((ig_type)t), name) != 0) continue;
        *type = (ig_type)t;
        return true;
    }
    return false;
}

static int quantum(format f, long double value) {
    int exponent;
    frexpl(value, &exponent);
    return exponent - f.digits < f.lowest ? f.lowest : exponent - f.digits;
}

long double value_ulp(ig_type type, long double value) {
    format f = format_of(type);
    if (value == 0 || !isfinite(value)) return ldexpl(1, f.lowest);
    if (fabsl(value) >= ldexpl(1, f.highest)) value = ldexpl(0.75L, f.highest);
    return ldexpl(1, quantum(f, value));
}

static long double round_float(format f, long double value) {
    if (value == 0 || !isfinite(value)) return value;
    int unit = quantum(f, value);
    long double rounded = ldexpl(rintl(ldexpl(value, -unit)), unit);
    return fabsl(rounded) >= ldexpl(1, f.highest) ? copysignl(INFINITY, value) : rounded;
}

// The low 64 bits of the integer.
static uint64_t integer_bits(long double value) {
    if (!isfinite(value)) return 0;
    value = fmodl(truncl(value), 0x1p64L);
    return value < 0 ? 0 - (uint64_t)-value : (uint64_t)value;
}

static uint64_t float_bits(format f, int sign_bit, long double value) {
    long double rounded = round_float(f, value);
    uint64_t sign = signbit(value) ? 1ull << sign_bit : 0;
    uint64_t infinity = ((1ull << sign_bit) - 1) >> f.significand_bits << f.significand_bits;
    if (isnan(value)) return infinity | 1ull << (f.significand_bits - 1);
    if (isinf(rounded)) return sign | infinity;
    if (rounded == 0) return sign;
    int unit = quantum(f, rounded);
    // A denormal has exponent field 0, which results automatically from the missing leading one.
    uint64_t field = (uint64_t)(unit - f.lowest) << f.significand_bits;
    return sign | (field + (uint64_t)ldexpl(fabsl(rounded), -unit));
}

static long double float_value(format f, int sign_bit, uint64_t bits) {
    bool negative = bits >> sign_bit & 1;
    uint64_t significand = bits & ((1ull << f.significand_bits) - 1);
    int field = (int)((bits & ((1ull << sign_bit) - 1)) >> f.significand_bits);
    int top = (1 << (sign_bit - f.significand_bits)) - 1;
    long double magnitude = field == top ? (significand ? (long double)NAN : (long double)INFINITY)
                            : field
                                ? ldexpl((long double)(significand | 1ull << f.significand_bits), field - 1 + f.lowest)
                                : ldexpl((long double)significand, f.lowest);
    return negative ? -magnitude : magnitude;
}

long double value_read(ig_type type, const void *element) {
    uint64_t bits = 0;
    uint32_t size = ig_type_size(type);
    memcpy(&bits, element, size);
    switch (type) {
        case IG_TYPE_I8: return (int8_t)bits;
        case IG_TYPE_I16: return (int16_t)bits;
        case IG_TYPE_I32: return (int32_t)bits;
        case IG_TYPE_I64: return (int64_t)bits;
        case IG_TYPE_F16:
        case IG_TYPE_BF16:
        case IG_TYPE_F32: return float_value(format_of(type), (int)size * 8 - 1, bits);
        default: return bits;
    }
}

void value_write(ig_type type, long double value, void *element) {
    uint32_t size = ig_type_size(type);
    uint64_t bits = value_is_float(type)   ? float_bits(format_of(type), (int)size * 8 - 1, value)
                    : type == IG_TYPE_BOOL ? value != 0
                                           : integer_bits(value);
    memcpy(element, &bits, size);
}

long double value_round(ig_type type, long double value) {
    uint64_t element;
    value_write(type, value, &element);
    return value_read(type, &element);
}

bool value_matches(ig_type type, long double got, long double wanted, tolerance allowed) {
    if (wanted == VALUE_ANY) return true;
    if (isnan(got) || isnan(wanted)) return isnan(got) && isnan(wanted);
    if (got == value_round(type, wanted)) return true;
    if (isinf(got) || isinf(wanted)) return false;
    long double distance = fabsl(got - wanted);
    switch (allowed.kind) {
        case TOLERANCE_EXACT: return false;
        case TOLERANCE_ULP: return distance <= (long double)allowed.amount * value_ulp(type, wanted);
        case TOLERANCE_ABSOLUTE: return distance <= (long double)allowed.amount;
        case TOLERANCE_RELATIVE: return distance <= (long double)allowed.amount * fabsl(wanted);
    }
    return false;
}
