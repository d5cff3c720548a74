// Barriers in every position, and the values that threads keep while they wait.
#include <metal_stdlib>
using namespace metal;

#define WAIT threadgroup_barrier(mem_flags::mem_threadgroup)

kernel void first_and_last(device int *out, uint i [[thread_position_in_grid]]) {
  WAIT;
  out[i] = int(i) * 3;
  WAIT;
}
kernel void nothing_else(device int *out) { WAIT; }
kernel void several_in_a_row(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int t[257];
  int mine = int(i) * 7;
  WAIT;
  WAIT;
  t[l] = mine;
  WAIT;
  WAIT;
  WAIT;
  out[i] = t[size - 1 - l] - mine;
}
// 24 barriers one after the other: the value goes from thread to thread.
kernel void handed_on(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int t[257];
  t[l] = int(l);
  for (int k = 0; k < 12; k++) {
    WAIT;
    int v = t[(l + 1) % size];
    WAIT;
    t[l] = v + k;
  }
  out[i] = t[l];
}

// ---- What is kept ----

template <typename T> kernel void kept(device const T *in, device T *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                                       uint size [[threads_per_threadgroup]]) {
  threadgroup T t[257];
  T mine = in[i];
  t[l] = mine;
  WAIT;
  T other = t[size - 1 - l];
  WAIT;
  t[l] = other;
  WAIT;
  out[2 * i] = mine;
  out[2 * i + 1] = t[size - 1 - l] == mine ? other : mine;
}
#define INSTANTIATE(T) template [[host_name("kept_" #T)]] kernel decltype(kept<T>) kept<T>;
INSTANTIATE(bool)
INSTANTIATE(char)
INSTANTIATE(ushort)
INSTANTIATE(half)
INSTANTIATE(bfloat)
INSTANTIATE(float)
INSTANTIATE(uint)
INSTANTIATE(long)
template <typename T, int N> kernel void kept_vector(device const vec<T, N> *in, device vec<T, N> *out, uint i [[thread_position_in_grid]],
                                                     uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup vec<T, N> t[257];
  vec<T, N> mine = in[i];
  t[l] = mine;
  WAIT;
  vec<T, N> other = t[size - 1 - l];
  WAIT;
  t[l] = other;
  WAIT;
  out[2 * i] = mine;
  out[2 * i + 1] = all(t[size - 1 - l] == mine) ? other : mine;
}
#define VECTOR(T, N) template [[host_name("kept_" #T #N)]] kernel decltype(kept_vector<T, N>) kept_vector<T, N>;
VECTOR(char, 4)
VECTOR(half, 4)
VECTOR(float, 2)
VECTOR(float, 4)
VECTOR(long, 2)

