// SPDX-License-Identifier: Apache-2.0
// Functions of float vectors, for all inputs: NaN, infinities and denormals included. Errors of a few ulp at most.
//
// Polynomials: exp, log, sin, cos from Cephes (S. Moshier); erf after N. Juffa's erff.
#ifndef INGOT_TENSOR_SIMD_MATH_H
#define INGOT_TENSOR_SIMD_MATH_H

#include <float.h>
#include <math.h>

#include "tensor/simd/isa/vector.h"

// ---- Exponentials ----

// e^r - 1 for |r| <= ln(2) / 2.
INLINE vf expm1_reduced(vf r) {
    vf p = r * 1.9875691500e-4F + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    return p * r * r + r;
}

// e^r for |r| <= ln(2) / 2, to 3e-9 before it is rounded.
INLINE vf exp_reduced(vf r) {
    vf p = r * 1.38198258e-3F + 8.36868677e-3F;
    p = p * r + 4.16682772e-2F;
    p = p * r + 1.66665211e-1F;
    p = p * r + 4.9999994e-1F;
    p = p * r + 1;
    return p * r + 1;
}

// A power of two, as an integer, of which only the lowest nine bits count, and as a float.
typedef struct power2 {
    vi n;
    vf whole;
} power2;

// 2^(n + bias). pre: that is a normal number
INLINE vf power_of_two(power2 e, int32_t bias) {
    return (vf)((e.n << 23) + ((127 + bias) << 23));
}

// To the nearest integer. pre: |x| < 256 (or NaN)
INLINE power2 nearest_power(vf x) {
    const vf magic = splat(0x1.8p23F);
    vf shifted = x + magic;
    return (power2){(vi)shifted, shifted - magic};
}

// x = n ln(2) + r
INLINE vf reduce_exp(vf x, power2 *e) {
    *e = nearest_power(x * 1.44269504088896341F);
    vf r = x - e->whole * 0.693359375F;
    return r + e->whole * 2.12194440e-4F;
}

// p * 2^n, even if 2^n itself is not representable.
INLINE vf scale(vf p, power2 e) {
#if defined(__AVX512F__)
    return (vf)_mm512_scalef_ps((__m512)p, (__m512)e.whole);
#else
    const vi one = splat_int(127 << 23);
    vi n = e.n << 23, half = (n >> 1) & ~0x7fffff;
    return p * (vf)(half + one) * (vf)(n - half + one);
#endif
}

// pre: x <= 89, or NaN
INLINE vf exp_bounded(vf x) {
    power2 e;
    vf r = reduce_exp(at_least(x, -104), &e);
    return scale(exp_reduced(r), e);
}

INLINE vf exp_of(vf x) {
    return exp_bounded(at_most(x, 89));
}

// 2^64 e^x, a normal number even where e^x is none. pre: x <= 43, or NaN
INLINE vf exp_scaled(vf x) {
    power2 e;
    vf r = reduce_exp(at_least(x, -130), &e);
    return exp_reduced(r) * power_of_two(e, 64);
}

// As exp_of, with fewer operations. pre: as above
INLINE vf exp_of_small(vf x) {
#if defined(__AVX512F__)
    return exp_bounded(x);
#else
    return exp_scaled(x) * 0x1p-64F;
#endif
}

INLINE vf exp2_of(vf x) {
    x = at_least(at_most(x, 129), -151);
    power2 e = nearest_power(x);
    return scale(exp_reduced((x - e.whole) * 0.69314718055994531F), e);
}

INLINE vf expm1_of(vf x) {
    power2 e;
    vf r = reduce_exp(at_most(at_least(x, -30), 88), &e), power = power_of_two(e, 0);
    vf result = power * expm1_reduced(r) + (power - 1);
    result = choose(x == splat(0), x, result);
    return choose(x > splat(80), exp_of(x), result);
}

// ---- Logarithms ----

