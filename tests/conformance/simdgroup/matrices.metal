// simdgroup_matrix: 8x8 loads, stores, products.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

kernel void multiply_float(device const float *a, device const float *b, device float *c) {
  simdgroup_float8x8 x, y, z;
  simdgroup_load(x, a);
  simdgroup_load(y, b);
  simdgroup_multiply(z, x, y);
  simdgroup_store(z, c);
}
kernel void multiply_half(device const half *a, device const half *b, device half *c) {
  simdgroup_half8x8 x, y, z;
  simdgroup_load(x, a);
  simdgroup_load(y, b);
  simdgroup_multiply(z, x, y);
  simdgroup_store(z, c);
}
kernel void multiply_bfloat(device const bfloat *a, device const bfloat *b, device bfloat *c) {
  simdgroup_bfloat8x8 x, y, z;
  simdgroup_load(x, a);
  simdgroup_load(y, b);
  simdgroup_multiply(z, x, y);
  simdgroup_store(z, c);
}
kernel void half_into_float(device const half *a, device const half *b, device float *c) {
  simdgroup_half8x8 x, y;
  simdgroup_float8x8 z = make_filled_simdgroup_matrix<float, 8, 8>(0.5f);
  simdgroup_load(x, a);
  simdgroup_load(y, b);
  simdgroup_multiply_accumulate(z, x, y, z);
  simdgroup_store(z, c);
}
kernel void accumulate(device const float *a, device const float *b, device const float *c, device float *d) {
  simdgroup_matrix<float, 8, 8> x, y, z, r;
  simdgroup_load(x, a);
  simdgroup_load(y, b);
  simdgroup_load(z, c);
  simdgroup_multiply_accumulate(r, x, y, z);
  simdgroup_store(r, d);
}
kernel void strides_and_origins(device const float *a, device float *out) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 20, ulong2(3, 5));
  simdgroup_store(m, out, 12, ulong2(2, 1));
}
kernel void transposed(device const float *a, device float *out, device float *out2) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8, ulong2(0), true);
  simdgroup_store(m, out, 8);
  simdgroup_load(m, a, 8);
  simdgroup_store(m, out2, 16, ulong2(0), true);
}
kernel void through_threadgroup_memory(device const float *a, device float *out, uint l [[thread_index_in_threadgroup]]) {
  threadgroup float tile[8 * 12];
  for (uint k = l; k < 96; k += 32) tile[k] = a[k] * 2;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 m, n = simdgroup_float8x8(1.0f);
  simdgroup_load(m, tile, 12, ulong2(2, 0));
  m = m * n;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_store(m, tile, 12);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = l; k < 96; k += 32) out[k] = tile[k];
}
kernel void filled_and_diagonal(device float *out) {
  simdgroup_float8x8 m = make_filled_simdgroup_matrix<float, 8>(3.0f);
  simdgroup_float8x8 d(2.0f);
  simdgroup_float8x8 s;
  simdgroup_multiply_accumulate(s, m, d, d);
  simdgroup_store(m, out);
  simdgroup_store(d, out + 64);
  simdgroup_store(s, out + 128);
}
// What each thread holds is its own affair, but it is two elements, and all of them together are the matrix.
kernel void thread_elements_scale(device const float *a, device float *out) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a);
  m.thread_elements()[0] *= 10;
  m.thread_elements()[1] *= 10;
  simdgroup_store(m, out);
}
// Four simdgroups, each an 8x8 block of a 16x16 product of 16x24 and 24x16.
kernel void blocked_matmul(device const float *a, device const float *b, device float *c, uint warp [[simdgroup_index_in_threadgroup]]) {
  uint row = warp / 2 * 8, column = warp % 2 * 8;
  simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0);
  for (uint k = 0; k < 24; k += 8) {
    simdgroup_float8x8 x, y;
    simdgroup_load(x, a, 24, ulong2(k, row));
    simdgroup_load(y, b + k * 16 + column, 16);
    simdgroup_multiply_accumulate(sum, x, y, sum);
  }
  simdgroup_store(sum, c, 16, ulong2(column, row));
}
kernel void arrays_of_matrices(device const half *a, device float *c) {
  simdgroup_half8x8 x[2];
  simdgroup_float8x8 sums[2][2];
#pragma unroll
  for (int i = 0; i < 2; i++) simdgroup_load(x[i], a + 64 * i);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      sums[i][j] = make_filled_simdgroup_matrix<float, 8>(0.f);
      simdgroup_multiply_accumulate(sums[i][j], x[i], x[j], sums[i][j]);
      simdgroup_store(sums[i][j], c + 64 * (2 * i + j));
    }
}
