// Common, relational and geometric functions, packing (MSL 6.2, 6.5, 6.9, 6.12).
#include <metal_stdlib>
using namespace metal;

kernel void relational(device const float *a, device const float *b, device uchar *out, uint i [[thread_position_in_grid]]) {
  out[7 * i] = isfinite(a[i]);
  out[7 * i + 1] = isinf(a[i]);
  out[7 * i + 2] = isnan(a[i]);
  out[7 * i + 3] = isnormal(a[i]);
  out[7 * i + 4] = signbit(a[i]);
  out[7 * i + 5] = isordered(a[i], b[i]);
  out[7 * i + 6] = isunordered(a[i], b[i]);
}
kernel void relational_half(device const half4 *a, device uchar *out, uint i [[thread_position_in_grid]]) {
  bool4 r[] = {isfinite(a[i]), isinf(a[i]), isnan(a[i]), isnormal(a[i]), signbit(a[i])};
  for (int k = 0; k < 5; k++)
    for (int c = 0; c < 4; c++) out[20 * i + 4 * k + c] = r[k][c];
}
kernel void relational_bfloat(device const bfloat *a, device uchar *out, uint i [[thread_position_in_grid]]) {
  out[3 * i] = isnan(a[i]);
  out[3 * i + 1] = isinf(a[i]);
  out[3 * i + 2] = isfinite(a[i]);
}
kernel void all_and_any(device uchar *out) {
  out[0] = all(bool4(true));
  out[1] = all(bool4(true, true, false, true));
  out[2] = any(bool3(false));
  out[3] = any(bool2(false, true));
  out[4] = all(float3(1, 2, 3) < 4.0f);
  out[5] = any(int4(1, 2, 3, 4) == 5);
}
kernel void common_functions(device const float *a, device float *out, uint i [[thread_position_in_grid]]) {
  float x = a[i];
  out[8 * i] = clamp(x, -1.0f, 2.0f);
  out[8 * i + 1] = saturate(x);
  out[8 * i + 2] = sign(x);
  out[8 * i + 3] = step(0.5f, x);
  out[8 * i + 4] = smoothstep(-1.0f, 3.0f, x);
  out[8 * i + 5] = mix(10.0f, 20.0f, x);
  out[8 * i + 6] = max(x, 0.25f) + min(x, 0.75f);
  out[8 * i + 7] = fmax3(x, 0.5f, -0.5f) + fmin3(x, 1.0f, 0.0f) * 100 + fmedian3(x, 0.0f, 1.0f) * 10;
}
kernel void common_vectors(device const float4 *a, device float4 *out, uint i [[thread_position_in_grid]]) {
  out[5 * i] = clamp(a[i], -1.0f, 2.0f);
  out[5 * i + 1] = mix(a[i], a[i].wzyx, 0.25f);
  out[5 * i + 2] = mix(a[i], float4(1), float4(0, 1, 0.5f, 0.25f));
  out[5 * i + 3] = sign(a[i]) + step(a[i], 0.0f);
  out[5 * i + 4] = max(a[i], 0) * saturate(a[i]);
}
kernel void common_half(device const half *a, device half *out, uint i [[thread_position_in_grid]]) {
  out[3 * i] = clamp(a[i], half(-1), half(2));
  out[3 * i + 1] = saturate(a[i]);
  out[3 * i + 2] = sign(a[i]) + step(half(0.5), a[i]);
}
kernel void min_max_ignore_nan(device const float *a, device const float *b, device float *out, uint i [[thread_position_in_grid]]) {
  out[2 * i] = fmin(a[i], b[i]);
  out[2 * i + 1] = fmax(a[i], b[i]);
}
kernel void geometric(device const packed_float3 *a, device const packed_float3 *b, device float *out, uint i [[thread_position_in_grid]]) {
  float3 x = a[i], y = b[i];
  device float *o = out + 12 * i;
  o[0] = dot(x, y);
  o[1] = length(x);
  o[2] = distance(x, y);
  o[3] = length_squared(x);
  o[4] = distance_squared(x, y);
  float3 c = cross(x, y);
  o[5] = c.x, o[6] = c.y, o[7] = c.z;
  float3 n = normalize(y);
  o[8] = n.x, o[9] = n.y, o[10] = n.z;
  o[11] = dot(x.xy, y.yz) + length(y.xz);
}
kernel void reflections(device float3 *out) {
  float3 i = normalize(float3(1, -1, 0)), n = float3(0, 1, 0);
  out[0] = reflect(i, n);
  out[1] = refract(i, n, 1.0f);
  out[2] = refract(float3(0.8f, -0.6f, 0), n, 0.5f);
  out[3] = refract(float3(0.96f, -0.28f, 0), n, 1.5f);
  out[4] = faceforward(n, i, n);
  out[5] = faceforward(n, -i, n);
}
kernel void geometric_half(device const half4 *a, device half *out, uint i [[thread_position_in_grid]]) {
  out[3 * i] = dot(a[i], a[i].wzyx);
  out[3 * i + 1] = length(a[i]);
  out[3 * i + 2] = distance(a[i].xy, a[i].zw);
}
kernel void pack(device const float4 *a, device uint *out, uint i [[thread_position_in_grid]]) {
  out[6 * i] = pack_float_to_unorm4x8(a[i]);
  out[6 * i + 1] = pack_float_to_snorm4x8(a[i]);
  out[6 * i + 2] = pack_float_to_unorm2x16(a[i].xy);
  out[6 * i + 3] = pack_float_to_snorm2x16(a[i].zw);
  out[6 * i + 4] = pack_float_to_unorm10a2(a[i]);
  out[6 * i + 5] = pack_float_to_unorm565(a[i].xyz);
}
kernel void unpack(device const uint *a, device float *out, uint i [[thread_position_in_grid]]) {
  device float *o = out + 23 * i;
  float4 v[] = {unpack_unorm4x8_to_float(a[i]), unpack_snorm4x8_to_float(a[i]), unpack_unorm10a2_to_float(a[i])};
  for (int k = 0; k < 12; k++) o[k] = v[k / 4][k % 4];
  float2 u = unpack_unorm2x16_to_float(a[i]), s = unpack_snorm2x16_to_float(a[i]);
  o[12] = u.x, o[13] = u.y, o[14] = s.x, o[15] = s.y;
  float3 c = unpack_unorm565_to_float(ushort(a[i]));
  o[16] = c.x, o[17] = c.y, o[18] = c.z;
  half4 h = unpack_unorm4x8_to_half(a[i]);
  for (int k = 0; k < 4; k++) o[19 + k] = h[k];
}
kernel void srgb(device const uint *a, device float4 *out, device uint *back, uint i [[thread_position_in_grid]]) {
  out[i] = unpack_unorm4x8_srgb_to_float(a[i]);
  back[i] = pack_float_to_srgb_unorm4x8(out[i]);
}
kernel void pack_half(device const half4 *a, device uint *out, uint i [[thread_position_in_grid]]) {
  out[2 * i] = pack_half_to_unorm4x8(a[i]);
  out[2 * i + 1] = pack_half_to_snorm2x16(a[i].xy);
}
kernel void split_functions(device const float *a, device float *out, device int *exponents, uint i [[thread_position_in_grid]]) {
  float whole;
  int e;
  out[4 * i] = modf(a[i], whole);
  out[4 * i + 1] = whole;
  out[4 * i + 2] = frexp(a[i], e);
  exponents[2 * i] = e;
  exponents[2 * i + 1] = ilogb(a[i]);
  out[4 * i + 3] = ldexp(a[i], 3) + fract(a[i]);
}
kernel void rounding(device const float *a, device float *out, uint i [[thread_position_in_grid]]) {
  float v[] = {ceil(a[i]), floor(a[i]), trunc(a[i]), round(a[i]), rint(a[i])};
  for (int k = 0; k < 5; k++) out[5 * i + k] = v[k];
}
// exp(-inf), log(0) and the like, which masked softmax and log-sum-exp count on in fast mode too.
kernel void infinities(device const float *a, device float *out) {
  out[0] = exp(-a[0]);
  out[1] = exp(a[1]);
  out[2] = log(a[2]);
  out[3] = 1.0f / (1.0f + exp(-a[0]));
  out[4] = tanh(a[0]);
  out[5] = exp(-a[0] - 1.0f);
  out[6] = max(-a[0], 1.0f);
  out[7] = exp2(-a[0]);
}
