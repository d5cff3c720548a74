// Private memory: arrays indexed at run time, structs of arrays, large arrays.
#include <metal_stdlib>
using namespace metal;

kernel void dynamic_index(device const uint *order, device int *out, uint i [[thread_position_in_grid]]) {
  int values[16];
  for (int k = 0; k < 16; k++) values[k] = int(i) * 100 + k;
  out[i] = values[order[i] % 16] + values[(order[i] * 7 + 3) % 16];
}
kernel void insertion_sort(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int v[12];
  for (int k = 0; k < 12; k++) v[k] = in[12 * i + k];
  for (int k = 1; k < 12; k++) {
    int key = v[k], j = k - 1;
    while (j >= 0 && v[j] > key) {
      v[j + 1] = v[j];
      j--;
    }
    v[j + 1] = key;
  }
  for (int k = 0; k < 12; k++) out[12 * i + k] = v[k];
}
kernel void explicit_stack(device const uchar *tree, device uint *out, uint i [[thread_position_in_grid]]) {
  uint stack[32], top = 0, sum = 0;
  stack[top++] = 1 + i % 3;
  while (top > 0) {
    uint node = stack[--top];
    if (node >= 64) continue;
    sum += tree[node];
    if ((node + i) % 4 != 0) stack[top++] = 2 * node;
    stack[top++] = 2 * node + 1;
  }
  out[i] = sum;
}
struct Lanes { float x[8]; uchar flags[8]; int count; };
static void push(thread Lanes &l, float v) {
  l.x[l.count] = v;
  l.flags[l.count] = uchar(l.count & 1);
  l.count++;
}
kernel void struct_of_arrays(device float *out, uint i [[thread_position_in_grid]]) {
  Lanes l;
  l.count = 0;
  for (uint k = 0; k <= i % 8; k++) push(l, float(i + k));
  float sum = 0;
  for (int k = 0; k < l.count; k++) sum += l.flags[k] ? -l.x[k] : l.x[k];
  out[i] = sum * 10 + l.count;
}
kernel void two_dimensions(device int *out, uint i [[thread_position_in_grid]]) {
  int m[6][7];
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 7; c++) m[r][c] = r * 10 + c + int(i);
  int s = 0;
  for (int d = 0; d < 6; d++) s += m[(d + i) % 6][(d * 2 + i) % 7];
  out[i] = s;
}
kernel void private_vectors(device const uint *index, device float4 *out, uint i [[thread_position_in_grid]]) {
  float4 v[5];
  for (int k = 0; k < 5; k++) v[k] = float4(k, k + 1, k + 2, i);
  v[index[i] % 5].y = -1;
  v[(index[i] + 1) % 5][index[i] % 4] += 100;
  out[i] = v[index[i] % 5] + v[(index[i] + 1) % 5];
}
kernel void small_types(device const uchar *in, device uint *out, uint i [[thread_position_in_grid]]) {
  uchar bytes[32];
  half halves[8];
  bool seen[16] = {};
  for (int k = 0; k < 32; k++) bytes[k] = in[(i * 5 + k) % 64];
  for (int k = 0; k < 8; k++) halves[k] = half(bytes[k * 4]) * 0.5h;
  uint distinct = 0;
  for (int k = 0; k < 32; k++) {
    if (!seen[bytes[k] % 16]) distinct++;
    seen[bytes[k] % 16] = true;
  }
  out[i] = distinct * 1000 + uint(halves[bytes[0] % 8]);
}
// 100 KB for each thread.
kernel void large_array(device uint *out, uint i [[thread_position_in_grid]]) {
  uint big[25600];
  for (uint k = 0; k < 25600; k++) big[k] = k ^ i;
  uint sum = 0;
  for (uint k = 0; k < 25600; k += 97) sum += big[(k * 31 + i) % 25600];
  out[i] = sum;
}
kernel void large_array_across_barrier(device uint *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  uint big[4096];
  threadgroup uint shared[64];
  for (uint k = 0; k < 4096; k++) big[k] = k + i;
  shared[l] = big[l * 17];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = big[(l * 31 + 5) % 4096] + shared[(l + 1) % 16] * 10000;
}
kernel void pointer_into_array(device int *out, uint i [[thread_position_in_grid]]) {
  int a[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int b[8] = {10, 11, 12, 13, 14, 15, 16, 17};
  thread int *p = i % 2 ? a : b;
  p += i % 4;
  *p = 99;
  p[1] *= 2;
  int s = 0;
  for (int k = 0; k < 8; k++) s += a[k] * (k + 1) + b[k];
  out[i] = s;
}
kernel void copies_of_arrays(device int *out, uint i [[thread_position_in_grid]]) {
  struct Box { int v[4]; } a = {{1, 2, 3, 4}}, b;
  b = a;
  b.v[i % 4] = 50;
  Box c = i % 2 ? a : b;
  out[i] = c.v[0] + c.v[1] * 2 + c.v[2] * 3 + c.v[3] * 4 + a.v[i % 4] * 1000;
}
kernel void uninitialised_then_written(device int *out, uint i [[thread_position_in_grid]]) {
  int v[4], total;
  if (i % 2) total = 1;
  else total = 2;
  for (int k = 0; k < 4; k++)
    if (k >= int(i % 4)) v[k] = k * 10;
  out[i] = total + v[3];
}
// A thread that writes outside of its array changes no other thread's. Programs rely on it (loops that begin below zero).
kernel void outside_of_the_array(device int *out, uint i [[thread_position_in_grid]],
                                 uint l [[thread_position_in_threadgroup]]) {
  int v[8] = {0}, n = 44 - int(l) * 8;
  for (int k = 0; k < min(n, 8); k++) v[k] = int(i) + 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int k = n; k < 8; k++) v[k] = -1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int s = 0;
  for (int k = 0; k < 8; k++) s += v[k];
  out[i] = s;
}