// x = 2^e (1 + f) with 1 + f from sqrt(1/2) to sqrt(2). pre: x is positive and finite
INLINE vf reduce_log(vf x, vf *e) {
    vi tiny = x < splat(0x1p-126F);
    x = choose(tiny, x * 0x1p25F, x);
    vi bits = (vi)x, above = (bits & 0x7fffff) > splat_int(0x3504f3);  // of sqrt(2)
    vi exponent = (bits >> 23) - 127 - above - (tiny & 25);
    *e = to_float(exponent);
    return (vf)((bits & 0x7fffff) | (splat_int(127 << 23) - (above & (1 << 23)))) - 1;
}

// ln(1 + f) - f.
INLINE vf log_reduced(vf f) {
    vf p = f * 7.0376836292e-2F - 1.1514610310e-1F;
    p = p * f + 1.1676998740e-1F;
    p = p * f - 1.2420140846e-1F;
    p = p * f + 1.4249322787e-1F;
    p = p * f - 1.6668057665e-1F;
    p = p * f + 2.0000714765e-1F;
    p = p * f - 2.4999993993e-1F;
    p = p * f + 3.3333331174e-1F;
    vf square = f * f;
    return p * f * square - 0.5F * square;
}

// For values that are not positive and finite: ln(0) is -inf, ln(inf) is inf, all others give NaN.
INLINE vf finish_log(vf x, vf result) {
    result = choose(x == splat(INFINITY), x, result);
    result = choose(x == splat(0), splat(-INFINITY), result);
    return choose((x < splat(0)) | is_nan(x), splat(NAN), result);
}

INLINE vf log_of(vf x) {
    vf e, f = reduce_log(x, &e);
    vf result = log_reduced(f) - e * 2.12194440e-4F + f + e * 0.693359375F;
    return finish_log(x, result);
}

INLINE vf log2_of(vf x) {
    vf e, f = reduce_log(x, &e), tail = log_reduced(f);
    // f * (log2(e) - 1) + tail * log2(e) + f, smallest first
    vf result = tail * 0.44269504088896341F + f * 0.44269504088896341F + tail + f + e;
    return finish_log(x, result);
}

// ln(1 + x), corrected for the rounding of 1 + x (Kahan).
INLINE vf log1p_of(vf x) {
    vf u = x + 1;
    vf result = log_of(u) * (x / (u - 1));
    result = choose(u == splat(1), x, result);
    result = choose(x == splat(INFINITY), x, result);
    return choose(u == splat(0), splat(-INFINITY), result);
}

// ---- Sigmoids ----

INLINE vf sigmoid_of(vf x) {
    vf e = exp_scaled((vf)((vi)x | INT32_MIN));
    return by_sign(x, e, splat(0x1p64F)) / (e + 0x1p64F);
}

// x * factor, where the factor vanishes at -inf.
INLINE vf times_vanishing(vf x, vf factor) {
    return at_least(x, -FLT_MAX) * factor;
}

INLINE vf softplus_of(vf x) {
    return choose(x > splat(0), x, splat(0)) + log1p_of(exp_of_small(-absolute(x)));
}

INLINE vf silu_of(vf x) {
    return times_vanishing(x, sigmoid_of(x));
}

// An odd rational function, after Eigen's ptanh; beyond the bound the result is 1 to the last bit.
INLINE vf tanh_of(vf x) {
    const vf bound = splat(7.90531110763549805F);
    vf bounded = choose(absolute(x) > bound, with_sign(bound, x), x), z = bounded * bounded;
    vf p = z * -2.76076847742355e-16F + 2.00018790482477e-13F;
    p = p * z - 8.60467152213735e-11F;
    p = p * z + 5.12229709037114e-08F;
    p = p * z + 1.48572235717979e-05F;
    p = p * z + 6.37261928875436e-04F;
    p = p * z + 4.89352455891786e-03F;
    vf q = z * 1.19825839466702e-06F + 1.18534705686654e-04F;
    q = q * z + 2.26843463243900e-03F;
    q = q * z + 4.89352518554385e-03F;
    return choose(absolute(x) < splat(4e-4F), x, bounded * p / q);
}

INLINE vf sinh_of(vf x) {
    vf a = absolute(x), e = expm1_of(a);
    vf result = 0.5F * (e + e / (e + 1));
    vf root = exp_of(0.5F * a);
    return with_sign(choose(a > splat(80), 0.5F * root * root, result), x);
}

