// SPDX-License-Identifier: Apache-2.0
// Both 16-bit formats are one computation with another split of exponent and fraction bits.
#include "half.h"

#include <math.h>

enum { F16_FRACTION_BITS = 10, BF16_FRACTION_BITS = 7 };

static uint16_t encode(double value, int fraction_bits) {
    int bias = (1 << (14 - fraction_bits)) - 1;
    unsigned infinity = ((2u * (unsigned)bias + 1) << fraction_bits), sign = signbit(value) ? 0x8000u : 0;
    if (isnan(value)) return (uint16_t)(sign | infinity | 1u << (fraction_bits - 1));
    double magnitude = fabs(value);
    if (isinf(magnitude)) return (uint16_t)(sign | infinity);
    int exponent = magnitude > 0 ? ilogb(magnitude) : 1 - bias;
    if (exponent > bias) return (uint16_t)(sign | infinity);
    if (exponent < 1 - bias) exponent = 1 - bias;  // subnormal
    // The leading 1 of a normal number, and a carry out of the rounding, add themselves to the exponent field.
    unsigned fraction = (unsigned)nearbyint(ldexp(magnitude, fraction_bits - exponent));
    return (uint16_t)(sign | (((unsigned)(exponent + bias - 1) << fraction_bits) + fraction));
}

static float decode(uint16_t bits, int fraction_bits) {
    int bias = (1 << (14 - fraction_bits)) - 1;
    int exponent = (bits & 0x7fff) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    float magnitude;
    if (exponent == 2 * bias + 1) {
        magnitude = fraction ? NAN : INFINITY;
    } else if (exponent == 0) {
        magnitude = ldexpf((float)fraction, 1 - bias - fraction_bits);
    } else {
        magnitude = ldexpf((float)(fraction | 1 << fraction_bits), exponent - bias - fraction_bits);
    }
    return bits & 0x8000 ? -magnitude : magnitude;
}

uint16_t cli_f16_from_double(double value) {
    return encode(value, F16_FRACTION_BITS);
}

uint16_t cli_bf16_from_double(double value) {
    return encode(value, BF16_FRACTION_BITS);
}

float cli_float_from_f16(uint16_t bits) {
    return decode(bits, F16_FRACTION_BITS);
}

float cli_float_from_bf16(uint16_t bits) {
    return decode(bits, BF16_FRACTION_BITS);
}
