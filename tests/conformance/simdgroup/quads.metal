// The same among the four threads of a quadgroup.
#include <metal_stdlib>
using namespace metal;

#define QUAD(name, T) \
  kernel void name##_##T(device const T *in, device T *out, uint i [[thread_position_in_grid]]) { out[i] = name(in[i]); }
QUAD(quad_sum, float) QUAD(quad_product, int) QUAD(quad_min, half) QUAD(quad_max, short) QUAD(quad_and, uint) QUAD(quad_or, uchar) QUAD(quad_xor, ushort)
QUAD(quad_prefix_inclusive_sum, int) QUAD(quad_prefix_exclusive_sum, float) QUAD(quad_prefix_inclusive_product, half) QUAD(quad_prefix_exclusive_product, uint)
QUAD(quad_sum, int2) QUAD(quad_broadcast_first, float)

#define QUAD_MOVE(name, T) \
  kernel void name##_##T(device const T *in, device T *out, constant ushort &arg, uint i [[thread_position_in_grid]]) { out[i] = name(in[i], arg); }
QUAD_MOVE(quad_shuffle, float) QUAD_MOVE(quad_shuffle_xor, int) QUAD_MOVE(quad_shuffle_up, half) QUAD_MOVE(quad_shuffle_down, uchar)
QUAD_MOVE(quad_shuffle_rotate_up, int) QUAD_MOVE(quad_shuffle_rotate_down, float) QUAD_MOVE(quad_broadcast, ushort) QUAD_MOVE(quad_shuffle_xor, float3)

kernel void quad_fill(device const int *in, device const int *filling, device int *up, device int *down, constant ushort &d, uint i [[thread_position_in_grid]]) {
  up[i] = quad_shuffle_and_fill_up(in[i], filling[i], d);
  down[i] = quad_shuffle_and_fill_down(in[i], filling[i], d);
}
kernel void quad_votes(device uint *out, uint i [[thread_position_in_grid]]) {
  out[5 * i] = uint((quad_vote::vote_t)quad_ballot(i % 3 == 0));
  out[5 * i + 1] = quad_all(i % 8 < 4);
  out[5 * i + 2] = quad_any(i % 5 == 0);
  out[5 * i + 3] = quad_is_first();
  out[5 * i + 4] = uint((quad_vote::vote_t)quad_active_threads_mask());
}
kernel void quad_divergence(device int *out, uint i [[thread_position_in_grid]], uint q [[thread_index_in_quadgroup]]) {
  int r = 0;
  for (uint k = 0; k < q; k++) r += quad_sum(1);
  if (q % 2) r += 100 * quad_sum(int(q));
  else r += 1000 * int(quad_broadcast_first(q) + 1) * quad_is_first();
  out[i] = r;
}
kernel void quad_and_simd(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int q = quad_sum(in[i]);
  out[i] = simd_sum(q) + quad_max(simd_prefix_exclusive_sum(1));
}