INLINE vf cosh_of(vf x) {
    vf root = exp_of(0.5F * absolute(x)), half = 0.5F * root * root;
    return half + 0.25F / half;
}

// ---- Error functions ----

// The exact value of x^2 - square, where `square` is x^2 rounded.
INLINE vf rest_of_square(vf x, vf square) {
#if defined(__AVX512F__)
    return (vf)_mm512_fmsub_ps((__m512)x, (__m512)x, (__m512)square);
#elif defined(__FMA__)
    return (vf)_mm256_fmsub_ps((__m256)x, (__m256)x, (__m256)square);
#else
    vf high = (vf)((vi)x & ~0xfff), low = x - high;
    return (high * high - square) + 2 * high * low + low * low;
#endif
}

// The tail of the normal distribution beyond a, times e^(a^2 / 2), for 0 <= a <= 14.6: times a + 3.8 it is a polynomial
// of 1 / (a + 3.8), here moved to [-1, 1], with an error of 2e-8.
INLINE vf normal_tail_scaled(vf a) {
    vf r = 1 / (a + 3.8F), u = r * 9.578082F - 1.520548F;
    vf p = u * 7.1198774e-05F + 5.212743e-06F;
    p = p * u - 1.1778517e-03F;
    p = p * u - 1.6891003e-03F;
    p = p * u + 1.5582594e-02F;
    p = p * u + 9.617873e-02F;
    p = p * u + 2.9523024e-01F;
    p = p * u + 6.0528e-01F;
    p = p * u + 8.9051896e-01F;
    return p * r;
}

// e^(-(square + rest) / 2), to 1e-7. pre: 0 <= square <= 214, rest is its rounding error
INLINE vf exp_half_square(vf square, vf rest) {
    power2 e = nearest_power(square * -0.72134752044448170F);
    vf r = e.whole * -1.38671875F - square;  // twice what is left
    r = e.whole * 4.24388880e-4F + r;
    r = r - rest;
    vf p = r * 2.59297750e-04F + 2.61974775e-03F;
    p = p * r + 2.08344738e-02F;
    p = p * r + 1.24997220e-01F;
    p = p * r + 4.9999985e-01F;
    p = p * r + 1.0000001F;
    return scale(p, e);
}

INLINE vf erf_of(vf x) {
    vf a = absolute(x), s = x * x;
    vf r = a * -1.72853470e-5F + 3.83197126e-4F, u = a * -3.88396438e-3F + 2.42546219e-2F;
    r = r * s + u;
    r = r * a - 1.06777877e-1F;
    r = r * a - 6.34846687e-1F;
    r = r * a - 1.28717512e-1F;
    r = r * a - a;
    vf large = with_sign(1 - exp_of_small(choose(a > splat(6), splat(-100), r)), x);
    r = s * -5.96761703e-4F + 4.99119423e-3F;
    r = r * s - 2.67681349e-2F;
    r = r * s + 1.12819925e-1F;
    r = r * s - 3.76125336e-1F;
    r = r * s + 1.28379166e-1F;
    vf result = choose(a > splat(0.927734375F), large, r * x + x);
    return choose(is_nan(x), x, result);
}

// x Phi(x): the exponent of the tail comes from x itself, not from x / sqrt(2), whose rounding it would magnify.
INLINE vf gelu_of(vf x) {
    vf a = at_most(absolute(x), 14.6F), square = a * a;
    vf tail = normal_tail_scaled(a) * exp_half_square(square, rest_of_square(a, square));
    return times_vanishing(x, choose(x < splat(0), tail, 1 - tail));
}

INLINE vf gelu_tanh_of(vf x) {
    vf inner = x * (0.7978845608028654F + 0.03567740813636141F * x * x);
    return times_vanishing(x, sigmoid_of(inner + inner));
}

// ---- Powers, in double ----

// Half a vector of floats as doubles.
typedef float vh __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef int64_t vl __attribute__((vector_size(VECTOR_BYTES)));