struct Mixed { bool flag; char c; half h; float4 v; short3 s; long n; };
kernel void kept_struct(device float *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup Mixed t[257];
  Mixed m;
  m.flag = i % 3 == 0;
  m.c = char(i % 100);
  m.h = half(i % 64) * 0.5h;
  m.v = float4(i, i + 1, i + 2, i + 3);
  m.s = short3(i, 2 * i, 3 * i);
  m.n = long(i) * 5000000000;
  t[l] = m;
  WAIT;
  Mixed o = t[size - 1 - l];
  WAIT;
  out[i] = (m.flag ? 1 : 0) + 2 * m.c + float(m.h) + m.v.z + m.s.y + float(m.n / 5000000000) + 1000 * (o.flag ? 1 : 0) + o.v.w + o.c + o.s.z;
}
kernel void kept_conditions(device int *out, device const int *in, uint i [[thread_position_in_grid]]) {
  bool a = in[i] > 10, b = in[i] % 2 == 0, c = a && !b;
  bool4 d = bool4(a, b, c, a != b);
  WAIT;
  int s = a ? 1 : 0;
  if (b) s += 10;
  WAIT;
  if (c) s += 100;
  if (any(d)) s += 1000;
  if (d.w) s += 10000;
  out[i] = s;
}
kernel void kept_pointers(device const int *a, device const int *b, device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                          uint size [[threads_per_threadgroup]]) {
  threadgroup int t[257], u[257];
  device const int *p = i % 3 ? a + i : b;
  threadgroup int *q = l % 2 ? t + l : u + l;
  t[l] = int(l);
  u[l] = -int(l);
  WAIT;
  *q += p[0];
  WAIT;
  out[i] = t[size - 1 - l] + u[size - 1 - l] * 1000 + *p;
}
// The array is only reached through the pointer afterwards.
kernel void kept_private_pointer(device int *out, constant uint &n, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup int t[257];
  int a[40], b[40];
  for (uint k = 0; k < n; k++) a[k] = int(k * l), b[k] = -int(k);
  thread int *p = (l & 1 ? a : b) + 3;
  t[l] = *p;
  WAIT;
  p[1] += t[0];
  WAIT;
  out[i] = *p + p[1];
}
kernel void kept_private_array(device int *out, constant uint &n, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int t[257];
  int a[16];
  for (uint k = 0; k < n; k++) a[(k * 5 + l) % 16] = int(k);
  t[l] = a[l % 16];
  WAIT;
  a[3] = t[(l + 1) % size] + 100;
  WAIT;
  int s = 0;
  for (uint k = 0; k < n; k++) s = s * 2 % 65521 + a[k];
  out[i] = s;
}
kernel void kept_private_vectors(device float *out, device const uint *at, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup float t[257];
  float4 a[3];
  half h[5];
  for (int k = 0; k < 3; k++) a[k] = float4(k, k + i, 2, 3);
  for (int k = 0; k < 5; k++) h[k] = half(k);
  t[l] = a[at[i] % 3].y;
  WAIT;
  a[at[i] % 3] += t[l];
  h[at[i] % 5] = half(l);
  WAIT;
  out[i] = a[(at[i] + 1) % 3].y + a[at[i] % 3].x * 10 + h[2] + h[at[i] % 5];
}
// Both are exchanged in every round.
kernel void kept_in_exchange(device int *out, constant int &rounds, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int t[257];
  int a = int(i), b = -int(i);
  for (int k = 0; k < rounds; k++) {
    t[l] = a;
    WAIT;
    int c = a;
    a = b + 1;
    b = c + t[size - 1 - l];
    WAIT;
  }
  out[2 * i] = a;
  out[2 * i + 1] = b;
}

// ---- Loops and branches ----

kernel void in_nested_loops(device int *out, constant uint2 &n, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int t[257];
  int s = int(l);
  for (uint a = 0; a < n.x; a++) {
    t[l] = s;
    WAIT;
    for (uint b = 0; b < n.y; b++) {
      int v = t[(l + 1) % size];
      WAIT;
      t[l] = v + 1;
      WAIT;
    }
    s = t[l] + int(a);
    WAIT;
  }
  out[i] = s;
}
kernel void until_one_is_found(device const int *in, device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint first [[threadgroup_position_in_grid]]) {
  threadgroup int found;
  if (l == 0) found = 0;
  WAIT;
  int round = 0;
  while (true) {
    if (in[i] == round) found = 1;
    WAIT;
    if (found) break;
    WAIT;
    round++;
  }
  out[i] = round;
}
kernel void rounds_by_each_thread(device const uint *rounds, device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int t[257];
  t[l] = int(l);
  int s = 0;
  for (uint k = 0; k < rounds[i]; k++) {
    WAIT;
    s += t[(l + k) % size];
  }
  out[i] = s;
}
kernel void in_a_switch(device int *out, constant int &way, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int t[257];
  int kept = int(i) + 5;
  switch (way) {
    case 0: t[l] = int(l); WAIT; kept += t[size - 1 - l]; break;
    case 1: kept *= 2; break;
    case 2: t[l] = kept; WAIT;
    case 3: WAIT; kept = -kept; break;
    default: t[l] = 1; WAIT; WAIT; return;
  }
  WAIT;
  out[i] = kept;
}
static int together(threadgroup int *t, int v, uint l, uint size) {
  t[l] = v;
  WAIT;
  int r = t[(l + 1) % size];
  WAIT;
  return r;
}
kernel void in_a_function_called_often(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int t[257], u[257];
  int a = together(t, int(i), l, size), b = together(u, -int(i), l, size), c = together(t, a + b + 1, l, size);
  out[i] = a * 10 + c;
}
kernel void unequal_work_between(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int t[257];
  int s = 0;
  for (int round = 0; round < 3; round++) {
    int v = int(l) + round, steps = 0;
    while (v != 1 && steps < 20) {
      v = v % 2 ? 3 * v + 1 : v / 2;
      if (v <= 0) break;
      steps++;
    }
    t[l] = steps;
    WAIT;
    if (l % 4 == 1) s += t[size - 1 - l];
    WAIT;
  }
  out[i] = s;
}

