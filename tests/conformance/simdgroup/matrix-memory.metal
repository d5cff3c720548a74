// simdgroup matrices in and out of memory and registers: every type, stride and direction, between products and barriers.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

template <typename T> kernel void moved(device const T *in, device T *out, constant uint4 &how, uint warp [[simdgroup_index_in_threadgroup]]) {
  simdgroup_matrix<T, 8, 8> m;
  simdgroup_load(m, in + warp * 64, how.x, ulong2(how.y, how.z));
  simdgroup_store(m, out + warp * 400, how.w);
}
template <typename T> kernel void moved_transposed(device const T *in, device T *out, constant uint4 &how) {
  simdgroup_matrix<T, 8, 8> m, n;
  simdgroup_load(m, in, how.x, ulong2(how.y, how.z), true);
  simdgroup_store(m, out, how.w);
  simdgroup_load(n, in, how.x, ulong2(how.y, how.z));
  simdgroup_store(n, out + 200, how.w, ulong2(1, 2), true);
}
template <typename T> kernel void through_threadgroup(device const T *in, device T *out, uint l [[thread_index_in_threadgroup]], uint warp [[simdgroup_index_in_threadgroup]],
                                                      uint threads [[threads_per_threadgroup]]) {
  threadgroup T tile[16 * 19];
  for (uint k = l; k < 16 * 19; k += threads) tile[k] = in[k];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_matrix<T, 8, 8> m, n;
  simdgroup_load(m, tile + 3, 19, ulong2(8 * warp, 0));
  simdgroup_load(n, tile, 19, ulong2(8 * warp, 8), true);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_store(n, tile + 1, 19, ulong2(8 * warp, 0));
  simdgroup_store(m, tile, 19, ulong2(8 * warp, 8), true);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = l; k < 16 * 19; k += threads) out[k] = tile[k];
}
template <typename T> kernel void elements_between(device const T *a, device const T *b, device T *out) {
  simdgroup_matrix<T, 8, 8> x, y, z;
  simdgroup_load(x, a, 8);
  simdgroup_load(y, b, 8);
  simdgroup_multiply(z, x, y);
  z.thread_elements()[0] = z.thread_elements()[0] * T(2) + x.thread_elements()[0];
  z.thread_elements()[1] = z.thread_elements()[1] * T(2) + x.thread_elements()[1];
  simdgroup_store(z, out, 8);
  simdgroup_multiply(x, z, y);
  x.thread_elements()[0] -= T(1);
  simdgroup_store(x, out + 64, 8);
}
#define INSTANTIATE(T) \
  template [[host_name("moved_" #T)]] kernel decltype(moved<T>) moved<T>; \
  template [[host_name("moved_transposed_" #T)]] kernel decltype(moved_transposed<T>) moved_transposed<T>; \
  template [[host_name("through_threadgroup_" #T)]] kernel decltype(through_threadgroup<T>) through_threadgroup<T>; \
  template [[host_name("elements_between_" #T)]] kernel decltype(elements_between<T>) elements_between<T>;
INSTANTIATE(float)
INSTANTIATE(half)
INSTANTIATE(bfloat)

// Which element of the matrix each lane holds: its own number goes in, the matrix says where.
kernel void lanes_to_matrix(device float *out, device uint *places, uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m;
  m.thread_elements()[0] = 2 * lane;
  m.thread_elements()[1] = 2 * lane + 1;
  simdgroup_store(m, out, 8);
  simdgroup_barrier(mem_flags::mem_device);
  simdgroup_float8x8 n;
  simdgroup_load(n, out, 8);
  places[2 * lane] = uint(n.thread_elements()[0]);
  places[2 * lane + 1] = uint(n.thread_elements()[1]);
}
kernel void lane_values_meet_matrices(device const float *in, device float *out, uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m, n(2.0f);
  simdgroup_load(m, in, 8);
  float own = m.thread_elements()[0] - m.thread_elements()[1] + float(lane) * 0;
  float sum = simd_sum(m.thread_elements()[0] + m.thread_elements()[1]);
  simdgroup_multiply(m, m, n);
  m.thread_elements()[0] += sum;
  m.thread_elements()[1] += own + 1 + sum;
  simdgroup_store(m, out, 8);
}
// Rows of 24 times columns of 16, four blocks for each simdgroup, with a barrier in every round.
kernel void accumulated_over_barriers(device const half *a, device const half *b, device float *c, constant uint &depth, uint l [[thread_index_in_threadgroup]],
                                      uint warp [[simdgroup_index_in_threadgroup]], uint threads [[threads_per_threadgroup]]) {
  threadgroup half ta[16 * 8], tb[8 * 16];
  simdgroup_float8x8 sums[2][2];
  for (int r = 0; r < 2; r++)
    for (int s = 0; s < 2; s++) sums[r][s] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (uint k = 0; k < depth; k += 8) {
    for (uint e = l; e < 128; e += threads) ta[e] = a[e / 8 * depth + k + e % 8], tb[e] = b[(k + e / 16) * 16 + e % 16];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_half8x8 x[2], y[2];
    for (int r = 0; r < 2; r++) simdgroup_load(x[r], ta + 64 * r, 8);
    for (int s = 0; s < 2; s++) simdgroup_load(y[s], tb + 8 * s, 16);
    for (int r = 0; r < 2; r++)
      for (int s = 0; s < 2; s++) simdgroup_multiply_accumulate(sums[r][s], x[r], y[s], sums[r][s]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (warp == 0)
    for (int r = 0; r < 2; r++)
      for (int s = 0; s < 2; s++) simdgroup_store(sums[r][s], c + 128 * r + 8 * s, 16);
}
kernel void powers(device const float *a, device float *out, constant uint &n) {
  simdgroup_float8x8 m, p(1.0f);
  simdgroup_load(m, a, 8);
  for (uint k = 0; k < n; k++) simdgroup_multiply(p, p, m);
  simdgroup_store(p, out, 8);
}
// Two chains that exchange their matrices in every round; the branch is the same for all lanes.
kernel void exchanged_in_loop(device const float *a, device float *out, constant uint &n) {
  simdgroup_float8x8 p, q;
  simdgroup_load(p, a, 8);
  simdgroup_load(q, a + 64, 8);
  for (uint k = 0; k < n; k++) {
    simdgroup_float8x8 r = q;
    if (k % 3 == 2) {
      simdgroup_multiply(q, p, q);
    } else {
      q = p;
    }
    p = r;
  }
  simdgroup_store(p, out, 8);
  simdgroup_store(q, out + 64, 8);
}
kernel void kept_over_barrier(device const float *a, device float *out, uint l [[thread_index_in_threadgroup]], uint warp [[simdgroup_index_in_threadgroup]]) {
  threadgroup float t[256];
  simdgroup_float8x8 m, n;
  simdgroup_load(m, a + 64 * warp, 8);
  simdgroup_multiply(n, m, m);
  t[l] = float(l);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float other = t[l ^ 33];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  n.thread_elements()[0] += m.thread_elements()[0] + other * 0;
  n.thread_elements()[1] += m.thread_elements()[1] + 1;
  simdgroup_store(n, out + 64 * warp, 8, ulong2(0), warp % 2 == 1);
}
kernel void only_one_simdgroup(device const float *a, device float *out, uint warp [[simdgroup_index_in_threadgroup]]) {
  if (warp != 1) return;
  simdgroup_float8x8 m, n;
  simdgroup_load(m, a, 8);
  simdgroup_load(n, a, 8, ulong2(0), true);
  simdgroup_multiply(m, m, n);
  simdgroup_store(m, out, 8);
}
