// Sub-word, 64-bit, half and bool values next to each other, also where threads diverge.
#include <metal_stdlib>
using namespace metal;

kernel void chars_in_branches(device const char *in, device char *out, uint i [[thread_position_in_grid]]) {
  char v = in[i];
  if (v < 0) v = char(-v / 2);
  else if (v & 1) v = char(v * 3);
  else v += char(i);
  out[i] = v;
}
kernel void shorts_in_loops(device const short *in, device short *out, uint i [[thread_position_in_grid]]) {
  short v = in[i];
  for (short k = 0; k < short(i % 6); k++) v = short(v * 7 - k);
  out[i] = v;
}
kernel void longs_in_branches(device const long *in, device long *out, uint i [[thread_position_in_grid]]) {
  long v = in[i];
  if (v > 0xffffffffl) v = (v >> 33) * -5;
  else if (v < 0) v = long(ulong(v) >> 1);
  else v <<= i % 40;
  out[i] = v;
}
kernel void ulong_division(device const ulong *a, device const ulong *b, device ulong *out, uint i [[thread_position_in_grid]]) {
  out[2 * i] = b[i] ? a[i] / b[i] : 0;
  out[2 * i + 1] = b[i] ? a[i] % b[i] : 1;
}
kernel void halves_in_branches(device const half *in, device half *out, uint i [[thread_position_in_grid]]) {
  half v = in[i];
  if (v > 1.0h) {
    half s = 0;
    for (uint k = 0; k < i % 5; k++) s = s * 0.5h + v;
    v = s;
  } else if (v < 0.0h) v = -v * v;
  out[i] = v;
}
kernel void bfloats_in_branches(device const bfloat *in, device bfloat *out, uint i [[thread_position_in_grid]]) {
  bfloat v = in[i];
  if (v > bfloat(1)) v = v * v;
  else v = bfloat(float(v) + 1.0f);
  out[i] = i % 2 ? v : -v;
}
kernel void bools_everywhere(device const int *in, device bool *out, uint i [[thread_position_in_grid]]) {
  bool a = in[i] > 3, b = in[i] % 2 == 0, c = a ^ b;
  if (a && !b) c = !c;
  bool d[4] = {a, b, c, a == b};
  out[i] = d[in[i] & 3] | (c & (i % 3 == 0));
}
kernel void mixed_widths(device const uchar *a, device const short *b, device const uint *c, device const long *d, device float *out, uint i [[thread_position_in_grid]]) {
  float f = a[i];
  if (i % 2) f += b[i];
  long sum = long(a[i]) + b[i] + c[i] + d[i];
  out[i] = f + float(sum % 1000) + half(a[i]) * 0.5h;
}
kernel void conversions_chain(device const float *in, device int *out, uint i [[thread_position_in_grid]]) {
  half h = half(in[i]);
  char c = char(h);
  ushort u = ushort(c);
  float f = u;
  long l = long(f * 3);
  bool b = l & 1;
  out[i] = int(l) + b + int(bfloat(float(c)));
}
kernel void unsigned_compare_after_wrap(device uint *out, uint i [[thread_position_in_grid]]) {
  uchar a = uchar(i * 3), b = uchar(a + 100);
  ushort s = ushort(i * 1000), t = ushort(s + 50000);
  out[i] = (a < b) | (s < t) << 1 | (char(a) < char(b)) << 2 | (short(s) < short(t)) << 3;
}
kernel void shifts_by_lane(device const uint *in, device uint *out, device ulong *wide, device uchar *narrow, uint i [[thread_position_in_grid]]) {
  out[i] = in[i] << (i % 32) | in[i] >> (31 - i % 32);
  wide[i] = ulong(in[i]) << (i % 64);
  narrow[i] = uchar(uchar(in[i]) << (i % 8) | uchar(in[i]) >> (7 - i % 8));
}
kernel void bit_twiddling(device const uint *in, device uint *out, uint i [[thread_position_in_grid]]) {
  uint v = in[i];
  v ^= v << 13;
  v ^= v >> 17;
  v ^= v << 5;
  uint r = popcount(v) + clz(v) * 100 + ctz(v | 0x80000000u) * 10000;
  if (v & 4) r ^= reverse_bits(v) >> 16;
  out[i] = r;
}
kernel void select_of_every_type(device uchar *a, device ushort *b, device ulong *c, device half *d, device float *e, uint i [[thread_position_in_grid]]) {
  bool p = i % 3 == 1;
  a[i] = p ? uchar(i) : uchar(7);
  b[i] = p ? ushort(i * 100) : ushort(9);
  c[i] = p ? ulong(i) << 40 : 11ul;
  d[i] = p ? half(i) * 0.5h : 13.0h;
  e[i] = p ? float(i) * 0.25f : 15.0f;
}
kernel void enum_switch(device const uchar *in, device int *out, uint i [[thread_position_in_grid]]) {
  enum class Op : uchar { add, sub, neg, half_of, none };
  int v = int(i);
  switch (Op(in[i])) {
    case Op::add: v += 10; break;
    case Op::sub: v -= 10; break;
    case Op::neg: v = -v; break;
    case Op::half_of: v /= 2; break;
    case Op::none: return;
  }
  out[i] = v;
}
kernel void large_switch(device const uint *in, device uint *out, uint i [[thread_position_in_grid]]) {
  switch (in[i] % 40) {
    case 0: out[i] = 7; break;
    case 1: case 2: case 3: out[i] = 8; break;
    case 10: out[i] = 9; break;
    case 11: out[i] = 10; break;
    case 12: out[i] = 11;
    case 13: out[i] += 100; break;
    case 20: case 22: case 24: case 26: out[i] = in[i]; break;
    case 39: out[i] = 1; return;
    default: out[i] = 0;
  }
  out[i] *= 2;
}
