// Values that are the same for all threads, seem so, or stop being so.
#include <metal_stdlib>
using namespace metal;

kernel void broadcast_as_loop_bound(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int n = simd_broadcast_first(in[i]);
  int s = 0;
  for (int k = 0; k < n; k++) s += k * in[i];
  out[i] = s;
}
kernel void bits_of_a_ballot(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  ulong mask = (simd_vote::vote_t)simd_ballot(in[i] > 2);
  int s = 0;
  while (mask) {
    ushort lane = ushort(ctz(mask));
    s = s * 3 % 10007 + simd_shuffle(in[i], lane);
    mask &= mask - 1;
  }
  out[i] = s;
}
kernel void uniform_branch_on_vote(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  if (simd_any(in[i] == 5)) out[i] = simd_max(in[i]) * 10;
  else if (simd_all(in[i] < 4)) out[i] = -1;
  else out[i] = simd_min(in[i]);
}
kernel void uniform_variable_becomes_varying(device const int *in, device int *out, constant int &n, uint i [[thread_position_in_grid]]) {
  int limit = n;
  if (in[i] % 2) limit += in[i];
  int s = 0;
  for (int k = 0; k < limit; k++) s += k;
  out[i] = s;
}
kernel void varying_in_second_iteration(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int at = 0, s = 0;
  for (int k = 0; k < 4; k++) {
    s += in[at] + k;
    at = (at + in[i]) % 40;
  }
  out[i] = s;
}
kernel void loop_exit_makes_it_varying(device uint *out, uint i [[thread_position_in_grid]]) {
  uint k = 0;
  while (true) {
    if (k * 3 > i) break;
    k++;
  }
  out[i] = k;
}
kernel void threadgroup_value_is_shared(device const int *in, device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup int n;
  if (l == 0) n = in[i] % 7;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int s = 0;
  for (int k = 0; k < n; k++) {
    s += in[(i + uint(k)) % 200];
    threadgroup_barrier(mem_flags::mem_none);
  }
  out[i] = s;
}
kernel void group_position_decides(device int *out, uint i [[thread_position_in_grid]], uint group [[threadgroup_position_in_grid]]) {
  int v = int(i);
  switch (group % 3) {
    case 0: v += simd_sum(1); break;
    case 1: return;
    default: v = -v;
  }
  out[i] = v;
}
kernel void y_is_the_same_in_a_row(device int *out, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
  int s = 0;
  for (uint k = 0; k < p.y; k++) s += int(p.x + k);
  if (p.y % 2) s = -s;
  out[p.y * n.x + p.x] = s;
}
kernel void uniform_type(device const int *in, device int *out, constant int &n, uint i [[thread_position_in_grid]]) {
  uniform<int> count = make_uniform(n);
  int s = 0;
  for (int k = 0; k < count; k++) s += in[(i + uint(k)) % 40];
  out[i] = s + count * 1000;
}
kernel void constant_table_by_lane(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const int weights[4] = {3, 1, 4, 1};
  out[i] = weights[lane & 3] * 10 + weights[i / 64 % 4];
}
kernel void nearly_uniform_address(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  uint group = i / 16;
  out[i] = in[group] + in[group + (i % 16 == 15)];
}
kernel void lane_zero_writes(device int *out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  int v = simd_sum(int(i));
  if (simd_is_first()) out[i / 32] = v;
  if (lane == 31) out[i / 32] += 1;
}
