// Vectors: construction, components, operators, packed and bool vectors.
#include <metal_stdlib>
using namespace metal;

// Every way to put a float4 together (MSL 2.2).
kernel void construct_float4(device const float *a, device float4 *out) {
  float s = a[0];
  float2 d = float2(a[1], a[2]);
  float3 t = float3(a[3], a[4], a[5]);
  float4 q = float4(a[6], a[7], a[8], a[9]);
  out[0] = float4(s);
  out[1] = float4(s, s + 1, s + 2, s + 3);
  out[2] = float4(d, d);
  out[3] = float4(d, s, s);
  out[4] = float4(s, d, s);
  out[5] = float4(s, s, d);
  out[6] = float4(t, s);
  out[7] = float4(s, t);
  out[8] = float4(q);
  out[9] = float4(d.yx, t.zy);
  out[10] = s;
  out[11] = 7;
  out[12] = float4{1, 2, 3, 4};
  out[13] = {4, 3, 2, 1};
}
kernel void construct_float3_float2(device const float *a, device float *out) {
  float2 d = float2(a[1], a[2]);
  float3 t[] = {float3(a[0]), float3(a[0], a[1], a[2]), float3(d, a[3]), float3(a[3], d), float3(float3(d, 1)), float3(float4(d, d).xyz)};
  for (int k = 0; k < 6; k++)
    for (int c = 0; c < 3; c++) out[3 * k + c] = t[k][c];
  float2 e[] = {float2(a[0]), float2(a[0], a[1]), float2(d), float2(t[1].zx)};
  for (int k = 0; k < 4; k++) out[18 + 2 * k] = e[k].x, out[19 + 2 * k] = e[k].y;
}
kernel void convert_elements(device const float4 *a, device int4 *i4, device half4 *h4, device uchar4 *c4, device float4 *back,
                             device bool4 *b4, uint i [[thread_position_in_grid]]) {
  i4[i] = int4(a[i]);
  h4[i] = half4(a[i]);
  c4[i] = uchar4(int4(a[i]));
  back[i] = float4(int4(a[i])) + float4(bool4(a[i]));
  b4[i] = bool4(a[i]);
}

kernel void swizzle_read(device const float4 *a, device float4 *out) {
  float4 v = a[0];
  out[0] = v.wzyx;
  out[1] = v.xxyy;
  out[2] = v.rgba;
  out[3] = v.abgr;
  out[4] = float4(v.xy, v.zw);
  out[5] = float4(v.yzx, v.w);
  out[6] = float4(v.x, v.y, v.b, v.a);
  out[7] = v.xyzw.zwxy.yxwz;
  out[8] = v.gggg;
}
kernel void swizzle_write(device const float4 *a, device float4 *out) {
  float4 v = a[0];
  v.x = 10;
  out[0] = v;
  v.yx = float2(1, 2);
  out[1] = v;
  v.wzyx = a[0];
  out[2] = v;
  v.xz = v.zx;
  out[3] = v;
  v.rgb = float3(7, 8, 9);
  out[4] = v;
  v.xyzw = v.yzwx;
  out[5] = v;
  out[6] = 0;
  out[6].y = 5;
  out[6].zw = v.xy;
}
kernel void swizzle_compound(device const float4 *a, device float4 *out) {
  float4 v = a[0];
  v.xy += float2(1, 2);
  v.zw *= 2.0f;
  out[0] = v;
  v.x -= 1;
  v.wy /= float2(2, 4);
  out[1] = v;
  v.xyz = v.xyz * v.zzz + 1;
  out[2] = v;
  v.w++;
  ++v.x;
  v.y--;
  out[3] = v;
  out[3].xw += v.yz;
  int4 k = int4(v);
  k.xy <<= 2;
  k.zw |= int2(256, 512);
  out[4] = float4(k);
}
kernel void integer_swizzles(device const uint4 *a, device uint4 *out, uint i [[thread_position_in_grid]]) {
  uint4 v = a[i];
  v.xz ^= v.yw;
  v.yw = v.yw % 7u;
  out[i] = v.zxwy;
}

