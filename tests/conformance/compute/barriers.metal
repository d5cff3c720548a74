// Threadgroup memory and barriers.
#include <metal_stdlib>
using namespace metal;

kernel void reverse_in_group(device const int *in, device int *out, uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]],
                             uint size [[threads_per_threadgroup]]) {
  threadgroup int shared[256];
  shared[l] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[size - 1 - l];
}
kernel void barrier_after_early_return(device int *out, constant uint &n, uint i [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]],
                                       uint group [[threadgroup_position_in_grid]], uint width [[dispatch_threads_per_threadgroup]]) {
  threadgroup int shared[256];
  if (i >= n) return;
  shared[l] = int(i) * 2;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint count = min(width, n - group * width);
  out[i] = shared[(l + 1) % count];
}
kernel void barrier_in_loop(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int values[256];
  values[l] = int(l);
  for (int k = 0; k < 5; k++) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int next = values[(l + 1) % size] + 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    values[l] = next;
  }
  out[i] = values[l];
}
kernel void barrier_in_uniform_branch(device int *out, constant int &mode, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                                      uint size [[threads_per_threadgroup]]) {
  threadgroup int values[256];
  values[l] = int(i);
  if (mode > 0) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = values[size - 1 - l];
  } else {
    out[i] = -values[l];
  }
  if (mode > 1) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    values[l] = out[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = values[0] * 1000;
  }
}
static void exchange(threadgroup float *a, uint l, uint size, thread float &v) {
  a[l] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  v = a[(l ^ 1) < size ? l ^ 1 : l];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
kernel void barrier_in_helper(device float *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup float a[256];
  float v = float(i);
  exchange(a, l, size, v);
  v += 0.5f;
  exchange(a, l, size, v);
  out[i] = v;
}
kernel void values_live_across_barriers(device const float4 *in, device float4 *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup float scratch[256];
  float4 v = in[i];
  float mine[6];
  for (int k = 0; k < 6; k++) mine[k] = v.x * float(k);
  scratch[l] = v.w;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float first = scratch[0];
  threadgroup_barrier(mem_flags::mem_none);
  out[i] = v.wzyx + float4(first, mine[5], mine[int(l) % 6], 0);
}
kernel void group_sum_tree(device const float *in, device float *out, constant uint &n, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                           uint group [[threadgroup_position_in_grid]]) {
  threadgroup float partial[128];
  partial[l] = i < n ? in[i] : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 64; stride > 0; stride /= 2) {
    if (l < stride) partial[l] += partial[l + stride];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (l == 0) out[group] = partial[0];
}
kernel void group_max_and_index(device const int *in, device int2 *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                                uint group [[threadgroup_position_in_grid]], uint size [[threads_per_threadgroup]]) {
  threadgroup int2 best[64];
  best[l] = int2(in[i], int(i));
  for (uint stride = 32; stride > 0; stride >>= 1) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l < stride && l + stride < size) {
      int2 other = best[l + stride];
      if (other.x > best[l].x || (other.x == best[l].x && other.y < best[l].y)) best[l] = other;
    }
  }
  if (l == 0) out[group] = best[0];
}
// Hillis and Steele.
kernel void inclusive_scan(device const int *in, device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                           uint size [[threads_per_threadgroup]]) {
  threadgroup int buffer[2][128];
  int from = 0;
  buffer[0][l] = in[i];
  for (uint distance = 1; distance < size; distance *= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int v = buffer[from][l];
    if (l >= distance) v += buffer[from][l - distance];
    buffer[1 - from][l] = v;
    from = 1 - from;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = buffer[from][l];
}
// Blelloch.
kernel void exclusive_scan_work_efficient(device const uint *in, device uint *out, device uint *totals, uint l [[thread_index_in_threadgroup]],
                                          uint group [[threadgroup_position_in_grid]]) {
  threadgroup uint t[128];
  device const uint *source = in + 128 * group;
  t[2 * l] = source[2 * l];
  t[2 * l + 1] = source[2 * l + 1];
  uint offset = 1;
  for (uint d = 64; d > 0; d >>= 1) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l < d) t[offset * (2 * l + 2) - 1] += t[offset * (2 * l + 1) - 1];
    offset *= 2;
  }
  if (l == 0) {
    totals[group] = t[127];
    t[127] = 0;
  }
  for (uint d = 1; d < 128; d *= 2) {
    offset >>= 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l < d) {
      uint a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1;
      uint v = t[a];
      t[a] = t[b];
      t[b] += v;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[128 * group + 2 * l] = t[2 * l];
  out[128 * group + 2 * l + 1] = t[2 * l + 1];
}
kernel void transpose_tile(device const float *in, device float *out, constant uint2 &size, uint2 l [[thread_position_in_threadgroup]],
                           uint2 group [[threadgroup_position_in_grid]]) {
  threadgroup float tile[8][8 + 1];
  uint2 p = group * 8 + l;
  if (p.x < size.x && p.y < size.y) tile[l.y][l.x] = in[p.y * size.x + p.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  p = group.yx * 8 + l;
  if (p.x < size.y && p.y < size.x) out[p.y * size.y + p.x] = tile[l.x][l.y];
}
kernel void bitonic_sort(device int *values, uint l [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]], uint size [[threads_per_threadgroup]]) {
  threadgroup int shared[256];
  device int *mine = values + group * 2 * size;
  shared[l] = mine[l];
  shared[l + size] = mine[l + size];
  for (uint k = 2; k <= 2 * size; k *= 2)
    for (uint j = k / 2; j > 0; j /= 2) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      uint a = 2 * l - (l & (j - 1)), b = a + j;
      bool up = (a & k) == 0;
      int x = shared[a], y = shared[b];
      if ((x > y) == up) shared[a] = y, shared[b] = x;
    }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  mine[l] = shared[l];
  mine[l + size] = shared[l + size];
}
// Memory whose size the host sets: two arguments and a variable next to each other.
kernel void threadgroup_arguments(device const float *in, device float *out, threadgroup float *a [[threadgroup(0)]], threadgroup uint *b [[threadgroup(1)]],
                                  uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup float own[64];
  a[l] = in[i];
  b[l] = l * 100;
  own[l] = -in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint r = size - 1 - l;
  out[i] = a[r] + float(b[r]) + own[r] * 0.5f;
}
kernel void threadgroup_argument_implicit(device uint *out, threadgroup uint *a, threadgroup uint4 *b, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  a[l] = i;
  b[l] = uint4(i, i + 1, i + 2, i + 3);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = a[l ^ 1] * 1000 + b[l ^ 2].w;
}
struct Cell { float weight; int2 at; uchar flag; };
kernel void threadgroup_structs(device float *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup Cell cells[40];
  threadgroup Cell best;
  cells[l].weight = float(i) * 0.5f;
  cells[l].at = int2(int(i), -int(i));
  cells[l].flag = uchar(l);
  if (l == 3) best = cells[l];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  Cell c = cells[(l + 1) % size];
  out[i] = c.weight + c.at.x + c.flag * 100 + best.at.y;
}
kernel void threadgroup_scalar(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  threadgroup int chosen;
  threadgroup float4 vector;
  threadgroup half halves[3];
  if (l == 0) {
    chosen = int(group) * 7;
    vector = float4(1, 2, 3, 4);
  }
  if (l < 3) halves[l] = half(l) + 0.5h;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = chosen + int(vector.z) + int(halves[2] * 2);
}
kernel void threadgroup_atomics(device uint *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint bins[8];
  threadgroup atomic_int lowest;
  if (l < 8) atomic_store_explicit(&bins[l], 0u, memory_order_relaxed);
  if (l == 0) atomic_store_explicit(&lowest, 1000000, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&bins[i % 8], i, memory_order_relaxed);
  atomic_fetch_min_explicit(&lowest, int(i * 7919 % 1000), memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l < 8) out[group * 9 + l] = atomic_load_explicit(&bins[l], memory_order_relaxed);
  if (l == 8) out[group * 9 + 8] = uint(atomic_load_explicit(&lowest, memory_order_relaxed));
}
kernel void device_memory_between_barriers(device int *data, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  uint first = i - l;
  for (int step = 0; step < 3; step++) {
    int v = data[first + (l + 1) % size];
    threadgroup_barrier(mem_flags::mem_device);
    data[i] = v * 2;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  }
}
kernel void barriers_3d(device uint *out, uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]], uint3 l [[thread_position_in_threadgroup]],
                        uint3 size [[threads_per_threadgroup]], uint flat [[thread_index_in_threadgroup]]) {
  threadgroup uint cube[256];
  cube[flat] = p.x + 100 * p.y + 10000 * p.z;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint3 q = size - 1 - l;
  out[(p.z * n.y + p.y) * n.x + p.x] = cube[(q.z * size.y + q.y) * size.x + q.x];
}
kernel void large_threadgroup_memory(device uint *out, uint l [[thread_index_in_threadgroup]]) {
  threadgroup uint big[8192];
  for (uint k = l; k < 8192; k += 64) big[k] = k * 3;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint sum = 0;
  for (uint k = 0; k < 128; k++) sum += big[l * 128 + k];
  out[l] = sum;
}
kernel void too_much_threadgroup_memory(device uint *out, threadgroup uint *more [[threadgroup(0)]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup uint big[8000];
  big[l] = l;
  more[l] = l;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[l] = big[63 - l] + more[l];
}
// A barrier that only some simdgroups need is still reached by all threads, here after loops of unequal length.
kernel void unequal_work_before_barrier(device uint *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup uint done[256];
  uint sum = 0;
  for (uint k = 0; k < l * 3; k++) {
    if (k % 5 == 4) continue;
    sum += k;
  }
  done[l] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = done[size - 1 - l];
}
kernel void barrier_with_partial_returns_inside_loop(device uint *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint alive;
  if (l == 0) atomic_store_explicit(&alive, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint round = 0; round < 4; round++) {
    if (l % 4 == 3 - round) {
      out[i] = round;
      return;
    }
    atomic_fetch_add_explicit(&alive, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l == 0) out[i] = atomic_load_explicit(&alive, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
