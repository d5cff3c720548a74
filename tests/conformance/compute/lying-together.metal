// Indices that increase with gaps within a small window: pairs of a sorting network, three of four, all but some.
#include <metal_stdlib>
using namespace metal;

kernel void swap_pairs(device const uint *in, device uint *out, constant uint &distance, uint i [[thread_position_in_grid]]) {
  uint low = i & (distance - 1), k = (i - low) * 2 + low;
  out[k] = in[k + distance];
  out[k + distance] = in[k];
}
kernel void swap_some(device const float *in, device float *out, constant uint &distance, uint i [[thread_position_in_grid]]) {
  uint low = i & (distance - 1), k = (i - low) * 2 + low;
  float a = in[k], b = in[k + distance];
  if ((uint(a) & 3) != 1) {
    out[k] = b;
    out[k + distance] = a;
  }
}
kernel void three_of_four(device const int *in, device int *out, device int *back, uint i [[thread_position_in_grid]]) {
  int k = int(i) / 3 * 4 + int(i) % 3;
  out[k] = in[i];
  back[i] = in[k];
}
// Not in order, or too far apart, for some of the groups of lanes.
kernel void bent(device const uint *in, device uint *out, constant uint &mask, constant uint &stride, uint i [[thread_position_in_grid]]) {
  out[i] = in[(i ^ mask) + (i & 15) * stride];
}
kernel void behind_a_gap(device const uint *in, device uint *out, constant uint &edge, constant uint &gap, uint i [[thread_position_in_grid]]) {
  uint k = i + (i >= edge ? gap : 0);
  out[k] = in[k] * 2;
}
// The index of inactive threads wraps around.
kernel void from_below(device const uint *in, device uint *out, constant uint &start, uint i [[thread_position_in_grid]]) {
  uint k = (i & ~1u) * 2 + (i & 1) - start;
  if (int(k) >= 0) out[i] = in[k];
}
