// Threads of a plane whose loops share values that do not depend on their row.
#include <metal_stdlib>
using namespace metal;

#define PLANE device const float *a, device const float *b, device float *c, constant uint &n, uint2 p [[thread_position_in_grid]], uint2 l [[thread_position_in_threadgroup]], uint2 size [[threads_per_threadgroup]]
#define WAIT threadgroup_barrier(mem_flags::mem_threadgroup)

kernel void product(PLANE) {
  float s = 0;
  for (uint k = 0; k < n; k++) s += a[p.y * n + k] * b[k * n + p.x];
  c[p.y * n + p.x] = s;
}
kernel void product_with_guard(PLANE) {
  if (p.x >= n || p.y >= n) return;
  float s = 0;
  for (uint k = 0; k < n; k++) s += a[p.y * n + k] * b[k * n + p.x];
  c[p.y * n + p.x] = s;
}
kernel void product_where_columns_end(PLANE) {
  if (p.x % 3 == 1) return;
  float s = 0, t = 0;
  for (uint k = 0; k < n; k++) {
    if (k % 4 == p.x % 4) continue;
    s += a[p.y * n + k] * b[k * n + p.x];
    t += b[k * n + p.x];
  }
  c[p.y * n + p.x] = s + 1000 * t;
}
kernel void product_by_tiles(PLANE) {
  threadgroup float ta[16 * 16], tb[16 * 16];
  float s = 0;
  for (uint k = 0; k < n; k += 16) {
    for (uint y = l.y; y < 16; y += size.y)
      for (uint x = l.x; x < 16; x += size.x) tb[y * 16 + x] = b[(k + y) * n + p.x - l.x + x];
    for (uint x = l.x; x < 16; x += size.x) ta[l.y * 16 + x] = a[p.y * n + k + x];
    WAIT;
    for (uint j = 0; j < 16; j++) s += ta[l.y * 16 + j] * tb[j * 16 + l.x];
    WAIT;
  }
  c[p.y * n + p.x] = s;
}
kernel void product_by_small_tiles(PLANE) {
  threadgroup float ta[8 * 8], tb[8 * 8];
  float s = 0;
  for (uint k = 0; k < n; k += 8) {
    ta[l.y * 8 + l.x] = a[p.y * n + k + l.x];
    tb[l.y * 8 + l.x] = b[(k + l.y) * n + p.x];
    WAIT;
    for (uint j = 0; j < 8; j++) s += ta[l.y * 8 + j] * tb[j * 8 + l.x];
    WAIT;
  }
  c[p.y * n + p.x] = s;
}
// Reads back what the thread itself wrote, in the loop that shares.
kernel void sums_in_memory(PLANE) {
  float s = 0;
  c[p.y * n + p.x] = 0;
  for (uint k = 0; k < n; k++) {
    s += b[k * n + p.x];
    c[p.y * n + p.x] += a[p.y * n + k] * b[k * n + p.x] + s * 0;
  }
}
kernel void private_sums(PLANE) {
  float sums[4] = {};
  for (uint k = 0; k < n; k++) sums[(k + p.y) % 4] += a[p.y * n + k] * b[k * n + p.x];
  float s = 0;
  for (uint k = 0; k < 4; k++) s += sums[k] * float(k + 1);
  c[p.y * n + p.x] = s;
}
kernel void filtered(PLANE) {
  float s = 0, least = 1e9f;
  for (uint k = 0; k < 5; k++)
    for (uint j = 0; j < 5; j++) {
      float v = a[(p.y + k) % n * n + (p.x + j) % n] * b[k * 5 + j + p.x % 2];
      s += v;
      least = min(least, v);
    }
  c[p.y * n + p.x] = s * 16 + least;
}
kernel void counted(PLANE, device atomic_uint *count) {
  float s = 0;
  for (uint k = 0; k < n; k++) {
    s += a[p.y * n + k] * b[k * n + p.x];
    atomic_fetch_add_explicit(&count[k % 4], 1, memory_order_relaxed);
  }
  c[p.y * n + p.x] = s;
}
// The same place for all rows: all write the same.
kernel void one_for_all_rows(PLANE, device float *columns) {
  float s = 0, t = 0;
  for (uint k = 0; k < n; k++) {
    t += b[k * n + p.x];
    s += a[p.y * n + k] * b[k * n + p.x];
  }
  columns[p.x] = t;
  c[p.y * n + p.x] = s;
}
kernel void five_sums(PLANE) {
  float s[5] = {};
  for (uint k = 0; k < n; k++) {
    float v = a[p.y * n + k], w = b[k * n + p.x];
    s[0] += v * w, s[1] += v, s[2] += w, s[3] = max(s[3], v * w), s[4] += v * v;
  }
  c[p.y * n + p.x] = s[0] + 2 * s[1] + 3 * s[2] + 4 * s[3] + 5 * s[4];
}
