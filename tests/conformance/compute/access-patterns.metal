// Addresses: consecutive, strided, wrapped, gathered, of every width.
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device const int *in, device int *out, constant uint &n, uint i [[thread_position_in_grid]]) { out[n - 1 - i] = in[i]; }
kernel void strided(device const int *in, device int *out, uint i [[thread_position_in_grid]]) { out[i] = in[3 * i] + in[3 * i + 2]; }
kernel void strided_store(device int *out, uint i [[thread_position_in_grid]]) {
  out[3 * i] = int(i);
  out[3 * i + 1] = -int(i);
}
kernel void neighbours(device const int *in, device int *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  int left = i > 0 ? in[i - 1] : 0, right = i + 1 < n ? in[i + 1] : 0;
  out[i] = left * 100 + right;
}
// Index arithmetic that is no longer one apart between neighbouring threads.
kernel void wraps_at_256(device const int *in, device int *out, uint i [[thread_position_in_grid]]) { out[i] = in[uchar(i + 250)]; }
kernel void wraps_at_65536(device const uint *in, device uint *out, uint i [[thread_position_in_grid]]) {
  ushort k = ushort(i) + ushort(65530);
  out[i] = in[k < 100 ? k : 99];
}
kernel void signed_char_index(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  char c = char(i + 120);
  out[i] = in[128 + c];
}
kernel void modulo(device const int *in, device int *out, uint i [[thread_position_in_grid]]) { out[i] = in[i % 5] + 10 * in[i & 3] + 100 * in[i >> 2]; }
kernel void exclusive_or(device const int *in, device int *out, uint i [[thread_position_in_grid]]) { out[i] = in[i ^ 5] - in[i ^ 16]; }
kernel void multiplied(device const int *in, device int *out, constant uint &stride, uint i [[thread_position_in_grid]]) { out[i] = in[i * stride]; }
kernel void index_overflows(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  uint k = (i + 0xfffffff0u) + 16;
  out[i] = in[k] + in[(i * 0x40000001u) & 63];
}
kernel void long_index(device const int *in, device int *out, constant long &offset, uint i [[thread_position_in_grid]]) {
  long k = long(i) * 2 - offset;
  out[i] = k < 0 ? -1 : in[k];
}
kernel void negative_stride(device const int *in, device int *out, constant int &start, uint i [[thread_position_in_grid]]) { out[i] = in[start - 2 * int(i)]; }
kernel void gather(device const int *in, device const uint *index, device int *out, uint i [[thread_position_in_grid]]) { out[i] = in[index[i]]; }
kernel void scatter(device const int *in, device const uint *index, device int *out, uint i [[thread_position_in_grid]]) { out[index[i]] = in[i]; }
kernel void gather_twice(device const uint *next, device uint *out, uint i [[thread_position_in_grid]]) { out[i] = next[next[next[i]]]; }
kernel void gather_bytes(device const uchar *in, device const uchar *index, device ushort *out, uint i [[thread_position_in_grid]]) {
  out[i] = ushort(in[index[i]] << 8 | in[255 - index[i]]);
}
kernel void gather_halves(device const half *in, device const ushort *index, device float *out, uint i [[thread_position_in_grid]]) { out[i] = in[index[i]] * 2.0f; }
kernel void gather_longs(device const long *in, device const int *index, device long *out, uint i [[thread_position_in_grid]]) { out[i] = in[index[i]] + 1; }
kernel void gather_vectors(device const float4 *in, device const uint *index, device float4 *out, uint i [[thread_position_in_grid]]) { out[i] = in[index[i]].wxyz; }
kernel void scatter_bytes(device uchar *out, device const uint *index, uint i [[thread_position_in_grid]]) { out[index[i]] = uchar(i + 1); }
// Neighbouring bytes belong to different threads and groups: none may be lost.
kernel void adjacent_bytes(device uchar *a, device half *b, device bool *c, uint i [[thread_position_in_grid]]) {
  if (i % 3 != 1) a[i] = uchar(i);
  if (i % 2) b[i] = half(i);
  c[i] = i % 5 == 0;
}
kernel void rows_and_columns(device const float *in, device float *row_sums, device float *column_sums, constant uint2 &size, uint i [[thread_position_in_grid]]) {
  if (i < size.y) {
    float s = 0;
    for (uint k = 0; k < size.x; k++) s += in[i * size.x + k];
    row_sums[i] = s;
  }
  if (i < size.x) {
    float s = 0;
    for (uint k = 0; k < size.y; k++) s += in[k * size.x + i];
    column_sums[i] = s;
  }
}
kernel void plane_position(device int *out, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) { out[p.x * n.y + p.y] = int(p.x) - int(p.y) * 100; }
kernel void unaligned_vectors(device const uchar *bytes, device uint *out, uint i [[thread_position_in_grid]]) {
  packed_uchar4 v = *(device const packed_uchar4 *)(bytes + 3 * i + 1);
  out[i] = v[0] + (v[1] << 8) + (v[2] << 16) + (uint(v[3]) << 24);
}
kernel void same_address_by_all(device const int *in, device int *out, constant uint &k, uint i [[thread_position_in_grid]]) { out[i] = in[k] + in[7] * int(i); }
kernel void loaded_limit(device const uint *limits, device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int s = 0;
  for (uint k = limits[i]; k < limits[i + 1]; k++) s += in[k];
  out[i] = s;
}
kernel void pointer_walk(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  device const int *p = in + i * 4, *end = p + 4 + i % 3;
  int s = 0;
  while (p != end) s = s * 2 + *p++;
  out[i] = s;
}
kernel void chosen_pointer(device const int *a, device const int *b, device int *out, uint i [[thread_position_in_grid]]) {
  device const int *p = i % 3 == 0 ? a : b;
  out[i] = p[i] + p[0];
}
kernel void store_then_load(device int *data, uint i [[thread_position_in_grid]]) {
  data[i] = int(i);
  int v = data[i] * 2;
  data[i] = v;
  data[i] += data[i];
}
kernel void struct_fields(device uchar *raw, uint i [[thread_position_in_grid]]) {
  struct Item { uchar tag; ushort length; uint offset; float weight; };
  device Item *items = (device Item *)raw;
  items[i].tag = uchar(i);
  items[i].length = ushort(i * 3);
  items[i].offset += i;
  items[i].weight = items[i].offset * 0.5f;
}
// The buffer ends with the last element: no thread beyond it may read there, not even to throw it away.
kernel void exactly_to_the_end(device const int *in, device int *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  int v = 7;
  if (i < n) v = in[i];
  out[i] = v;
}
kernel void exactly_to_the_end_in_loop(device const int *in, device int *out, constant uint &n, uint i [[thread_position_in_grid]], uint threads [[threads_per_grid]]) {
  int s = 0;
  for (uint k = i; k < n; k += threads) s += in[k];
  out[i] = s;
}
