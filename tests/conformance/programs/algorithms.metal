// Algorithms with irregular control flow and memory access.
#include <metal_stdlib>
using namespace metal;

kernel void fft_64(device const float2 *in, device float2 *out, uint l [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  threadgroup float2 x[64];
  for (uint k = l; k < 64; k += 32) x[reverse_bits(k) >> 26] = in[64 * group + k];
  for (uint half_size = 1; half_size < 64; half_size *= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint j = l % half_size, at = 2 * (l - j) + j;
    float angle = -M_PI_F * float(j) / float(half_size);
    float2 w = float2(cos(angle), sin(angle)), a = x[at], b = x[at + half_size];
    float2 wb = float2(w.x * b.x - w.y * b.y, w.x * b.y + w.y * b.x);
    x[at] = a + wb;
    x[at + half_size] = a - wb;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = l; k < 64; k += 32) out[64 * group + k] = x[k];
}
// Keeps positive values, in order, within each simdgroup's range.
kernel void compaction(device const int *in, device int *out, device uint *counts, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  bool keep = in[i] > 0;
  uint place = simd_prefix_exclusive_sum(uint(keep));
  uint base = i - lane;
  if (keep) out[base + place] = in[i];
  uint total = simd_sum(uint(keep));
  if (lane == 0) counts[i / 32] = total;
}
kernel void kmeans_assign(device const packed_float2 *points, constant packed_float2 *centres, device uint *nearest, constant uint &k, uint i [[thread_position_in_grid]]) {
  float best = INFINITY;
  uint at = 0;
  for (uint c = 0; c < k; c++) {
    float2 d = float2(points[i]) - float2(centres[c]);
    float r = dot(d, d);
    if (r < best) best = r, at = c;
  }
  nearest[i] = at;
}
// One 4x4 system per thread, Gauss-Jordan with pivoting.
kernel void invert_4x4(device const float *in, device float *out, uint i [[thread_position_in_grid]]) {
  float m[4][8];
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 4; c++) m[r][c] = in[16 * i + 4 * r + c], m[r][c + 4] = r == c;
  for (int p = 0; p < 4; p++) {
    int pivot = p;
    for (int r = p + 1; r < 4; r++)
      if (fabs(m[r][p]) > fabs(m[pivot][p])) pivot = r;
    for (int c = 0; c < 8; c++) {
      float t = m[p][c];
      m[p][c] = m[pivot][c];
      m[pivot][c] = t;
    }
    float inverse = 1 / m[p][p];
    for (int c = 0; c < 8; c++) m[p][c] *= inverse;
    for (int r = 0; r < 4; r++) {
      if (r == p) continue;
      float f = m[r][p];
      for (int c = 0; c < 8; c++) m[r][c] -= f * m[p][c];
    }
  }
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 4; c++) out[16 * i + 4 * r + c] = m[r][c + 4];
}
kernel void sparse_matvec(device const uint *rows, device const uint *columns, device const float *values, device const float *x, device float *y, uint i [[thread_position_in_grid]]) {
  float s = 0;
  for (uint k = rows[i]; k < rows[i + 1]; k++) s += values[k] * x[columns[k]];
  y[i] = s;
}
kernel void crc32(device const uchar *data, device uint *out, constant uint &length, uint i [[thread_position_in_grid]]) {
  uint crc = 0xffffffff;
  for (uint k = 0; k < length - i % 4; k++) {
    crc ^= data[i * length + k];
    for (int b = 0; b < 8; b++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
  }
  out[i] = ~crc;
}
kernel void edit_distance(device const char *words, device uint *out, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
  device const char *a = words + 8 * p.x, *b = words + 8 * p.y;
  uint row[9];
  for (uint k = 0; k < 9; k++) row[k] = k;
  uint la = 0, lb = 0;
  while (la < 8 && a[la]) la++;
  while (lb < 8 && b[lb]) lb++;
  for (uint x = 0; x < la; x++) {
    uint diagonal = row[0];
    row[0] = x + 1;
    for (uint y = 0; y < lb; y++) {
      uint t = row[y + 1];
      row[y + 1] = min3(diagonal + (a[x] != b[y]), row[y] + 1, t + 1);
      diagonal = t;
    }
  }
  out[p.y * n.x + p.x] = row[lb];
}
kernel void relax_paths(device const uint *in, device uint *out, constant uint &k, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
  uint direct = in[p.y * n.x + p.x], through = in[p.y * n.x + k] + in[k * n.x + p.x];
  out[p.y * n.x + p.x] = min(direct, through);
}
// Quicksort of 24 numbers per thread with its own stack.
kernel void quicksort(device int *data, uint i [[thread_position_in_grid]]) {
  int v[24];
  for (int k = 0; k < 24; k++) v[k] = data[24 * i + k];
  int2 stack[16];
  int top = 0;
  stack[top++] = int2(0, 23);
  while (top > 0) {
    int2 range = stack[--top];
    if (range.x >= range.y) continue;
    int pivot = v[(range.x + range.y) / 2], a = range.x, b = range.y;
    while (a <= b) {
      while (v[a] < pivot) a++;
      while (v[b] > pivot) b--;
      if (a <= b) {
        int t = v[a];
        v[a++] = v[b];
        v[b--] = t;
      }
    }
    stack[top++] = int2(range.x, b);
    stack[top++] = int2(a, range.y);
  }
  for (int k = 0; k < 24; k++) data[24 * i + k] = v[k];
}
#if __METAL_VERSION__ >= 320
kernel void bilinear_resize(device const float *in, device float *out, constant uint2 &from, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
  float2 at = (float2(p) + 0.5f) * float2(from) / float2(n) - 0.5f;
  int2 low = int2(floor(at));
  float2 f = at - float2(low);
  int2 limit = int2(from) - 1;
  auto sample = [&](int2 q) {
    q = clamp(q, 0, limit);
    return in[q.y * int(from.x) + q.x];
  };
  float top = mix(sample(low), sample(low + int2(1, 0)), f.x), bottom = mix(sample(low + int2(0, 1)), sample(low + 1), f.x);
  out[p.y * n.x + p.x] = mix(top, bottom, f.y);
}
#endif
kernel void substring_search(device const char *text, constant char *word, device atomic_uint *count, device uint *found, constant uint2 &lengths, uint i [[thread_position_in_grid]]) {
  if (i + lengths.y > lengths.x) return;
  for (uint k = 0; k < lengths.y; k++)
    if (text[i + k] != word[k]) return;
  found[atomic_fetch_add_explicit(count, 1u, memory_order_relaxed)] = i;
}
kernel void sieve_segment(device uchar *composite, constant uint &n, uint i [[thread_position_in_grid]]) {
  uint v = i + 2;
  bool found = false;
  for (uint d = 2; d * d <= v && !found; d++) found = v % d == 0;
  composite[i] = found;
}
kernel void multiply_big(device const uint *a, device const uint *b, device uint *out, uint i [[thread_position_in_grid]]) {
  uint product[8] = {};
  for (uint x = 0; x < 4; x++) {
    ulong carry = 0;
    for (uint y = 0; y < 4; y++) {
      ulong t = ulong(a[4 * i + x]) * b[4 * i + y] + product[x + y] + carry;
      product[x + y] = uint(t);
      carry = t >> 32;
    }
    product[x + 4] = uint(carry);
  }
  for (uint k = 0; k < 8; k++) out[8 * i + k] = product[k];
}
kernel void ray_spheres(device const packed_float3 *centres, device float *depth, constant uint &count, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {
  float3 direction = normalize(float3((float2(p) + 0.5f) / float2(n) * 2 - 1, 1.5f));
  float nearest = 100;
  for (uint k = 0; k < count; k++) {
    float3 c = centres[k];
    float along = dot(c, direction), miss = dot(c, c) - along * along;
    if (along < 0 || miss > 1) continue;
    nearest = min(nearest, along - sqrt(1 - miss));
  }
  depth[p.y * n.x + p.x] = nearest;
}