// log2(x) for a positive finite double: atanh series of the mantissa around 1.
INLINE vd log2_double(vd x) {
    vl bits = (vl)x, exponent = (bits >> 52) - 1023;
    vd m = (vd)((bits & 0xfffffffffffff) | 0x3ff0000000000000);
    vl above = m > 1.4142135623730951;
    m = (vd)(((vl)(m * 0.5) & above) | ((vl)m & ~above));
    vd e = __builtin_convertvector(exponent - above, vd), t = (m - 1) / (m + 1), z = t * t;
    vd p = z * (2.0 / 13) + 2.0 / 11;
    p = p * z + 2.0 / 9;
    p = p * z + 2.0 / 7;
    p = p * z + 2.0 / 5;
    p = p * z + 2.0 / 3;
    return (p * z * t + 2 * t) * 1.4426950408889634 + e;
}

// 2^x for |x| < 1000.
INLINE vd exp2_double(vd x) {
    const double magic = 0x1.8p52;
    vd shifted = x + magic, r = (x - (shifted - magic)) * 0.6931471805599453;
    vl n = (vl)shifted - (vl)((vd){0} + magic);
    vd p = r * (1.0 / 5040) + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    return p * (vd)((n + 1023) << 52);
}

INLINE vh pow_half(vh x, vh y) {
    vd power = log2_double(__builtin_convertvector(x, vd)) * __builtin_convertvector(y, vd);
    vl large = power > 300, small = power < -300;
    power = (vd)(((vl)((vd){0} + 300) & large) | ((vl)power & ~large));
    power = (vd)(((vl)((vd){0} - 300) & small) | ((vl)power & ~small));
    return __builtin_convertvector(exp2_double(power), vh);
}

// |x|^y, where x is positive, finite and no denormal becomes zero on the way.
INLINE vf pow_positive(vf x, vf y) {
    union {
        vf whole;
        vh halves[2];
    } xs = {x}, ys = {y}, result;
    for (int i = 0; i < 2; i++) result.halves[i] = pow_half(xs.halves[i], ys.halves[i]);
    return result.whole;
}

// C's pow (annex F of the standard specifies the special cases).
INLINE vf pow_of(vf x, vf y) {
    vf a = absolute(x);
    vi whole = floor_of(y) == y, odd = whole & (floor_of(y * 0.5F) != y * 0.5F) & (absolute(y) < splat(0x1p25F));
    vi zero = a == splat(0), infinite = a == splat(INFINITY), y_infinite = absolute(y) == splat(INFINITY);
    vf regular =
        pow_positive(choose(zero | infinite | is_nan(x), splat(1), a), choose(y_infinite | is_nan(y), splat(1), y));
    vi grows = (y > splat(0)) ^ zero;  // 0^-y and inf^y are infinite
    vf result = choose(zero | infinite, choose(grows, splat(INFINITY), splat(0)), regular);
    result = choose(y_infinite, choose((a > splat(1)) ^ (y < splat(0)), splat(INFINITY), splat(0)), result);
    result = choose(odd & ((vi)x >> 31), -result, result);  // of -0 too
    result = choose((x < splat(0)) & ~whole & ~infinite & ~y_infinite, splat(NAN), result);
    result = choose(is_nan(x) | is_nan(y), splat(NAN), result);
    result = choose(y_infinite & (a == splat(1)), splat(1), result);
    return choose((y == splat(0)) | (x == splat(1)), splat(1), result);
}

// ---- Circular functions ----

// Beyond this the remainder is not accurate.
#define LARGEST_ANGLE 8192.0F

// x = n pi/2 + r with |r| <= pi/4. pre: |x| <= LARGEST_ANGLE
INLINE vf reduce_angle(vf x, vi *n) {
    vf whole = nearest_small(x * 0.63661977236758134F, n);
    vf r = x - whole * 1.5703125F;
    r = r - whole * 4.837512969970703125e-4F;
    return r - whole * 7.54978995489188216e-8F;
}

INLINE vf sin_reduced(vf r) {
    vf z = r * r;
    vf p = z * -1.9515295891e-4F + 8.3321608736e-3F;
    p = p * z - 1.6666654611e-1F;
    return p * z * r + r;
}

INLINE vf cos_reduced(vf r) {
    vf z = r * r;
    vf p = z * 2.443315711809948e-5F - 1.388731625493765e-3F;
    p = p * z + 4.166664568298827e-2F;
    return p * z * z - 0.5F * z + 1;
}

