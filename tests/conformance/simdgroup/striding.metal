// Rows of threads that stride through memory, and work together in simdgroups: several simdgroups may go through the
// loop side by side.
#include <metal_stdlib>
using namespace metal;

kernel void everything_among_lanes(device const int *in, device int *out, constant uint &n, uint i [[thread_position_in_grid]],
                                   uint threads [[threads_per_grid]], uint lane [[thread_index_in_simdgroup]],
                                   uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  int s = 0;
  for (uint k = i; k < n; k += threads) s += in[k];
  out[8 * i] = simd_sum(s);
  out[8 * i + 1] = simd_prefix_inclusive_sum(s);
  out[8 * i + 2] = simd_shuffle_rotate_down(s, 3);
  out[8 * i + 3] = simd_broadcast(s, 9);
  out[8 * i + 4] = popcount(uint(ulong(simd_ballot(s & 1))));
  out[8 * i + 5] = quad_sum(s);
  int odd = -1;
  if (lane & 1) odd = simd_sum(s);
  out[8 * i + 6] = odd;
  out[8 * i + 7] = lane + 100 * simdgroup;
}

kernel void votes(device const int *in, device int *out, constant uint &n, uint i [[thread_position_in_grid]],
                  uint threads [[threads_per_grid]]) {
  int s = 0;
  for (uint k = i; k < n; k += threads) s += in[k];
  bool large = s > 20;
  out[4 * i] = simd_any(s == 30);
  out[4 * i + 1] = simd_all(large);
  out[4 * i + 2] = large && simd_is_first();
  out[4 * i + 3] = simd_broadcast_first(s) * 10 + (quad_any(s == 0) ? 1 : 0);
}

kernel void row_norm(device const float *in, device float *out, constant uint &columns, uint local [[thread_index_in_threadgroup]],
                     uint row [[threadgroup_position_in_grid]], uint size [[threads_per_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float part[32];
  float squares = 0;
  for (uint c = local; c < columns; c += size) squares += in[row * columns + c] * in[row * columns + c];
  squares = simd_sum(squares);
  if (lane == 0) part[simdgroup] = squares;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  squares = simd_sum(lane < simdgroups ? part[lane] : 0.0f);
  for (uint c = local; c < columns; c += size) out[row * columns + c] = in[row * columns + c] + squares;
}
