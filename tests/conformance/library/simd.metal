// The functions of <simd/simd.h>, as a header shared with the host uses them.
#include <metal_stdlib>
#include <simd/simd.h>
#include <simd/geometry.h>
using namespace metal;

static inline simd_float4x4 moved(simd_float3 by) {
  simd_float4x4 m = matrix_identity_float4x4;
  m.columns[3] = simd_make_float4(by, 1.0f);
  return m;
}
static inline simd_float2x2 turned(float c, float s) { return simd_matrix(simd_make_float2(c, s), simd_make_float2(-s, c)); }

kernel void vectors(device float *out [[buffer(0)]], constant simd_float3 *v [[buffer(1)]]) {
  simd_float3 a = v[0], b = v[1];
  out[0] = simd_dot(a, b);
  out[1] = simd::dot(a, b);
  out[2] = simd_length(a);
  out[3] = simd_distance(a, b);
  out[4] = simd_cross(a, b).x;
  out[5] = simd::normalize(b).z;
  out[6] = simd_reduce_add(a) + simd_reduce_max(b) - simd_reduce_min(b);
  out[7] = simd_clamp(a, 1.5f, 2.5f).x;
  out[8] = simd_mix(a, b, 0.5f).y;
  out[9] = simd_min(a, b).x + simd::max(a, b).y;
  out[10] = simd_make_float2(a).y + simd_make_float4(a).w;
  out[11] = simd_equal(a, a) && !simd_equal(a, b);
  out[12] = simd_sum(1.0f);
}

kernel void matrices(device float *out [[buffer(0)]], constant simd_float3 *v [[buffer(1)]]) {
  simd_float4x4 m = moved(v[0]);
  simd_float4 p = simd_mul(m, simd_make_float4(v[1], 1.0f));
  simd_float4x4 back = simd_inverse(m);
  simd_float4 q = matrix_multiply(back, p);
  out[0] = p.x, out[1] = p.y, out[2] = p.z, out[3] = p.w;
  out[4] = q.x, out[5] = q.y, out[6] = q.z, out[7] = q.w;
  simd_float2x2 r = turned(3, 4);
  simd_float2x2 s = simd_mul(simd_inverse(r), r);
  out[8] = s.columns[0].x, out[9] = s.columns[0].y, out[10] = s.columns[1].x, out[11] = s.columns[1].y;
  simd_float3x3 d = simd_diagonal_matrix(v[1]);
  simd_float3x3 e = simd_matrix_from_rows(v[0], v[1], simd_make_float3(1, 0, 0));
  simd_float3x3 f = simd_mul(simd_mul(e, d), simd_inverse(simd_mul(e, d)));
  out[12] = simd_determinant(d);
  out[13] = e.columns[0].y;
  out[14] = f.columns[0].x + f.columns[1].y + f.columns[2].z;
  out[15] = f.columns[0].y + f.columns[1].z + f.columns[2].x;
}
