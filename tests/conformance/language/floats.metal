// float, half and bfloat: conversions, rounding after every operation, special values.
#include <metal_stdlib>
using namespace metal;

// Out of range saturates, NaN is 0 (MSL 2.14).
kernel void float_to_int_saturates(device const float *a, device int *i32, device uint *u32, device char *i8, device uchar *u8,
                                   device short *i16, device ushort *u16, device long *i64, device ulong *u64, uint i [[thread_position_in_grid]]) {
  i32[i] = int(a[i]);
  u32[i] = uint(a[i]);
  i8[i] = char(a[i]);
  u8[i] = uchar(a[i]);
  i16[i] = short(a[i]);
  u16[i] = ushort(a[i]);
  i64[i] = long(a[i]);
  u64[i] = ulong(a[i]);
}

kernel void half_to_int_saturates(device const half *a, device int *i32, device uchar *u8, device short *i16, uint i [[thread_position_in_grid]]) {
  i32[i] = int(a[i]);
  u8[i] = uchar(a[i]);
  i16[i] = static_cast<short>(a[i]);
}

kernel void vector_float_to_int_saturates(device const float4 *a, device int4 *b, device uchar4 *c, uint i [[thread_position_in_grid]]) {
  b[i] = int4(a[i]);
  c[i] = uchar4(a[i]);
}

kernel void int_to_float(device const int *a, device const ulong *b, device float *f, device float *g, device half *h, uint i [[thread_position_in_grid]]) {
  f[i] = a[i];
  g[i] = b[i];
  h[i] = half(a[i]);
}

kernel void float_to_half_rounds_to_even(device const float *a, device half *b, device float *back, uint i [[thread_position_in_grid]]) {
  b[i] = half(a[i]);
  back[i] = float(half(a[i]));
}
kernel void float_to_bfloat_rounds_to_even(device const float *a, device bfloat *b, device float *back, uint i [[thread_position_in_grid]]) {
  b[i] = bfloat(a[i]);
  back[i] = float(bfloat(a[i]));
}
kernel void half_to_bfloat_and_back(device const half *a, device bfloat *b, device half *c, uint i [[thread_position_in_grid]]) {
  b[i] = bfloat(float(a[i]));
  c[i] = half(float(b[i]));
}

// Each operation rounds to half: (2048 + 1) + 1 is 2048, not 2050.
kernel void half_rounds_every_operation(device const half *a, device const half *b, device half *out, uint i [[thread_position_in_grid]]) {
  half x = a[i], y = b[i];
  out[5 * i] = x + y + y;
  out[5 * i + 1] = x * y - x;
  out[5 * i + 2] = x / y;
  out[5 * i + 3] = x - y - y;
  out[5 * i + 4] = -x;
}
kernel void bfloat_rounds_every_operation(device const bfloat *a, device const bfloat *b, device bfloat *out, uint i [[thread_position_in_grid]]) {
  bfloat x = a[i], y = b[i];
  out[4 * i] = x + y + y;
  out[4 * i + 1] = x - y;
  out[4 * i + 2] = x * y;
  out[4 * i + 3] = x / y;
}
kernel void half_and_float_mix_as_float(device const half *a, device const float *b, device float *out, uint i [[thread_position_in_grid]]) {
  out[i] = a[i] * b[i] + a[i];
}
kernel void half_literals(device half *out, device bfloat *b) {
  out[0] = 0.1h;
  out[1] = 1.5H;
  out[2] = 65504.0h;
  out[3] = 2.0h * 0.3h;
  b[0] = 0.1bf;
  b[1] = 3.0bf;
  b[2] = bfloat(1.0f) / 3.0bf;
  b[3] = 1e30bf;
}
kernel void half_compound(device half *out, uint i [[thread_position_in_grid]]) {
  half s = 0;
  for (uint k = 0; k <= i; k++) s += 0.1h;
  out[i] = s;
}
kernel void bfloat_compound(device bfloat *out, uint i [[thread_position_in_grid]]) {
  bfloat s = 0;
  for (uint k = 0; k <= i; k++) s += bfloat(0.1f);
  out[i] = s;
}

// IEEE special values, in safe mode.
kernel void special_arithmetic(device const float *a, device const float *b, device float *out, uint i [[thread_position_in_grid]]) {
  out[4 * i] = a[i] + b[i];
  out[4 * i + 1] = a[i] - b[i];
  out[4 * i + 2] = a[i] * b[i];
  out[4 * i + 3] = a[i] / b[i];
}
kernel void special_comparisons(device const float *a, device const float *b, device uint *out, uint i [[thread_position_in_grid]]) {
  float x = a[i], y = b[i];
  out[i] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5;
}
kernel void negative_zero(device const float *a, device uint *out) {
  out[0] = as_type<uint>(-a[0]);
  out[1] = as_type<uint>(a[0] * -1.0f);
  out[2] = as_type<uint>(a[0] + -a[0]);
  out[3] = as_type<uint>(fabs(-a[0]));
  out[4] = as_type<uint>(copysign(1.0f, -a[0]));
  out[5] = as_type<uint>(-0.0f + a[0]);
  out[6] = as_type<uint>(1.0f / (a[0] * -1.0f));
}
kernel void denormals_stay(device const float *a, device float *out, uint i [[thread_position_in_grid]]) {
  out[2 * i] = a[i] * 0.5f;
  out[2 * i + 1] = a[i] + a[i];
}
kernel void half_denormals(device const half *a, device half *out, uint i [[thread_position_in_grid]]) {
  out[2 * i] = a[i] * 0.5h;
  out[2 * i + 1] = a[i] - 0x1p-24h;
}
kernel void half_overflows(device const half *a, device half *out, uint i [[thread_position_in_grid]]) {
  out[i] = a[i] * a[i];
}
// Contraction is allowed within an expression, not across statements; fma is one rounding always.
kernel void fma_rounds_once(device const float *a, device float *out, uint i [[thread_position_in_grid]]) {
  float x = a[i];
  out[i] = fma(x, x, -x * 1.0f);
}
kernel void float_limits(device float *f, device half *h, device bfloat *b) {
  f[0] = FLT_MAX; f[1] = FLT_MIN; f[2] = FLT_EPSILON; f[3] = INFINITY; f[4] = numeric_limits<float>::lowest();
  f[5] = numeric_limits<float>::denorm_min(); f[6] = M_PI_F; f[7] = float(NAN);
  h[0] = HALF_MAX; h[1] = HALF_MIN; h[2] = HALF_EPSILON; h[3] = numeric_limits<half>::infinity(); h[4] = M_PI_H;
  b[0] = numeric_limits<bfloat>::max(); b[1] = numeric_limits<bfloat>::epsilon(); b[2] = M_PI_BF;
}
kernel void float_literals(device float *out) {
  out[0] = 1.5;
  out[1] = 1e-3f;
  out[2] = 0x1.8p3f;
  out[3] = .5f;
  out[4] = 2.f;
  out[5] = 1 / 2;
  out[6] = 1 / 2.0;
  out[7] = 1.0f / 3;
}
