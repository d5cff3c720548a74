// Accesses of one thread that are close together, in every order: none may be moved where it would change the result.
#include <metal_stdlib>
using namespace metal;

kernel void second_half_first(device const float *in, device float *out, uint i [[thread_position_in_grid]]) {
  float b = in[2 * i + 1], c = b * 3, a = in[2 * i];
  out[i] = a * 100 + c;
}
kernel void second_half_first_in_loop(device const float *in, device float *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  float s = 0;
  for (uint k = 0; k < n; k++) {
    float b = in[2 * i + 64 * k + 1], a = in[2 * i + 64 * k];
    s += a * 100 + b;
    out[i] = s;
    if (b > 40) s += in[2 * i + 64 * k];
  }
  out[i] = s;
}
kernel void written_twice(device float *a, uint i [[thread_position_in_grid]]) {
  device float *p = a + 4 * i;
  float v = float(i);
  p[0] = v, p[1] = v + 1, p[2] = v + 2, p[1] = v + 3, p[0] = v + 4;
}
kernel void written_twice_anywhere(device float *a, device const uint *at, uint i [[thread_position_in_grid]]) {
  device float *p = a + at[i];
  float v = float(i);
  p[0] = v, p[1] = v + 1, p[2] = v + 2, p[1] = v + 3, p[0] = v + 4;
}
kernel void swapped(device int *a, uint i [[thread_position_in_grid]]) {
  int t = a[2 * i];
  a[2 * i] = a[2 * i + 1];
  a[2 * i + 1] = t;
}
// Each step sees what the one before wrote.
kernel void chained(device int *a, uint i [[thread_position_in_grid]]) {
  device int *p = a + 4 * i;
  p[1] = p[0] + 1;
  p[2] = p[1] + 1;
  p[3] = p[2] + 1;
  p[0] = p[3] + 1;
}
// The same memory by two names.
struct Names { device int *a, *b; };
kernel void two_names(constant Names &names, uint i [[thread_position_in_grid]]) {
  device int *a = names.a, *b = names.b;
  int x = a[2 * i], y = a[2 * i + 1];
  b[2 * i] = x + 10;
  b[2 * i + 1] = y + 20;
  a[2 * i + 1] += 1;
  b[2 * i] += a[2 * i] * 100 + a[2 * i + 1];
}
kernel void between_atomics(device atomic_int *a, device int *b, uint i [[thread_position_in_grid]]) {
  int x = b[2 * i];
  atomic_fetch_add_explicit(&a[2 * i + 1], 7, memory_order_relaxed);
  int y = b[2 * i + 1];
  b[2 * i] = x + y;
  atomic_fetch_add_explicit(&a[2 * i], 1000, memory_order_relaxed);
}
kernel void volatile_between(device int *a, uint i [[thread_position_in_grid]]) {
  device int *p = a + 3 * i;
  int x = p[0];
  volatile device int *v = p;
  v[1] = x + 5;
  int y = p[1], z = p[2];
  p[0] = y * 2, p[1] = z * 2, p[2] = x;
}
// Threads in descending order.
kernel void descending(device const float4 *in, device float4 *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  device const float *p = (device const float *)(in + (n - 1 - i));
  out[n - 1 - i] = float4(p[3], p[1], p[2], p[0]);
}
kernel void same_for_all(device const int *in, device int *out, constant uint &at, uint i [[thread_position_in_grid]]) {
  device const int *p = in + at;
  out[i] = p[0] + 2 * p[1] + 4 * p[2] + 8 * p[3] + int(i);
}
// Every second, third and fifth element, and the last thread's is the last of the buffer.
kernel void first_of_three(device const float *in, device float *out, uint i [[thread_position_in_grid]]) { out[i] = in[3 * i]; }
kernel void two_of_five(device const int *in, device int *out, uint i [[thread_position_in_grid]]) { out[i] = in[5 * i] - in[5 * i + 3]; }
kernel void five_of_sixteen(device const uchar *in, device uint *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  if (i >= n) return;
  device const uchar *p = in + 16 * i;
  out[i] = p[0] + p[2] * 2u + p[3] * 4u + p[9] * 8u + p[11] * 16u;
}
kernel void around_the_middle(device const int *in, device int *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  if (i == 0 || i + 1 >= n) return;
  device const int *p = in + 4 * i;
  out[i] = p[-4] + 2 * p[-1] + 4 * p[0] + 8 * p[3] + 16 * p[4];
}
// Whole rows of a tile for each thread, more than fit into one register.
kernel void sixteen_each(device const uchar *in, device ushort *out, uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < 16; k++) out[16 * i + 15 - k] = in[16 * i + k] * 3;
}
kernel void forty_each(device const int *in, device int *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  if (i >= n) return;
  int s = 0;
  for (uint k = 0; k < 40; k++) s = s * 3 + in[40 * i + k];
  for (uint k = 0; k < 40; k++) out[40 * i + k] = s + int(k);
}
// Different distances from different bases, mixed.
kernel void mixed_bases(device const float *a, device const half *b, device float *out, uint i [[thread_position_in_grid]]) {
  float s = a[2 * i] + b[4 * i + 3];
  s += a[2 * i + 1] * 2 + b[4 * i];
  out[3 * i + 2] = s;
  s += a[2 * i] + b[4 * i + 1];
  out[3 * i] = s;
  out[3 * i + 1] = b[4 * i + 2];
}
// Packed vectors at any address.
kernel void unaligned(device const packed_float3 *in, device packed_uchar3 *out, uint i [[thread_position_in_grid]]) {
  float3 v = in[i];
  out[i] = packed_uchar3(uchar3(v.zxy));
}
kernel void gathered_rows(device const half4 *in, device const uint *at, device half4 *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  if (at[i] >= n) return;
  out[i] = in[at[i]].wzyx;
}
// Threads without a row must not read one: their index is far outside.
kernel void only_where_there_is_one(device const float4 *in, device const int *at, device float4 *out, uint i [[thread_position_in_grid]]) {
  if (at[i] >= 0) out[i] = in[at[i]] * 2;
}
kernel void by_field_in_switch(device int4 *a, uint i [[thread_position_in_grid]]) {
  switch (i % 4) {
    case 0: a[i].x = -1; break;
    case 1: a[i].y = a[i].x; break;
    case 2: a[i].zw = a[i].xy; break;
    default: a[i] = a[i].wzyx;
  }
}
