// Stencils, particles, pictures, histograms, scans, sorting.
#include <metal_stdlib>
using namespace metal;

kernel void stencil_7_point(device const float *in, device float *out, constant uint3 &n, constant float &alpha, uint3 p [[thread_position_in_grid]]) {
  if (any(p >= n)) return;
  uint at = (p.z * n.y + p.y) * n.x + p.x;
  if (any(p == 0u) || any(p == n - 1)) {
    out[at] = in[at];
    return;
  }
  float c = in[at];
  out[at] = c + alpha * (in[at - 1] + in[at + 1] + in[at - n.x] + in[at + n.x] + in[at - n.x * n.y] + in[at + n.x * n.y] - 6 * c);
}
kernel void stencil_shared(device const float *in, device float *out, constant uint &n, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                           uint size [[threads_per_threadgroup]]) {
  threadgroup float tile[258];
  tile[l + 1] = in[i];
  if (l == 0) tile[0] = i > 0 ? in[i - 1] : 0;
  if (l == size - 1) tile[size + 1] = i + 1 < n ? in[i + 1] : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = (tile[l] + 2 * tile[l + 1] + tile[l + 2]) * 0.25f;
}
struct Body { float4 position; float4 velocity; };  // position.w is the mass
kernel void nbody_step(device const Body *bodies, device Body *next, constant uint &n, constant float &dt, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                       uint size [[threads_per_threadgroup]]) {
  threadgroup float4 tile[64];
  float3 mine = i < n ? bodies[i].position.xyz : float3(0), force = 0;
  for (uint first = 0; first < n; first += size) {
    tile[l] = first + l < n ? bodies[first + l].position : float4(0);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < min(size, n - first); k++) {
      float3 d = tile[k].xyz - mine;
      float r2 = dot(d, d) + 0.01f;
      force += d * (tile[k].w * rsqrt(r2) / r2);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (i >= n) return;
  Body b = bodies[i];
  b.velocity.xyz += force * dt;
  b.position.xyz += b.velocity.xyz * dt;
  next[i] = b;
}
kernel void mandelbrot(device uint *out, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
  float2 c = float2(p) / float2(n) * float2(3, 2) - float2(2, 1), z = 0;
  uint k = 0;
  for (; k < 100 && z.x * z.x + z.y * z.y < 4; k++) z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
  out[p.y * n.x + p.x] = k;
}
kernel void histogram(device const uchar *data, device atomic_uint *bins, constant uint &n, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                      uint size [[threads_per_threadgroup]], uint threads [[threads_per_grid]]) {
  threadgroup atomic_uint local[256];
  for (uint k = l; k < 256; k += size) atomic_store_explicit(&local[k], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = i; k < n; k += threads) atomic_fetch_add_explicit(&local[data[k]], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = l; k < 256; k += size) {
    uint v = atomic_load_explicit(&local[k], memory_order_relaxed);
    if (v) atomic_fetch_add_explicit(&bins[k], v, memory_order_relaxed);
  }
}
// Exclusive scan of each group through simdgroups.
kernel void exclusive_scan(device const uint *in, device uint *out, device uint *totals, constant uint &n, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                           uint lane [[thread_index_in_simdgroup]], uint warp [[simdgroup_index_in_threadgroup]], uint warps [[simdgroups_per_threadgroup]],
                           uint group [[threadgroup_position_in_grid]]) {
  threadgroup uint sums[32];
  uint v = i < n ? in[i] : 0;
  uint before = simd_prefix_exclusive_sum(v);
  if (lane == 31) sums[warp] = before + v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (warp == 0) {
    uint s = lane < warps ? sums[lane] : 0;
    uint offset = simd_prefix_exclusive_sum(s);
    if (lane < warps) sums[lane] = offset;
    if (lane == warps - 1) totals[group] = offset + s;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < n) out[i] = before + sums[warp];
}
kernel void add_offsets(device uint *data, device const uint *totals, constant uint &n, uint i [[thread_position_in_grid]], uint group [[threadgroup_position_in_grid]]) {
  uint offset = 0;
  for (uint g = 0; g < group; g++) offset += totals[g];
  if (i < n) data[i] += offset;
}
kernel void radix_digit_count(device const uint *keys, device uint *counts, constant uint2 &shift_and_n, uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]],
                              uint group [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]]) {
  threadgroup atomic_uint local[16];
  if (l < 16) atomic_store_explicit(&local[l], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint per = (shift_and_n.y + groups - 1) / groups;
  for (uint k = group * per + l; k < min((group + 1) * per, shift_and_n.y); k += size)
    atomic_fetch_add_explicit(&local[keys[k] >> shift_and_n.x & 15], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l < 16) counts[l * groups + group] = atomic_load_explicit(&local[l], memory_order_relaxed);
}
kernel void game_of_life(device const uchar *in, device uchar *out, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
  int alive = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx || dy) alive += in[(p.y + n.y + dy) % n.y * n.x + (p.x + n.x + dx) % n.x];
  uchar me = in[p.y * n.x + p.x];
  out[p.y * n.x + p.x] = alive == 3 || (me && alive == 2);
}
kernel void odd_even_sort_step(device int *values, constant uint &phase, constant uint &n, uint i [[thread_position_in_grid]]) {
  uint a = 2 * i + phase, b = a + 1;
  if (b < n && values[a] > values[b]) {
    int t = values[a];
    values[a] = values[b];
    values[b] = t;
  }
}
// A 32-bit xorshift per thread and a Monte Carlo count.
kernel void monte_carlo(device uint *out, uint i [[thread_position_in_grid]]) {
  uint s = i * 747796405u + 2891336453u, inside = 0;
  for (int k = 0; k < 200; k++) {
    s ^= s << 13, s ^= s >> 17, s ^= s << 5;
    uint x = s >> 16, y = s & 0xffff;
    if (x * x / 4 + y * y / 4 < 0x40000000u) inside++;
  }
  out[i] = inside;
}
kernel void sha_like_mix(device const uint *in, device uint *out, uint i [[thread_position_in_grid]]) {
  uint w[16], a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
  for (int t = 0; t < 16; t++) w[t] = in[16 * i + t];
  for (int t = 0; t < 64; t++) {
    uint x = w[t & 15], s0 = rotate(x, 25u) ^ rotate(x, 14u) ^ (x >> 3);
    w[t & 15] += s0 + w[(t + 9) & 15];
    uint e = d + w[t & 15] + ((a & b) ^ (~a & c)) + rotate(a, 26u);
    d = c, c = b, b = rotate(a, 30u), a = e;
  }
  out[2 * i] = a ^ c;
  out[2 * i + 1] = b + d;
}
kernel void convolve_3x3(device const float *in, device float *out, constant float *weights, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
  float sum = 0;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++) {
      int2 q = clamp(int2(p) + int2(x, y), int2(0), int2(n) - 1);
      sum += weights[(y + 1) * 3 + x + 1] * in[q.y * int(n.x) + q.x];
    }
  out[p.y * n.x + p.x] = sum;
}
