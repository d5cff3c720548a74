// Lane operations under divergence: only active lanes take part.
#include <metal_stdlib>
using namespace metal;

kernel void sum_in_if(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  if (i % 3 == 0) out[i] = simd_sum(in[i]);
  else out[i] = -simd_max(in[i]);
}
kernel void sum_after_if(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int v = in[i];
  if (v % 2) v *= 10;
  else if (v % 3) v += simd_sum(1);
  out[i] = simd_sum(v);
}
kernel void nested_ifs(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  int r = 0;
  if (lane % 2 == 0) {
    r = simd_sum(1);
    if (lane % 4 == 0) r += 100 * simd_sum(1);
    r += 10000 * int(simd_broadcast_first(lane));
  } else {
    r = -simd_sum(1);
    if (lane > 20) r -= 1000 * int(simd_broadcast_first(lane));
  }
  out[i] = r + simd_sum(1) * 1000000;
}
kernel void ballot_in_if(device uint *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  out[i] = 0;
  if (lane >= 5 && lane < 25) {
    out[i] = uint((simd_vote::vote_t)simd_ballot(lane % 2 == 1));
    if (lane % 3 == 0) out[i] |= uint((simd_vote::vote_t)simd_active_threads_mask()) & 0x1000u ? 0x80000000u : 0;
  }
}
kernel void loops_of_different_length(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  int total = 0;
  for (uint k = 0; k < lane % 7; k++) total += simd_sum(1);
  out[i] = total;
}
kernel void loop_with_break(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  int total = 0;
  for (uint k = 0; k < 40; k++) {
    if (k == lane) break;
    if (k % 3 == lane % 3) continue;
    total += simd_sum(1);
  }
  out[i] = total + 1000 * simd_sum(1);
}
kernel void nested_loops(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  int total = 0;
  for (uint a = 0; a < lane % 4; a++)
    for (uint b = 0; b <= lane % 3; b++) total = total * 3 % 1009 + simd_sum(1);
  out[i] = total;
}
kernel void after_return(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  out[i] = -1;
  if (lane % 4 == 1) return;
  out[i] = simd_sum(int(lane));
  if (lane > 15) return;
  out[i] += 1000 * simd_sum(1);
}
kernel void tail_lanes_return(device const int *in, device int *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  if (i >= n) return;
  out[i] = simd_sum(in[i]) * 100 + simd_prefix_exclusive_sum(1);
}
kernel void prefix_in_if(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  if (lane % 5 < 2) out[i] = simd_prefix_exclusive_sum(1);
  else out[i] = 100 + simd_prefix_inclusive_sum(int(lane));
}
kernel void switch_cases(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  switch (in[i] % 4) {
    case 0: out[i] = simd_sum(1); break;
    case 1: out[i] = 100 + simd_sum(2);
    case 2: out[i] += 1000 * simd_sum(1); break;
    default: out[i] = simd_max(in[i]);
  }
}
kernel void shuffle_among_active(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  out[i] = -1;
  if (lane & 1) out[i] = simd_shuffle_xor(int(lane), ushort(2)) + 100 * simd_shuffle(int(lane), ushort(7));
  else out[i] = simd_shuffle_xor(int(lane), ushort(6));
}
kernel void first_of_the_active(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  int rounds = 0;
  bool waiting = true;
  while (waiting) {
    uint chosen = simd_broadcast_first(lane % 6);
    if (chosen == lane % 6) {
      out[i] = rounds * 100 + simd_sum(1);
      waiting = false;
    }
    rounds++;
  }
}
kernel void loop_until_all_done(device const uint *in, device uint *out, uint i [[thread_position_in_grid]]) {
  uint v = in[i], rounds = 0;
  while (simd_any(v > 1)) {
    if (v > 1) v = v % 2 ? 3 * v + 1 : v / 2;
    rounds++;
  }
  out[i] = rounds;
}
#if __METAL_VERSION__ >= 320
kernel void helper_called_divergently(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  auto combine = [](int v) { return simd_sum(v) - simd_min(v); };
  out[i] = in[i] > 0 ? combine(in[i]) : combine(-in[i]) + 1000;
}
#endif
kernel void short_circuit_votes(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  bool both = in[i] > 2 && simd_all(in[i] % 2 == 0);
  bool either = in[i] < 0 || simd_any(in[i] == 7);
  out[i] = both * 2 + either;
}
kernel void one_lane_at_a_time(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  for (uint k = 0; k < 32; k++)
    if (k == lane) out[i] = simd_sum(int(lane) + 1) * 100 + simd_is_first() * 10 + simd_prefix_exclusive_sum(5);
}
kernel void barrier_then_lane_ops(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup int sums[8];
  int odd = 0;
  if (lane % 2) odd = simd_sum(int(lane));
  if (lane == 1) sums[l / 32] = odd;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int total = 0;
  for (uint w = 0; w < 4; w++) total += sums[w];
  out[i] = total + simd_sum(lane < 4 ? 1 : 0);
}
// Not what MSL wants, but barriers of GPUs count simdgroups, wherever these wait, and MLX's kernels of Metal 4 rely on it.
kernel void barriers_in_copies_of_a_loop(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]], uint g [[simdgroup_index_in_threadgroup]]) {
  threadgroup int box[4];
  int total = 0;
  if (g % 2) {
    for (int k = 0; k < 5; k++) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (lane == 0) box[g] = 10 * k + int(g);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (int s = 0; s < 4; s++) total -= box[s];
    }
  } else {
    for (int k = 0; k < 5; k++) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (lane == 0) box[g] = 10 * k + int(g);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (int s = 0; s < 4; s++) total += box[s];
    }
  }
  out[i] = simd_max(total);
}
