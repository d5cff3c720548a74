// Variables that are constructed or filled with zeros: before any thread writes to them.
#include <metal_stdlib>
using namespace metal;

struct Complex {
  float re, im;
  constexpr Complex() thread : re(0), im(0) {}
  constexpr Complex() threadgroup : re(0), im(0) {}
};
struct Preset { float value = 3; uint count = 4; };

kernel void constructed(device float *out [[buffer(0)]], uint lid [[thread_position_in_threadgroup]],
                        uint n [[threads_per_threadgroup]], uint i [[thread_position_in_grid]]) {
  threadgroup Complex all[256];
  all[lid].re = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < n; k++) sum += all[k].re;
  out[i] = sum;
}
kernel void preset(device float *out [[buffer(0)]], uint lid [[thread_position_in_threadgroup]],
                   uint i [[thread_position_in_grid]]) {
  threadgroup Preset all[96];
  if (lid % 2) all[lid].value = 5;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = all[95 - lid].value + 10 * all[lid].count;
}
kernel void zeros(device float *out [[buffer(0)]], uint lid [[thread_position_in_threadgroup]],
                  uint i [[thread_position_in_grid]]) {
  threadgroup float all[96] = {0}, more[96] = {};
  if (lid % 2) all[lid] = 1;
  else more[lid] = 2;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = all[95 - lid] + more[95 - lid];
}
