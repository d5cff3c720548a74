// Barriers in unusual but legal places.
#include <metal_stdlib>
using namespace metal;

kernel void double_buffer(device const float *in, device float *out, constant uint &rounds, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                          uint size [[threads_per_threadgroup]]) {
  threadgroup float a[256], b[256];
  threadgroup float *from = a, *to = b;
  from[l] = in[i];
  for (uint r = 0; r < rounds; r++) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    to[l] = from[(l + 1) % size] + 1;
    threadgroup float *t = from;
    from = to;
    to = t;
  }
  out[i] = from[l];
}
kernel void barrier_in_uniform_switch(device int *out, constant int *modes, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int s[256];
  int v = int(l);
  for (int k = 0; k < 4; k++) {
    s[l] = v;
    switch (modes[k]) {
      case 0:
        threadgroup_barrier(mem_flags::mem_threadgroup);
        v = s[(l + 1) % size];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        break;
      case 1: v *= 2; break;
      case 2:
        threadgroup_barrier(mem_flags::mem_threadgroup);
        v += s[0];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        break;
      default: continue;
    }
    v += 1;
  }
  out[i] = v;
}
kernel void barriers_in_nested_uniform_loops(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]],
                                             uint group [[threadgroup_position_in_grid]]) {
  threadgroup int s[256];
  int v = int(l);
  for (uint a = 0; a < 2 + group % 3; a++) {
    for (uint b = 0; b <= a; b++) {
      s[l] = v;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (a == 2 && b == 1) {
        v = -1;
        break;
      }
      v = s[(l + b + 1) % size] + int(a);
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (v == -1) break;
  }
  out[i] = v;
}
kernel void many_barriers(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int s[256];
  int v = int(l);
#define STEP(n) s[l] = v; threadgroup_barrier(mem_flags::mem_threadgroup); v = s[(l + n) % size]; threadgroup_barrier(mem_flags::mem_threadgroup);
  STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10)
  out[i] = v;
}
kernel void conditional_work_between_barriers(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int s[256];
  s[l] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l % 2 == 0 && l + 1 < size) s[l] += s[l + 1];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l % 4 == 0) {
    for (uint k = 2; k < 4; k += 2)
      if (l + k < size) s[l] += s[l + k];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = s[l / 4 * 4];
}
kernel void data_dependent_but_uniform(device const uint *in, device uint *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup atomic_uint changed;
  threadgroup uint v[256];
  v[l] = in[i];
  uint rounds = 0;
  while (true) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l == 0) atomic_store_explicit(&changed, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint best = v[l];
    if (l > 0) best = min(best, v[l - 1]);
    if (l + 1 < size) best = min(best, v[l + 1]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (best != v[l]) {
      v[l] = best;
      atomic_store_explicit(&changed, 1u, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (atomic_load_explicit(&changed, memory_order_relaxed) == 0) break;
    rounds++;
  }
  out[i] = v[l];
}
kernel void two_tiles_in_turn(device const int *in, device int *out, constant uint &n, uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int tile[64];
  int sum = 0;
  for (uint first = 0; first < n; first += 64) {
    for (uint k = l; k < 64; k += size) tile[k] = first + k < n ? in[first + k] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 64; k++) sum += tile[(k + l) % 64] * (tile[k] > 5 ? 1 : 0);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[l] = sum;
}
template <typename T, uint N> struct Shared {
  T values[N];
  T total;
};
kernel void template_struct(device float *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup Shared<float, 64> s;
  s.values[l] = float(l) * 0.5f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l == 0) {
    float t = 0;
    for (uint k = 0; k < size; k++) t += s.values[k];
    s.total = t;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = s.total - s.values[l];
}
kernel void bytes_and_halves(device uchar *out, device half *h, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup uchar bytes[256];
  threadgroup half halves[256];
  threadgroup bool flags[256];
  bytes[l] = uchar(l * 3);
  halves[l] = half(l) * 0.5h;
  flags[l] = l % 3 == 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint r = size - 1 - l;
  out[i] = flags[r] ? bytes[r] : uchar(255);
  h[i] = halves[r];
}
kernel void three_dimensional_array(device int *out, uint3 l [[thread_position_in_threadgroup]], uint flat [[thread_index_in_threadgroup]]) {
  threadgroup int cube[4][3][5];
  cube[l.z][l.y][l.x] = int(flat);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[flat] = cube[3 - l.z][2 - l.y][4 - l.x] + cube[l.z][0][0] * 100;
}
