// as_type, select, static_cast, and conversions through functions and templates.
#include <metal_stdlib>
using namespace metal;

kernel void as_type_scalars(device const float *a, device uint *u, device int *s, device float *back, uint i [[thread_position_in_grid]]) {
  u[i] = as_type<uint>(a[i]);
  s[i] = as_type<int>(a[i]);
  back[i] = as_type<float>(as_type<uint>(a[i]) ^ 0x80000000u);
}
kernel void as_type_halves(device const half *a, device ushort *u, device half *next, device bfloat *b, uint i [[thread_position_in_grid]]) {
  u[i] = as_type<ushort>(a[i]);
  next[i] = as_type<half>(ushort(as_type<ushort>(a[i]) + 1));
  b[i] = as_type<bfloat>(ushort(0x3f80 + i));
}
kernel void as_type_vectors(device const float2 *a, device ulong *l, device uint2 *u, device ushort4 *s, device uchar4 *c, device half2 *h,
                            uint i [[thread_position_in_grid]]) {
  l[i] = as_type<ulong>(a[i]);
  u[i] = as_type<uint2>(a[i]);
  s[i] = as_type<ushort4>(a[i]);
  c[i] = as_type<uchar4>(a[i].x);
  h[i] = as_type<half2>(a[i].y);
}
kernel void as_type_chars(device const uint *a, device char4 *c, device short2 *s, device uint *back, uint i [[thread_position_in_grid]]) {
  c[i] = as_type<char4>(a[i]);
  s[i] = as_type<short2>(a[i]);
  back[i] = as_type<uint>(as_type<uchar4>(a[i]).wzyx);
}
kernel void select_scalars(device const float *a, device const int *b, device float *out, device int *k, uint i [[thread_position_in_grid]]) {
  out[i] = select(a[i], 100.0f, b[i] > 0);
  k[i] = select(-1, int(i), bool(b[i] & 1));
}
kernel void select_vectors(device const float4 *a, device const float4 *b, device float4 *out, device half2 *h, device int3 *k, uint i [[thread_position_in_grid]]) {
  out[i] = select(a[i], b[i], a[i] < b[i]);
  h[i] = select(half2(1, 2), half2(3, 4), bool2(i & 1, i & 2));
  k[i] = select(int3(i), int3(-1, -2, -3), bool3(true, false, i > 2));
}
kernel void static_casts(device const float *a, device int *out, uint i [[thread_position_in_grid]]) {
  auto half_of = static_cast<half>(a[i]);
  auto whole = static_cast<int>(half_of);
  out[i] = static_cast<int>(static_cast<uchar>(whole)) + static_cast<int>(static_cast<bool>(a[i]));
}
template <typename To, typename From> To convert_through(From v) { return static_cast<To>(v); }
kernel void template_casts(device const int *a, device float *out, uint i [[thread_position_in_grid]]) {
  out[2 * i] = convert_through<float>(a[i]) + convert_through<float>(convert_through<uchar>(a[i]));
  out[2 * i + 1] = convert_through<float>(convert_through<half>(convert_through<bfloat>(float(a[i]))));
}
kernel void reinterpret_pointers(device const uchar *bytes, device uint *out, device ushort *halves, uint i [[thread_position_in_grid]]) {
  out[i] = *(device const uint *)(bytes + 4 * i);
  device const ushort *p = reinterpret_cast<device const ushort *>(bytes);
  halves[i] = p[2 * i + 1];
}
kernel void implicit_conversions(device const short *a, device float *out, uint i [[thread_position_in_grid]]) {
  float f = a[i];
  int k = 2.9f;
  uint u = -1;
  half h = 1000000;
  float4 v = a[i];
  bool b = a[i];
  out[6 * i] = f;
  out[6 * i + 1] = k;
  out[6 * i + 2] = u;
  out[6 * i + 3] = h;
  out[6 * i + 4] = v.w;
  out[6 * i + 5] = b;
}

typedef bfloat short_float;
using other_float = half;
kernel void under_other_names(device other_float *h [[buffer(0)]], device short_float *b [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
  short_float x = short_float(h[i]), y = (short_float)h[i], z = static_cast<short_float>(h[i]);
  b[i] = x + y + z;
  h[i] = other_float(b[i]);
}
