// Loops that count to a constant, nested, broken off and walking through private arrays.
#include <metal_stdlib>
using namespace metal;

kernel void once_and_never(device int *out, uint i [[thread_position_in_grid]]) {
  int s = int(i);
  for (int k = 0; k < 1; k++) s += 10;
  for (int k = 5; k < 5; k++) s += 1000;
  for (int k = 7; k < 0; k++) s += 1000;
  do s += 100;
  while (false);
  out[i] = s;
}
kernel void odd_steps(device int *out, uint i [[thread_position_in_grid]]) {
  int s = 0;
  for (int k = 0; k < 20; k += 3) s += k * int(i);
  for (int k = 20; k > 0; k -= 7) s = s * 2 + k;
  for (int k = 10; k >= -10; k -= 5) s += k * k;
  for (uint k = 4; k-- > 0;) s = s * 3 + int(k);
  for (uint k = 3; k != 15; k += 4) s -= int(k);
  out[i] = s;
}
kernel void narrow_counters(device int *out, uint i [[thread_position_in_grid]]) {
  int s = 0;
  for (uchar k = 250; k != 4; k++) s += k;
  for (char k = 100; k > 0; k = char(k + 9)) s += k * int(i);
  for (ushort k = 65530; k >= 65530; k++) s += k & 15;
  for (short k = -3; k <= 3; k++) s += k * k;
  for (long k = -4000000000; k < 4000000000; k += 1000000000) s += int(k / 1000000000);
  out[i] = s;
}
// 63, 64 and 65 rounds: around the longest that is unrolled.
kernel void many_rounds(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int s = 0, t = 0, u = 0;
  for (int k = 0; k < 63; k++) s = s * 3 + in[k];
  for (int k = 0; k < 64; k++) t = t * 5 + in[k];
  for (int k = 0; k < 65; k++) u = u * 7 + in[k];
  out[3 * i] = s + int(i);
  out[3 * i + 1] = t;
  out[3 * i + 2] = u;
}
kernel void nested_twice(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int sums[3] = {};
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 4; c++) sums[r] += in[12 * i + 4 * r + c] * (c + 1);
  out[i] = sums[0] + 10 * sums[1] + 100 * sums[2];
}
kernel void nested_four_deep(device int *out, uint i [[thread_position_in_grid]]) {
  int s = 0;
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 3; b++)
      for (int c = b; c < 3; c++)
        for (int d = 0; d < 2; d++) s = (s * 2 + a + b * c + d + int(i)) % 10007;
  out[i] = s;
}
// Too much for unrolling as a whole; the inner one is short.
kernel void long_outer_loop(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int acc[4] = {1, 2, 3, 4};
  for (int r = 0; r < 200; r++)
    for (int c = 0; c < 4; c++) acc[c] = (acc[c] * 3 + in[4 * (r % 5) + c] + int(i)) & 0xffff;
  out[i] = acc[0] ^ acc[1] ^ acc[2] ^ acc[3];
}
kernel void triangular(device int *out, uint i [[thread_position_in_grid]]) {
  int s = 0;
  for (int r = 0; r < 6; r++)
    for (int c = 0; c <= r; c++) s += r * 10 + c;
  out[i] = s + int(i);
}
kernel void uniform_break(device int *out, constant int &stop, uint i [[thread_position_in_grid]]) {
  int s = 0;
  for (int k = 0; k < 12; k++) {
    if (k == stop) break;
    s += k + int(i);
  }
  out[i] = s;
}
kernel void varying_break(device int *out, uint i [[thread_position_in_grid]]) {
  int v[8], s = 0, k;
  for (int j = 0; j < 8; j++) v[j] = j * j + int(i);
  for (k = 0; k < 8; k++) {
    if (uint(k) == i % 11) break;
    s += v[k];
  }
  out[i] = s * 10 + k;
}
kernel void varying_continue_and_return(device int *out, uint i [[thread_position_in_grid]]) {
  int s = 0;
  out[i] = -1;
  for (int k = 0; k < 9; k++) {
    if ((uint(k) + i) % 3 == 0) continue;
    if (i % 13 == 5 && k == 6) return;
    s = s * 2 + k;
  }
  out[i] = s;
}
kernel void break_from_the_inner(device int *out, uint i [[thread_position_in_grid]]) {
  int s = 0;
  for (int r = 0; r < 5; r++) {
    for (int c = 0; c < 5; c++) {
      if (c * r > int(i % 9)) break;
      s += 1 + r * c;
    }
    if (s > 20 && r == 3) break;
  }
  out[i] = s;
}
kernel void two_counters(device int *out, uint i [[thread_position_in_grid]]) {
  int s = 0;
  for (int a = 0, b = 10; a < b; a++, b -= 2) s += a * b + int(i);
  for (int a = 0; a * a < 50; a++) s += a;
  out[i] = s;
}
kernel void loop_with_barrier_free_switch(device int *out, uint i [[thread_position_in_grid]]) {
  int s = 0;
  for (int k = 0; k < 6; k++) switch ((k + i) % 4) {
      case 0: s += 1; break;
      case 1: s += 10; continue;
      case 2: s += 100;
      default: s += 1000;
    }
  out[i] = s;
}
// Arrays that stay in memory although the loops over them are short, because the index comes from elsewhere.
template <typename T> kernel void read_anywhere(device const T *in, device T *out, device const uint *at, constant uint &same, uint i [[thread_position_in_grid]]) {
  T v[6];
  for (int k = 0; k < 6; k++) v[k] = in[6 * i + k];
  out[2 * i] = v[at[i] % 6];
  out[2 * i + 1] = v[same % 6];
}
template <typename T> kernel void written_anywhere(device const T *in, device T *out, device const uint *at, constant uint &same, uint i [[thread_position_in_grid]]) {
  T v[6] = {};
  v[same % 6] = in[2 * i];
  if (at[i] % 4) v[at[i] % 6] = in[2 * i + 1];
  for (int k = 0; k < 6; k++) out[6 * i + k] = v[k];
}
#define INSTANTIATE(T) \
  template [[host_name(#T "_read_anywhere")]] kernel decltype(read_anywhere<T>) read_anywhere<T>; \
  template [[host_name(#T "_written_anywhere")]] kernel decltype(written_anywhere<T>) written_anywhere<T>;
INSTANTIATE(bool)
INSTANTIATE(char)
INSTANTIATE(ushort)
INSTANTIATE(half)
INSTANTIATE(bfloat)
INSTANTIATE(float)
INSTANTIATE(int)
INSTANTIATE(long)
kernel void vectors_anywhere(device float4 *out, device const uint *at, constant uint &same, uint i [[thread_position_in_grid]]) {
  float4 v[3];
  half2 h[4];
  for (int k = 0; k < 3; k++) v[k] = float4(k, i, k + 10, 1);
  for (int k = 0; k < 4; k++) h[k] = half2(k, -k);
  v[at[i] % 3].z += h[at[i] % 4].x;
  v[same % 3].xw = float2(h[same % 4]);
  v[1][at[i] % 4] *= 2;
  out[i] = v[at[i] % 3] + v[same % 3];
}
struct Entry { float w; short tag; uchar more[3]; };
kernel void structs_anywhere(device int *out, device const uint *at, constant uint &same, uint i [[thread_position_in_grid]]) {
  Entry e[5];
  for (int k = 0; k < 5; k++) {
    e[k].w = k + 0.5f;
    e[k].tag = short(-k);
    for (int j = 0; j < 3; j++) e[k].more[j] = uchar(k * 3 + j);
  }
  e[at[i] % 5].tag += short(i);
  e[same % 5] = e[(at[i] + 1) % 5];
  Entry f = e[at[i] % 5];
  out[i] = int(f.w * 2) + f.tag * 10 + f.more[at[i] % 3] * 1000 + e[same % 5].more[2] * 100000;
}
kernel void two_indices(device int *out, device const uint *at, constant uint &same, uint i [[thread_position_in_grid]]) {
  int m[4][5];
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 5; c++) m[r][c] = r * 10 + c;
  m[at[i] % 4][same % 5] += 1000;
  m[same % 4][at[i] % 5] += 2000;
  out[i] = m[at[i] % 4][at[i] % 5] + m[same % 4][same % 5];
}
kernel void pointers_into_arrays(device int *out, device const uint *at, uint i [[thread_position_in_grid]]) {
  int a[4], b[4];
  for (int k = 0; k < 4; k++) a[k] = k, b[k] = 100 + k;
  thread int *p = at[i] % 2 ? a : b, *q = p + at[i] % 3;
  *q += 1000;
  q[1] -= int(i);
  out[i] = a[0] + 2 * a[1] + 4 * a[2] + 8 * a[3] + 16 * b[0] + 32 * b[1] + 64 * b[2] + 128 * b[3];
}