kernel void element_access(device const float4 *a, device float *out, constant uint &k [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  float4 v = a[i];
  v[k] = 100;
  v[(k + 1) % 4] += v[k];
  float sum = 0;
  for (uint c = 0; c < 4; c++) sum += v[c] * (c + 1);
  out[i] = sum;
}
kernel void element_access_in_memory(device float4 *a, device uchar4 *b, device half3 *c, uint i [[thread_position_in_grid]]) {
  a[i / 4][i % 4] = float(i);
  b[i / 4][3 - i % 4] = uchar(i * 3);
  if (i % 4 < 3) c[i / 4][i % 4] = half(i);
}

kernel void arithmetic(device const float4 *a, device const float4 *b, device float4 *out, uint i [[thread_position_in_grid]]) {
  float4 x = a[i], y = b[i];
  out[7 * i] = x + y;
  out[7 * i + 1] = x - y;
  out[7 * i + 2] = x * y;
  out[7 * i + 3] = x / y;
  out[7 * i + 4] = 2 * x + 1;
  out[7 * i + 5] = -x;
  float4 z = x;
  z += y; z *= 2; z -= 1.0f; z /= y;
  out[7 * i + 6] = z;
}
kernel void integer_arithmetic(device const int4 *a, device const int4 *b, device int4 *out, uint i [[thread_position_in_grid]]) {
  int4 x = a[i], y = b[i];
  out[8 * i] = x + y * 3;
  out[8 * i + 1] = x / y;
  out[8 * i + 2] = x % y;
  out[8 * i + 3] = (x & y) | (x ^ ~y);
  out[8 * i + 4] = x << 2;
  out[8 * i + 5] = x >> int4(1, 2, 3, 4);
  int4 z = x;
  z++;
  --z;
  z <<= 1; z |= 1; z ^= y; z %= 1000; z &= 0xffff;
  out[8 * i + 6] = z;
  out[8 * i + 7] = -x;
}
kernel void char_vectors_wrap(device const uchar4 *a, device uchar4 *out, device char2 *c, uint i [[thread_position_in_grid]]) {
  uchar4 v = a[i];
  out[i] = v * uchar4(3) + uchar4(250);
  c[i] = char2(v.xy) * char2(2);
}
kernel void long_vectors(device const long2 *a, device long2 *out, device ulong3 *u, uint i [[thread_position_in_grid]]) {
  out[i] = a[i] * 1000003 - a[i].yx;
  u[i] = ulong3(ulong2(a[i]), 5) << ulong3(1, 2, 40);
}
kernel void comparisons(device const float4 *a, device const float4 *b, device uchar *out, uint i [[thread_position_in_grid]]) {
  bool4 r[] = {a[i] < b[i], a[i] <= b[i], a[i] > b[i], a[i] >= b[i], a[i] == b[i], a[i] != b[i]};
  for (int k = 0; k < 6; k++)
    for (int c = 0; c < 4; c++) out[24 * i + 4 * k + c] = r[k][c];
}
kernel void bool_vectors(device const int4 *a, device uchar *out, uint i [[thread_position_in_grid]]) {
  bool4 p = a[i] > 0, q = (a[i] & 1) == 1;
  bool4 r[] = {p && q, p || q, !p, p & q, p ^ q, p == q};
  for (int k = 0; k < 6; k++)
    for (int c = 0; c < 4; c++) out[32 * i + 4 * k + c] = r[k][c];
  out[32 * i + 24] = all(p);
  out[32 * i + 25] = any(p);
  out[32 * i + 26] = any(p.xy && q.zw);
  out[32 * i + 27] = all(bool3(p.x, true, q.x) || bool3(q.y));
}
kernel void half_vectors(device const half4 *a, device const half4 *b, device half4 *out, uint i [[thread_position_in_grid]]) {
  half4 x = a[i], y = b[i];
  half4 s = x + y;
  out[2 * i] = s + y;
  out[2 * i + 1] = x / y;
}
kernel void bfloat_vectors(device const bfloat4 *a, device const bfloat4 *b, device bfloat4 *out, uint i [[thread_position_in_grid]]) {
  bfloat4 x = a[i], y = b[i];
  bfloat4 p = x * y;
  out[i] = p + x.wzyx;
}
kernel void vector_ternary(device const float4 *a, device float4 *out, uint i [[thread_position_in_grid]]) {
  float4 v = a[i].x > 0 ? a[i] : -a[i].wzyx;
  out[i] = i % 2 ? v : float4(0.5f);
}

struct Padded {
  char a;
  float3 b;
  char c;
  packed_float3 d;
  float e;
};
kernel void packed_layout(device uint *out, device const Padded *p, device float *values) {
  out[0] = sizeof(packed_float3);
  out[1] = sizeof(packed_float2);
  out[2] = sizeof(packed_float4);
  out[3] = sizeof(packed_uchar3);
  out[4] = alignof(packed_float4);
  out[5] = alignof(packed_short4);
  out[6] = sizeof(packed_half3);
  out[7] = sizeof(packed_long2);
  out[8] = sizeof(Padded);
  out[9] = alignof(Padded);
  values[0] = p[1].b.y;
  values[1] = p[1].d.z;
  values[2] = p[1].e;
  values[3] = p[0].d[0];
}
kernel void packed_arithmetic(device const packed_float3 *a, device packed_float3 *b, device float *lengths, uint i [[thread_position_in_grid]]) {
  float3 v = a[i];
  packed_float3 w = v * 2.0f;
  w.x += 1;
  w[2] = a[i].x;
  b[i] = w;
  b[i].y -= a[i].y;
  lengths[i] = dot(a[i], a[i]) + a[i].yz.x + (a[i] + a[i]).z;
}
kernel void packed_chars(device packed_uchar3 *a, device packed_short2 *b, uint i [[thread_position_in_grid]]) {
  a[i] = packed_uchar3(i, i + 1, i + 2);
  b[i] = short2(-int(i), int(i) * 100);
}
#define SIZES(T) sizeof(T), alignof(T), sizeof(T##2), alignof(T##2), sizeof(T##3), alignof(T##3), sizeof(T##4), alignof(T##4)
kernel void sizes_and_alignments(device uint *out) {
  const uint sizes[] = {SIZES(bool), SIZES(char), SIZES(uchar), SIZES(short), SIZES(ushort), SIZES(int), SIZES(uint),
                        SIZES(long), SIZES(ulong), SIZES(half), SIZES(bfloat), SIZES(float)};
  for (uint k = 0; k < sizeof(sizes) / sizeof(uint); k++) out[k] = sizes[k];
}
// Vectors as parameters, results, references and arrays.
static float2 rotate_left(float2 v) { return v.yx; }
static void scale_by(thread float3 &v, float s) { v *= s; }
template <typename T, int N> T total(vec<T, N> v) {
  T sum = 0;
  for (int c = 0; c < N; c++) sum += v[c];
  return sum;
}
kernel void vectors_and_functions(device const float4 *a, device float *out, uint i [[thread_position_in_grid]]) {
  float3 v = a[i].xyz;
  scale_by(v, 2);
  float4 history[3] = {a[i], float4(v, 1), float4(rotate_left(a[i].zw), rotate_left(a[i].xy))};
  float sum = 0;
  for (int k = 0; k < 3; k++) sum += total(history[k]) * (k + 1);
  out[i] = sum + total(int3(1, 2, 3)) + total(a[i].xy);
}
kernel void between_half_and_bfloat(device const half4 *a, device bfloat4 *b, device half4 *back, uint i [[thread_position_in_grid]]) {
  b[i] = bfloat4(a[i]);
  back[i] = half4(b[i]) + half4(half3(bfloat3(1, 2, 3)), 4);
}
