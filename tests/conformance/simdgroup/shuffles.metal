// Shuffles, broadcasts and votes.
#include <metal_stdlib>
using namespace metal;

#define MOVES(T) \
  kernel void shuffle_##T(device const T *in, device T *out, device const ushort *from, uint i [[thread_position_in_grid]]) { out[i] = simd_shuffle(in[i], from[i]); } \
  kernel void shuffle_xor_##T(device const T *in, device T *out, constant ushort &m, uint i [[thread_position_in_grid]]) { out[i] = simd_shuffle_xor(in[i], m); } \
  kernel void shuffle_up_##T(device const T *in, device T *out, constant ushort &d, uint i [[thread_position_in_grid]]) { out[i] = simd_shuffle_up(in[i], d); } \
  kernel void shuffle_down_##T(device const T *in, device T *out, constant ushort &d, uint i [[thread_position_in_grid]]) { out[i] = simd_shuffle_down(in[i], d); } \
  kernel void rotate_up_##T(device const T *in, device T *out, constant ushort &d, uint i [[thread_position_in_grid]]) { out[i] = simd_shuffle_rotate_up(in[i], d); } \
  kernel void rotate_down_##T(device const T *in, device T *out, constant ushort &d, uint i [[thread_position_in_grid]]) { out[i] = simd_shuffle_rotate_down(in[i], d); } \
  kernel void broadcast_##T(device const T *in, device T *out, constant ushort &lane, uint i [[thread_position_in_grid]]) { out[i] = simd_broadcast(in[i], lane); } \
  kernel void broadcast_first_##T(device const T *in, device T *out, uint i [[thread_position_in_grid]]) { out[i] = simd_broadcast_first(in[i]); }
MOVES(float) MOVES(half) MOVES(int) MOVES(ushort) MOVES(char) MOVES(float4) MOVES(uchar2)

kernel void fill_up(device const float *in, device const float *filling, device float *out, constant ushort &d, uint i [[thread_position_in_grid]]) {
  out[i] = simd_shuffle_and_fill_up(in[i], filling[i], d);
}
kernel void fill_down(device const float *in, device const float *filling, device float *out, constant ushort &d, uint i [[thread_position_in_grid]]) {
  out[i] = simd_shuffle_and_fill_down(in[i], filling[i], d);
}
kernel void fill_up_modulo(device const int *in, device const int *filling, device int *out, constant ushort &d, uint i [[thread_position_in_grid]]) {
  out[i] = simd_shuffle_and_fill_up(in[i], filling[i], d, ushort(8));
}
kernel void fill_down_modulo(device const int *in, device const int *filling, device int *out, constant ushort &d, uint i [[thread_position_in_grid]]) {
  out[i] = simd_shuffle_and_fill_down(in[i], filling[i], d, ushort(8));
}
kernel void shuffle_64_bits(device const long *in, device long *out, device ulong2 *pairs, uint i [[thread_position_in_grid]]) {
  out[i] = simd_shuffle_xor(in[i], ushort(3));
  pairs[i] = simd_shuffle_xor(ulong2(in[i], i), ushort(1));
}
kernel void shuffle_bools(device uchar *out, uint i [[thread_position_in_grid]]) { out[i] = simd_shuffle_xor(i % 3 == 0, ushort(2)); }

kernel void votes(device const int *in, device uint *ballots, device uchar *all_any, device ulong *masks, uint i [[thread_position_in_grid]]) {
  simd_vote v = simd_ballot(in[i] > 0);
  ballots[i] = uint((simd_vote::vote_t)v);
  all_any[4 * i] = simd_all(in[i] > -100);
  all_any[4 * i + 1] = simd_any(in[i] > 100);
  all_any[4 * i + 2] = simd_is_first();
  all_any[4 * i + 3] = v.any();
  masks[i] = (simd_vote::vote_t)simd_active_threads_mask();
}
kernel void butterfly_sum(device const float *in, device float *out, uint i [[thread_position_in_grid]]) {
  float v = in[i];
  for (ushort m = 16; m > 0; m >>= 1) v += simd_shuffle_xor(v, m);
  out[i] = v;
}
kernel void tree_sum_down(device const int *in, device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  int v = in[i];
  for (ushort d = 16; d > 0; d /= 2) v += simd_shuffle_down(v, d);
  if (lane == 0) out[i / 32] = v;
}
kernel void scan_by_shuffles(device const int *in, device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  int v = in[i];
  for (ushort d = 1; d < 32; d *= 2) {
    int other = simd_shuffle_up(v, d);
    if (lane >= d) v += other;
  }
  out[i] = v;
}
kernel void simdgroup_barriers(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup int shared[256];
  shared[l] = int(i);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  int v = shared[l - lane];
  simdgroup_barrier(mem_flags::mem_none);
  shared[l] = v * 2;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[l - lane] + int(lane);
}
// One sum per simdgroup, then the first simdgroup adds those up.
kernel void group_sum_two_levels(device const float *in, device float *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                                 uint warp [[simdgroup_index_in_threadgroup]], uint warps [[simdgroups_per_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
  threadgroup float partial[32];
  float sum = simd_sum(in[i]);
  if (lane == 0) partial[warp] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (warp == 0) {
    float v = lane < warps ? partial[lane] : 0;
    v = simd_sum(v);
    if (lane == 0) out[g] = v;
  }
}
