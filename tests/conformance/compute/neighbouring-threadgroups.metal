// A row of a matrix for each threadgroup: neighbours may run together, except for the last ones of a row.
#include <metal_stdlib>
using namespace metal;

kernel void row_times_vector(device const float *a, device const float *x, device float *y, constant uint &columns, uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
  for (uint c = lane; c < columns; c += 32) sum += a[row * columns + c] * x[c];
  sum = simd_sum(sum);
  if (lane == 0) y[row] = sum;
}
// By the thread's position in the grid, in two dimensions, with a value that differs between threads.
kernel void shifted(device const float *x, device float *y, constant uint &steps, uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]], uint local [[thread_index_in_threadgroup]]) {
  float own[4] = {0, 1, 2, 3}, sum = 0;
  for (uint k = 0; k < steps; k++) sum += x[local + k] * float(at.x) + own[(at.x + k) & 3];
  y[at.y * size.x + at.x] = sum;
}
// Threadgroups that count: each its own.
kernel void tickets(device atomic_uint *taken, device const float *x, device float *y, constant uint &steps, uint group [[threadgroup_position_in_grid]], uint local [[thread_index_in_threadgroup]]) {
  float sum = 0;
  for (uint k = 0; k < steps; k++) sum += x[local + k] * float(group);
  atomic_fetch_add_explicit(&taken[group % 3], 1, memory_order_relaxed);
  if (local == 0) y[group] = sum;
}
// The same in three dimensions, where the last threadgroups in z are half as deep: nothing is written past the grid.
kernel void shifted_in_depth(device const float *x, device float *y, constant uint &steps, uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]], uint3 local [[thread_position_in_threadgroup]]) {
  float sum = 0;
  for (uint k = 0; k < steps; k++) sum += x[local.x + k] * float(at.x);
  y[at.z * size.x + at.x] = sum;
}
