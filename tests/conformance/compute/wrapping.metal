// Positions that wrap in a narrow type and are then widened.
#include <metal_stdlib>
using namespace metal;
kernel void difference_to_ulong(device ulong *out, constant uint &w, uint i [[thread_position_in_grid]]) { out[i] = ulong(i - w); }
kernel void sum_to_ulong(device ulong *out, constant uint &w, uint i [[thread_position_in_grid]]) { out[i] = ulong(i + w); }
kernel void sum_to_long(device long *out, constant uint &w, uint i [[thread_position_in_grid]]) { out[i] = long(int(i + w)); }
kernel void product_to_ulong(device ulong *out, uint i [[thread_position_in_grid]]) { out[i] = ulong(i * 0x30000000u); }
kernel void short_sums(device int *out, device uint *u, constant uint &w, uint i [[thread_position_in_grid]]) {
  out[i] = short(i + w);
  u[i] = ushort(i + w);
}
kernel void char_sums(device long *out, device ulong *u, constant uint &w, uint i [[thread_position_in_grid]]) {
  out[i] = char(i + w);
  u[i] = uchar(i * 3 + w);
}
kernel void narrow_arithmetic(device uint *out, constant ushort &w, ushort i [[thread_position_in_grid]]) {
  ushort k = i + w;
  uint wide = k;
  out[i] = wide + 1;
}
kernel void difference_to_float(device float *out, constant uint &w, uint i [[thread_position_in_grid]]) { out[i] = float(i - w); }
kernel void loop_from_wrapped(device ulong *out, constant uint &w, uint i [[thread_position_in_grid]]) {
  ulong s = 0;
  for (uint k = 1; k <= w; k++) s += ulong(i - k) * 3;
  out[i] = s;
}
kernel void guarded_neighbour(device const int *in, device int *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  int s = 0;
  for (uint d = 1; d < 5; d++) {
    ulong left = i - d, right = i + d;
    if (left < n) s += in[left];
    if (right < n) s += in[right] * 10;
  }
  out[i] = s;
}
kernel void wrapped_modulo(device ulong *out, uint i [[thread_position_in_grid]]) { out[i] = ulong(i - 3) % 1000 + ulong(7 - i) / 3; }
kernel void compared_after_extension(device uint *out, constant ulong &limit, uint i [[thread_position_in_grid]]) { out[i] = ulong(i - 5) < limit ? 1 : 0; }
// A ring of 65536 elements: neighbouring threads may be at its two ends.
kernel void ring_index(device const uint *ring, device uint *out, constant ushort &start, ushort i [[thread_position_in_grid]]) {
  ushort at = start + i;
  out[i] = ring[at];
}
kernel void ring_store(device uchar *ring, constant uchar &start, ushort i [[thread_position_in_grid]]) {
  uchar at = start + uchar(i);
  ring[at] = uchar(i + 1);
}