// ---- Threads that have left ----

kernel void after_the_last_left(device int *out, constant uint &n, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup int t[257];
  if (i >= n) return;
  t[l] = int(i);
  WAIT;
  if (l % 2 == 0 && i + 1 < n) t[l] += 1000;
  WAIT;
  out[i] = t[l ^ (l % 2)];
}
kernel void every_third_leaves(device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup int t[257];
  t[l] = 7;
  if (i % 3 == 1) return;
  for (int k = 0; k < 4; k++) {
    WAIT;
    int v = t[(l + 3) % size];
    WAIT;
    t[l] = v + 1;
  }
  out[i] = t[l] > 7 ? 1 : 0;
}
kernel void whole_simdgroups_leave(device int *out, constant uint &rounds, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  threadgroup atomic_int here;
  if (l == 0) atomic_store_explicit(&here, 0, memory_order_relaxed);
  WAIT;
  for (uint k = 0; k < rounds; k++) {
    if (l / 32 == k) {
      out[i] = -int(k);
      return;
    }
    atomic_fetch_add_explicit(&here, 1, memory_order_relaxed);
    WAIT;
    int n = atomic_load_explicit(&here, memory_order_relaxed);
    WAIT;
    out[i] = n;
  }
}
// One lane is missing in one group of lanes, so that it runs other code than the other groups.
kernel void beside_atomics(device atomic_uint *count, device uint *out, constant uint &rounds, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  if (l == 40) return;
  uint seen = 0;
  for (uint k = 0; k < rounds; k++) {
    atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_device);
    seen = seen * 3 + atomic_load_explicit(count, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_device);
  }
  out[i] = seen;
}
kernel void beside_vectors(device const float4 *in, device float *out, constant uint &rounds, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                           uint size [[threads_per_threadgroup]]) {
  threadgroup float t[257];
  if (l == size - 2 && size > 2) {
    t[l] = 0;
    return;
  }
  float s = 0;
  for (uint k = 0; k < rounds; k++) {
    float4 v = in[i];
    t[l] = s + v.x + v.y + v.z + v.w;
    WAIT;
    s = t[(l + 1) % size] + 1;
    WAIT;
  }
  out[i] = s;
}
kernel void with_lane_operations(device const int *in, device int *out, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]],
                                 uint warp [[simdgroup_index_in_threadgroup]], uint warps [[simdgroups_per_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup int t[32];
  for (int k = 0; k < 3; k++) {
    int s = simd_sum(in[i] + k);
    if (lane == 0) t[warp] = s;
    WAIT;
    int total = 0;
    for (uint w = 0; w < warps; w++) total += t[w];
    WAIT;
    out[3 * i + k] = total + simd_prefix_exclusive_sum(in[i]);
  }
}
kernel void in_three_dimensions(device uint *out, uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]], uint3 l [[thread_position_in_threadgroup]],
                                uint3 size [[threads_per_threadgroup]], uint flat [[thread_index_in_threadgroup]]) {
  threadgroup uint t[512];
  uint mine = p.x + 100 * p.y + 10000 * p.z, sum = 0;
  for (int k = 0; k < 3; k++) {
    t[flat] = mine * 2 + k;
    WAIT;
    uint3 q = l;
    q[k] = size[k] - 1 - q[k];
    sum += t[(q.z * size.y + q.y) * size.x + q.x];
    WAIT;
  }
  out[(p.z * n.y + p.y) * n.x + p.x] = sum - mine;
}