// sin(x + quarter pi/2)
INLINE vf sin_from(vf x, int32_t quarter) {
    vi n;
    vf r = reduce_angle(x, &n);
    n += quarter;
    vf result = choose((n & 1) != 0, cos_reduced(r), sin_reduced(r));
    return choose((n & 2) != 0, -result, result);
}

// `result`, with a scalar function in the lanes whose angle is too large for vectors: the result of an element does not
// depend on its neighbours.
#define WITH_LARGE_ANGLES(x, result, function)                                       \
    ({                                                                               \
        vf angles = (x), each = (result);                                            \
        vi large = absolute(angles) > splat(LARGEST_ANGLE);                          \
        if (any(large))                                                              \
            for (int lane = 0; lane < LANES; lane++)                                 \
                if (large[lane]) each[lane] = (float)function((double)angles[lane]); \
        each;                                                                        \
    })

INLINE vf sin_of(vf x) {
    return WITH_LARGE_ANGLES(x, choose(x == splat(0), x, sin_from(x, 0)), sin);
}

INLINE vf cos_of(vf x) {
    return WITH_LARGE_ANGLES(x, sin_from(x, 1), cos);
}

INLINE vf tan_of(vf x) {
    vi n;
    vf r = reduce_angle(x, &n), s = sin_reduced(r), c = cos_reduced(r);
    vi odd = (n & 1) != 0;
    vf result = choose(odd, -c, s) / choose(odd, s, c);
    return WITH_LARGE_ANGLES(x, choose(x == splat(0), x, result), tan);
}

// asin(s) - s for 0 <= s <= 1/2, z = s^2.
INLINE vf asin_tail(vf s, vf z) {
    vf p = z * 4.2163199048e-2F + 2.4181311049e-2F;
    p = p * z + 4.5470025998e-2F;
    p = p * z + 7.4953002686e-2F;
    p = p * z + 1.6666752422e-1F;
    return p * z * s;
}

INLINE vf asin_of(vf x) {
    vf a = absolute(x);
    vi large = a > splat(0.5F);
    vf z = choose(large, 0.5F * (1 - a), a * a), s = choose(large, square_root(z), a);
    vf tail = asin_tail(s, z);
    vf result = choose(large, 1.5707963267948966F - 2 * (s + tail), s + tail);
    return choose(a > splat(1), splat(NAN), with_sign(result, x));
}

INLINE vf acos_of(vf x) {
    vf a = absolute(x);
    vi large = a > splat(0.5F);
    vf z = choose(large, 0.5F * (1 - a), a * a), s = choose(large, square_root(z), x);
    vf tail = asin_tail(s, z);
    vf near = 2 * (s + tail);
    vf result =
        choose(large, choose(x < splat(0), 3.14159265358979323F - near, near), 1.5707963267948966F - (s + tail));
    return choose(a > splat(1), splat(NAN), result);
}

INLINE vf atan_of(vf x) {
    vf a = absolute(x);
    vi large = a > splat(2.414213562373095F), middle = (a > splat(0.4142135623730950F)) & ~large;
    vf base = choose(large, splat(1.5707963267948966F), choose(middle, splat(0.7853981633974483F), splat(0)));
    vf t = choose(large, -1 / a, choose(middle, (a - 1) / (a + 1), a)), z = t * t;
    vf p = z * 8.05374449538e-2F - 1.38776856032e-1F;
    p = p * z + 1.99777106478e-1F;
    p = p * z - 3.33329491539e-1F;
    return with_sign(base + (p * z * t + t), x);
}

// The angle of the point (x, y): computed in the first octant, then mirrored to its place.
INLINE vf atan2_of(vf y, vf x) {
    vf a = absolute(x), b = absolute(y);
    vi steep = b > a;
    vf small = choose(steep, a, b), large = choose(steep, b, a);
    vf ratio = choose(small == large, splat(1), small / large);
    vf result = atan_of(choose(large == splat(0), splat(0), ratio));
    result = choose(steep, 1.5707963267948966F - result, result);
    result = choose((vi)x >> 31, 3.14159265358979323F - result, result);
    return choose(is_nan(x) | is_nan(y), splat(NAN), with_sign(result, y));
}

#endif
