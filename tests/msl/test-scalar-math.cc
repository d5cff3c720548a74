// SPDX-License-Identifier: Apache-2.0
// The scalar cores of <metal_math> against the C library in double: largest error in ulp, and special values.
// Built for the host, clang++-19 -std=c++17 -O2 -mfma -ffp-contract=on -Isrc/msl/stdlib; argument: the stride
// through all 2^32 floats (default 4099).
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <__ingot_scalar_parts>
#include <__ingot_scalar_trig>

namespace core = metal::__ig_math;

static int failures;
static uint64_t stride = 4099;

static float float_from(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static double ulp(double x) {
  int exponent;
  frexp(x, &exponent);
  return fabs(x) < 0x1p-126 ? 0x1p-149 : ldexp(1.0, exponent - 24);
}

// Infinite if a NaN, infinity or signed zero is expected and missing. flush: denormal results may be zero.
static double error(float got, double want, bool flush) {
  if (want != want || got != got) return want != want && got != got ? 0 : INFINITY;
  if (want == 0) return got == 0 && std::signbit(got) == std::signbit(want) ? 0 : INFINITY;
  if (std::isinf(float(want))) return double(got) == double(float(want)) ? 0 : std::isinf(want) ? INFINITY : fabs(got - want) / 0x1p104;
  if (flush && fabs(want) < 0x1p-126 && got == 0) return 0;
  return fabs((std::isinf(got) ? copysign(0x1p128, got) : got) - want) / ulp(want);
}

struct limits {
  const char *name;
  double allowed, worst, at, at_second;
};
static void note(limits &l, double e, double x, double y = 0) {
  if (e > l.worst) l.worst = e, l.at = x, l.at_second = y;
}
static void report(const limits &l) {
  bool bad = l.worst > l.allowed;
  failures += bad;
  printf("%-14s %8.3f ulp (limit %g) at %a, %a%s\n", l.name, l.worst, l.allowed, l.at, l.at_second, bad ? "  FAILED" : "");
}

// Values near which reductions, thresholds and overflows change.
static const float corners[] = {0, 0.25f, 0.5f, 0.55f, 0.6666667f, 0.70710678f, 1, 1.3333334f, 1.4142135f, 1.5707964f, 2, 3, 3.1415927f, 10, 38.53184f,
                                45.15f, 87.33655f, 88.72284f, 89.41599f, 103.97208f, 126, 128, 149, 131072, 16777216, 1e10f, 3.4028235e38f, INFINITY, NAN};

template <class F, class R> static void sweep(const char *name, double allowed, double range, bool flush, F f, R reference) {
  limits l = {name, allowed, 0, 0, 0};
  auto check = [&](float x) {
    if (!(fabs(x) > range) && !(flush && fabs(x) < 0x1p-126f && x != 0)) note(l, error(f(x), reference(double(x)), flush), x);
  };
  for (uint64_t bits = 0; bits < 1ull << 32; bits += stride) check(float_from(uint32_t(bits)));
  for (float c : corners)
    for (uint32_t sign : {0u, 0x80000000u})
      for (int step = -300; step <= 300; step++) {
        uint32_t bits;
        memcpy(&bits, &c, sizeof bits);
        check(float_from((bits + uint32_t(step)) ^ sign));
      }
  report(l);
}

// Random pairs, half of them with exponents within 20 of each other, and all pairs of corners.
template <class F, class R> static void pairs(const char *name, double allowed, bool flush, F f, R reference) {
  limits l = {name, allowed, 0, 0, 0};
  auto check = [&](float x, float y) { note(l, error(f(x, y), reference(double(x), double(y)), flush), x, y); };
  for (float x : corners)
    for (float y : corners)
      for (int signs = 0; signs < 4; signs++) check(signs & 1 ? -x : x, signs & 2 ? -y : y);
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < 4000000; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    uint32_t a = uint32_t(state), b = uint32_t(state >> 32);
    uint32_t near = ((a & 0x7f800000) + (b % 41 - 20) * 0x800000) & 0x7f800000;
    check(float_from(a), float_from(i & 1 ? b : near | (b & 0x807fffff)));
  }
  report(l);
}

#define SWEEP(name, family, allowed, range, reference) \
  sweep(#name " " #family, allowed, range, #family[0] == 'f', [](float x) { return core::name##_##family(x); }, [](double x) { return double(reference); });
#define PAIRS(name, family, allowed, reference) \
  pairs(#name " " #family, allowed, #family[0] == 'f', [](float x, float y) { return core::name##_##family(x, y); }, \
        [](double x, double y) { return double(reference); });

int main(int count, char **arguments) {
  if (count > 1) stride = strtoull(arguments[1], nullptr, 10);
  SWEEP(acos, precise, 1.5, INFINITY, acos(x))
  SWEEP(acosh, precise, 2.5, INFINITY, acosh(x))
  SWEEP(asin, precise, 2.0, INFINITY, asin(x))
  SWEEP(asinh, precise, 2.5, INFINITY, asinh(x))
  SWEEP(atan, precise, 1.5, INFINITY, atan(x))
  SWEEP(atanh, precise, 2.5, INFINITY, atanh(x))
  SWEEP(cos, precise, 2.5, INFINITY, cos(x))
  SWEEP(cosh, precise, 2.0, INFINITY, cosh(x))
  SWEEP(exp, precise, 1.1, INFINITY, exp(x))
  SWEEP(exp10, precise, 1.1, INFINITY, pow(10.0, x))
  SWEEP(exp2, precise, 1.0, INFINITY, exp2(x))
  SWEEP(log, precise, 1.1, INFINITY, log(x))
  SWEEP(log10, precise, 2.0, INFINITY, log10(x))
  SWEEP(log2, precise, 1.5, INFINITY, log2(x))
  SWEEP(rsqrt, precise, 0.51, INFINITY, 1.0 / sqrt(x))
  SWEEP(sin, precise, 2.5, INFINITY, sin(x))
  SWEEP(sinh, precise, 2.0, INFINITY, sinh(x))
  SWEEP(tan, precise, 4.0, INFINITY, tan(x))
  SWEEP(tanh, precise, 2.0, INFINITY, tanh(x))
  SWEEP(round, away, 0, INFINITY, round(x))
  SWEEP(cos, fast, 2.0, 0x1p17, cos(x))
  SWEEP(exp, fast, 4.0, 8, exp(x))
  SWEEP(exp, fast, 30.0, INFINITY, exp(x))
  SWEEP(exp10, fast, 40.0, INFINITY, pow(10.0, x))
  SWEEP(exp2, fast, 3.0, INFINITY, exp2(x))
  SWEEP(log, fast, 1.5, INFINITY, log(x))
  SWEEP(log10, fast, 4.0, INFINITY, log10(x))
  SWEEP(log2, fast, 2.5, INFINITY, log2(x))
  SWEEP(rsqrt, fast, 2.0, INFINITY, 1.0 / sqrt(x))
  SWEEP(sin, fast, 2.0, 0x1p17, sin(x))
  SWEEP(tan, fast, 3.5, 0x1p17, tan(x))
  SWEEP(tanh, fast, 2.5, INFINITY, tanh(x))
  PAIRS(atan2, precise, 2.0, atan2(x, y))
  PAIRS(fmod, precise, 0, fmod(x, y))
  PAIRS(pow, precise, 1.0, pow(x, y))
  PAIRS(pow, fast, 200, pow(x, y))
  PAIRS(fdim, float, 0.5, fdim(x, y))
  return failures != 0;
}
