// Vector and matrix kernels as people write them.
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant float &a [[buffer(2)]], constant uint &n [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
  if (i >= n) return;
  y[i] = a * x[i] + y[i];
}
kernel void saxpy_vec4(device const float4 *x [[buffer(0)]], device float4 *y [[buffer(1)]], constant float &a [[buffer(2)]], constant uint &n [[buffer(3)]],
                       uint i [[thread_position_in_grid]]) {
  if (4 * i + 3 < n) {
    y[i] = a * x[i] + y[i];
  } else {
    device const float *xs = (device const float *)x;
    device float *ys = (device float *)y;
    for (uint k = 4 * i; k < n; k++) ys[k] = a * xs[k] + ys[k];
  }
}
struct Sizes { uint m, n, k; };
kernel void matmul_naive(device const float *a, device const float *b, device float *c, constant Sizes &s, uint2 p [[thread_position_in_grid]]) {
  if (p.x >= s.n || p.y >= s.m) return;
  float sum = 0;
  for (uint k = 0; k < s.k; k++) sum += a[p.y * s.k + k] * b[k * s.n + p.x];
  c[p.y * s.n + p.x] = sum;
}
// 16x16 tiles, 8x8 threads with 2x2 elements each, float4 loads where they fit.
constant constexpr uint TILE = 16;
kernel void matmul_tiled(device const float *a, device const float *b, device float *c, constant Sizes &s, uint2 l [[thread_position_in_threadgroup]],
                         uint2 group [[threadgroup_position_in_grid]]) {
  threadgroup float as[TILE][TILE], bs[TILE][TILE];
  uint row0 = group.y * TILE, column0 = group.x * TILE, flat = l.y * 8 + l.x;
  float sum[2][2] = {{0, 0}, {0, 0}};
  for (uint k0 = 0; k0 < s.k; k0 += TILE) {
    uint r = flat / 4, q = flat % 4 * 4;
    float4 va = 0, vb = 0;
    uint row = row0 + r, k = k0 + q;
    if (row < s.m) {
      if (k + 3 < s.k && s.k % 4 == 0) va = *(device const float4 *)(a + row * s.k + k);
      else for (uint e = 0; e < 4; e++) if (k + e < s.k) va[e] = a[row * s.k + k + e];
    }
    for (uint e = 0; e < 4; e++) if (k0 + r < s.k && column0 + q + e < s.n) vb[e] = b[(k0 + r) * s.n + column0 + q + e];
    for (uint e = 0; e < 4; e++) as[r][q + e] = va[e], bs[r][q + e] = vb[e];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint e = 0; e < TILE; e++)
      for (uint y = 0; y < 2; y++)
        for (uint x = 0; x < 2; x++) sum[y][x] += as[l.y * 2 + y][e] * bs[e][l.x * 2 + x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (uint y = 0; y < 2; y++)
    for (uint x = 0; x < 2; x++) {
      uint row = row0 + l.y * 2 + y, column = column0 + l.x * 2 + x;
      if (row < s.m && column < s.n) c[row * s.n + column] = sum[y][x];
    }
}
kernel void matvec(device const float *matrix, device const float *vector, device float *out, constant uint2 &size, uint row [[threadgroup_position_in_grid]],
                   uint l [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]], uint warp [[simdgroup_index_in_threadgroup]],
                   uint threads [[threads_per_threadgroup]]) {
  threadgroup float partial[32];
  float sum = 0;
  for (uint k = l; k < size.x; k += threads) sum += matrix[row * size.x + k] * vector[k];
  sum = simd_sum(sum);
  if (lane == 0) partial[warp] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l == 0) {
    float total = 0;
    for (uint w = 0; w < (threads + 31) / 32; w++) total += partial[w];
    out[row] = total;
  }
}
kernel void matvec_half(device const half4 *matrix, device const half4 *vector, device float *out, constant uint &quads, uint row [[thread_position_in_grid]]) {
  float4 sum = 0;
  for (uint k = 0; k < quads; k++) sum += float4(matrix[row * quads + k]) * float4(vector[k]);
  out[row] = sum.x + sum.y + sum.z + sum.w;
}
kernel void transpose(device const float *in, device float *out, constant uint2 &size, uint2 p [[thread_position_in_grid]]) {
  if (p.x < size.x && p.y < size.y) out[p.x * size.y + p.y] = in[p.y * size.x + p.x];
}
kernel void dot_product(device const float *a, device const float *b, device atomic_float *out, constant uint &n, uint i [[thread_position_in_grid]],
                        uint threads [[threads_per_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
  for (uint k = i; k < n; k += threads) sum = fma(a[k], b[k], sum);
  sum = simd_sum(sum);
  if (lane == 0) atomic_fetch_add_explicit(out, sum, memory_order_relaxed);
}
kernel void matmul_simdgroup(device const float *a, device const float *b, device float *c, constant Sizes &s, uint2 group [[threadgroup_position_in_grid]]) {
  simdgroup_float8x8 x, y, sum(0.0f);
  sum = make_filled_simdgroup_matrix<float, 8, 8>(0);
  for (uint k = 0; k < s.k; k += 8) {
    simdgroup_load(x, a + group.y * 8 * s.k + k, s.k);
    simdgroup_load(y, b + k * s.n + group.x * 8, s.n);
    simdgroup_multiply_accumulate(sum, x, y, sum);
  }
  simdgroup_store(sum, c + group.y * 8 * s.n + group.x * 8, s.n);
}
