// SPDX-License-Identifier: Apache-2.0
// Mathematics. exp10, sincos, pow10 and the constants with a suffix (M_PIf, M_PIl) are missing.
#ifndef STAND_IN_MATH_H
#define STAND_IN_MATH_H

typedef float float_t;
typedef double double_t;
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY HUGE_VALF
#define NAN __builtin_nanf("0x7fc00000")
#define FP_NAN 1
#define FP_INFINITE 2
#define FP_ZERO 3
#define FP_NORMAL 4
#define FP_SUBNORMAL 5
#define M_E 2.71828182845904523536028747135266250
#define M_LOG2E 1.44269504088896340735992468100189214
#define M_LN2 0.693147180559945309417232121458176568
#define M_LN10 2.30258509299404568401799145468436421
#define M_PI 3.14159265358979323846264338327950288
#define M_PI_2 1.57079632679489661923132169163975144
#define M_PI_4 0.785398163397448309615660845819875721
#define M_1_PI 0.318309886183790671537767526745028724
#define M_2_SQRTPI 1.12837916709551257389615890312154517
#define M_SQRT2 1.41421356237309504880168872420969808
#define M_SQRT1_2 0.707106781186547524400844362104849039
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define isnormal(x) __builtin_isnormal(x)
#define signbit(x) __builtin_signbit(x)
#define fpclassify(x) __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x)
#define isgreater(x, y) __builtin_isgreater(x, y)
#define isless(x, y) __builtin_isless(x, y)
#define isunordered(x, y) __builtin_isunordered(x, y)
float acosf(float x), acoshf(float x), asinf(float x), asinhf(float x), atanf(float x), atanhf(float x), cbrtf(float x),
    ceilf(float x), cosf(float x), coshf(float x), erff(float x), erfcf(float x), expf(float x), exp2f(float x),
    expm1f(float x), fabsf(float x), floorf(float x), lgammaf(float x), logf(float x), log10f(float x), log1pf(float x),
    log2f(float x), logbf(float x), nearbyintf(float x), rintf(float x), roundf(float x), sinf(float x), sinhf(float x),
    sqrtf(float x), tanf(float x), tanhf(float x), tgammaf(float x), truncf(float x);
float atan2f(float x, float y), copysignf(float x, float y), fdimf(float x, float y), fmaxf(float x, float y),
    fminf(float x, float y), fmodf(float x, float y), hypotf(float x, float y), nextafterf(float x, float y),
    powf(float x, float y), remainderf(float x, float y);
float fmaf(float x, float y, float z), frexpf(float x, int *exponent), ldexpf(float x, int exponent),
    modff(float x, float *whole);
float scalbnf(float x, int exponent), scalblnf(float x, long exponent), nanf(const char *tag),
    nexttowardf(float x, long double y);
long lrintf(float x), lroundf(float x);
long long llrintf(float x), llroundf(float x);
int ilogbf(float x);
double acos(double x), acosh(double x), asin(double x), asinh(double x), atan(double x), atanh(double x),
    cbrt(double x), ceil(double x), cos(double x), cosh(double x), erf(double x), erfc(double x), exp(double x),
    exp2(double x), expm1(double x), fabs(double x), floor(double x), lgamma(double x), log(double x), log10(double x),
    log1p(double x), log2(double x), logb(double x), nearbyint(double x), rint(double x), round(double x),
    sin(double x), sinh(double x), sqrt(double x), tan(double x), tanh(double x), tgamma(double x), trunc(double x);
double atan2(double x, double y), copysign(double x, double y), fdim(double x, double y), fmax(double x, double y),
    fmin(double x, double y), fmod(double x, double y), hypot(double x, double y), nextafter(double x, double y),
    pow(double x, double y), remainder(double x, double y);
double fma(double x, double y, double z), frexp(double x, int *exponent), ldexp(double x, int exponent),
    modf(double x, double *whole);
double scalbn(double x, int exponent), scalbln(double x, long exponent), nan(const char *tag),
    nexttoward(double x, long double y);
long lrint(double x), lround(double x);
long long llrint(double x), llround(double x);
int ilogb(double x);
long double acosl(long double x), acoshl(long double x), asinl(long double x), asinhl(long double x),
    atanl(long double x), atanhl(long double x), cbrtl(long double x), ceill(long double x), cosl(long double x),
    coshl(long double x), erfl(long double x), erfcl(long double x), expl(long double x), exp2l(long double x),
    expm1l(long double x), fabsl(long double x), floorl(long double x), lgammal(long double x), logl(long double x),
    log10l(long double x), log1pl(long double x), log2l(long double x), logbl(long double x), nearbyintl(long double x),
    rintl(long double x), roundl(long double x), sinl(long double x), sinhl(long double x), sqrtl(long double x),
    tanl(long double x), tanhl(long double x), tgammal(long double x), truncl(long double x);
long double atan2l(long double x, long double y), copysignl(long double x, long double y),
    fdiml(long double x, long double y), fmaxl(long double x, long double y), fminl(long double x, long double y),
    fmodl(long double x, long double y), hypotl(long double x, long double y), nextafterl(long double x, long double y),
    powl(long double x, long double y), remainderl(long double x, long double y);
long double fmal(long double x, long double y, long double z), frexpl(long double x, int *exponent),
    ldexpl(long double x, int exponent), modfl(long double x, long double *whole);
long double scalbnl(long double x, int exponent), scalblnl(long double x, long exponent), nanl(const char *tag),
    nexttowardl(long double x, long double y);
long lrintl(long double x), lroundl(long double x);
long long llrintl(long double x), llroundl(long double x);
int ilogbl(long double x);

#endif
