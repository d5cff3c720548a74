// Matrices: column-major, construction, products, determinant, transpose, memory layout.
#include <metal_stdlib>
using namespace metal;

kernel void matrix_sizes(device uint *out) {
  const uint sizes[] = {sizeof(float2x2), sizeof(float2x3), sizeof(float2x4), sizeof(float3x2), sizeof(float3x3), sizeof(float3x4),
                        sizeof(float4x2), sizeof(float4x3), sizeof(float4x4), sizeof(half2x2), sizeof(half3x3), sizeof(half4x4),
                        alignof(float2x2), alignof(float3x3), alignof(half4x4)};
  for (uint k = 0; k < 15; k++) out[k] = sizes[k];
}
kernel void matrix_construct(device float *out) {
  float2x2 m[] = {float2x2(3), float2x2(1, 2, 3, 4), float2x2(float2(5, 6), float2(7, 8)), float2x2{float2(1), float2(2)}};
  for (int k = 0; k < 4; k++)
    for (int c = 0; c < 2; c++)
      for (int r = 0; r < 2; r++) *out++ = m[k][c][r];
  float3x2 n = float3x2(1, 2, 3, 4, 5, 6);
  n[1] = float2(30, 40);
  n[2].y = 60;
  for (int c = 0; c < 3; c++)
    for (int r = 0; r < 2; r++) *out++ = n[c][r];
}
kernel void matrix_elements_are_column_major(device const float4x4 *a, device float *out, uint i [[thread_position_in_grid]]) {
  out[i] = a[0][i % 4][i / 4] + a[0].columns[1].z;
}
kernel void matrix_times_vector(device const float4x4 &m, device const float4 *v, device float4 *mv, device float4 *vm, uint i [[thread_position_in_grid]]) {
  mv[i] = m * v[i];
  vm[i] = v[i] * m;
}
kernel void matrix_times_matrix(device const float4x4 *a, device const float4x4 *b, device float4x4 *c, uint i [[thread_position_in_grid]]) {
  c[i] = a[i] * b[i];
}
kernel void matrix_rectangular(device const float3x4 &a, device const float2x3 &b, device float2x4 &c, device float4x3 &t) {
  c = a * b;
  t = transpose(a);
}
kernel void matrix_arithmetic(device const float3x3 *a, device float3x3 *out) {
  float3x3 x = a[0], y = a[1];
  out[0] = x + y;
  out[1] = x - y;
  out[2] = x * 2.0f;
  out[3] = 0.5f * x;
  out[4] = -x;
  out[5] = x / 4;
  x += y;
  x *= 3;
  x -= y;
  out[6] = x;
  x *= float3x3(2);
  out[7] = x;
}
kernel void matrix_determinant(device const float2x2 &a, device const float3x3 &b, device const float4x4 &c, device float *out) {
  out[0] = determinant(a);
  out[1] = determinant(b);
  out[2] = determinant(c);
  out[3] = determinant(float4x4(2));
}
kernel void matrix_half(device const half4x4 &a, device const half4 *v, device half4 *out, uint i [[thread_position_in_grid]]) {
  half4x4 m = a;
  m[3][3] += 1;
  out[i] = m * v[i];
}
struct Transform {
  float4x4 rotation;
  float3 offset;
  float scale;
};
kernel void matrix_in_struct(constant Transform &t, device const packed_float3 *points, device packed_float3 *out, uint i [[thread_position_in_grid]]) {
  float4 p = t.rotation * float4(points[i], 1);
  out[i] = p.xyz * t.scale + t.offset;
}
kernel void matrix_power(device float2x2 *out, uint i [[thread_position_in_grid]]) {
  float2x2 m = float2x2(1);
  const float2x2 fibonacci = float2x2(1, 1, 1, 0);
  for (uint k = 0; k < i; k++) m = m * fibonacci;
  out[i] = m;
}
