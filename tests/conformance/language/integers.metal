// Integer types: widths, signedness, wrapping, conversions, operators.
#include <metal_stdlib>
using namespace metal;

kernel void type_sizes(device uint *out, uint i [[thread_position_in_grid]]) {
  const uint sizes[] = {sizeof(bool), sizeof(char), sizeof(uchar), sizeof(short), sizeof(ushort), sizeof(int),
                        sizeof(uint), sizeof(long), sizeof(ulong), sizeof(half), sizeof(bfloat), sizeof(float),
                        sizeof(size_t), sizeof(ptrdiff_t), sizeof(int8_t), sizeof(uint16_t), sizeof(int32_t), sizeof(uint64_t)};
  out[i] = sizes[i];
}

// Results wrap modulo 2^n.
kernel void wrapping_add(device const int *a, device const int *b, device int *sum, device int *difference, device int *product,
                         uint i [[thread_position_in_grid]]) {
  sum[i] = int(uint(a[i]) + uint(b[i]));
  difference[i] = int(uint(a[i]) - uint(b[i]));
  product[i] = int(uint(a[i]) * uint(b[i]));
}

kernel void unsigned_wrap_8_16(device const uchar *a, device uchar *b, device ushort *c, uint i [[thread_position_in_grid]]) {
  uchar v = a[i];
  v += 200;
  b[i] = v;
  ushort w = ushort(a[i]) * 300;
  w -= 1;
  c[i] = w;
}

kernel void unsigned_64(device const ulong *a, device ulong *b, uint i [[thread_position_in_grid]]) {
  b[i] = a[i] * 0x9e3779b97f4a7c15ul ^ (a[i] << 33) ^ (a[i] >> 7);
}

// char is signed, uchar is not; both promote to int.
kernel void char_is_signed(device const char *a, device const uchar *b, device int *out, uint i [[thread_position_in_grid]]) {
  out[2 * i] = a[i] < 0 ? -1 : a[i];
  out[2 * i + 1] = b[i] + a[i];
}

kernel void narrowing(device const int *a, device char *c, device uchar *uc, device short *s, device ushort *us, uint i [[thread_position_in_grid]]) {
  c[i] = char(a[i]);
  uc[i] = uchar(a[i]);
  s[i] = short(a[i]);
  us[i] = ushort(a[i]);
}

kernel void widening(device const char *a, device const ushort *b, device long *l, device ulong *ul, device int *k, uint i [[thread_position_in_grid]]) {
  l[i] = a[i];
  ul[i] = b[i];
  k[i] = int(b[i]) - int(ushort(a[i]));
}

kernel void truncated_division(device const int *a, device const int *b, device int *q, device int *r, uint i [[thread_position_in_grid]]) {
  q[i] = a[i] / b[i];
  r[i] = a[i] % b[i];
}

kernel void unsigned_division(device const uint *a, device const uint *b, device uint *q, device uint *r, uint i [[thread_position_in_grid]]) {
  q[i] = a[i] / b[i];
  r[i] = a[i] % b[i];
}

kernel void division_64(device const long *a, device long *q, device long *r, uint i [[thread_position_in_grid]]) {
  q[i] = a[i] / 7;
  r[i] = a[i] % (long(i) - 20 == 0 ? 3 : long(i) - 20);
}

kernel void shifts(device const int *a, device const uint *b, device int *left, device int *right, device uint *logical,
                   uint i [[thread_position_in_grid]]) {
  uint by = i % 32;
  left[i] = int(uint(a[i]) << by);
  right[i] = a[i] >> by;
  logical[i] = b[i] >> by;
}

kernel void bitwise(device const uint *a, device const uint *b, device uint *out, uint i [[thread_position_in_grid]]) {
  out[4 * i] = a[i] & b[i];
  out[4 * i + 1] = a[i] | b[i];
  out[4 * i + 2] = a[i] ^ b[i];
  out[4 * i + 3] = ~a[i];
}

kernel void comparisons_signed_and_unsigned(device const int *a, device const int *b, device uint *out, uint i [[thread_position_in_grid]]) {
  uint bits = 0;
  bits |= (a[i] < b[i]) << 0 | (a[i] <= b[i]) << 1 | (a[i] > b[i]) << 2 | (a[i] >= b[i]) << 3;
  bits |= (a[i] == b[i]) << 4 | (a[i] != b[i]) << 5;
  bits |= (uint(a[i]) < uint(b[i])) << 6 | (uint(a[i]) >= uint(b[i])) << 7;
  out[i] = bits;
}

kernel void bools(device const int *a, device bool *truth, device int *sum, uint i [[thread_position_in_grid]]) {
  bool t = a[i];
  truth[i] = t;
  sum[i] = t + !t + bool(a[i] & 4) + bool(0.5f) + true;
}

kernel void compound_assignment(device const int *a, device int *out, uint i [[thread_position_in_grid]]) {
  int v = a[i];
  v += 3;
  v *= 5;
  v -= int(i);
  v ^= 0x55;
  v |= 0x100;
  v &= 0xfff;
  v <<= 2;
  v >>= 1;
  v /= 3;
  v %= 100;
  out[i] = v++ + ++v - v-- + --v;
}

// Neither value nor type matters: it must not stop the device.
kernel void division_by_zero_survives(device const int *a, device int *out, device uint *after, uint i [[thread_position_in_grid]]) {
  out[i] = a[i] / a[0] + a[i] % a[0] + (a[i] << (32 + a[i])) + (a[i] >> 40) + (int(0x80000000) / (a[0] - 1));
  after[i] = i;
}
kernel void division_by_zero_of_every_width(device const long *a, device long *out, device uint *after, uint i [[thread_position_in_grid]]) {
  out[i] = a[i] / a[0] + ulong(a[i]) % ulong(a[0]) + short(a[i]) / short(a[0]) + uchar(a[i]) % uchar(a[0]);
  int4 v = int4(int(a[i])) / int4(int(a[0]), 1, 2, 0);
  uint2 u = uint2(i) % uint2(0, uint(a[0]));
  out[i] += v.x + v.w + u.x + u.y;
  after[i] = i + 1;
}

// Enumerations, literals and character constants.
enum class Mode : uchar { first = 3, second, third = 200 };
enum plain { zero, one, seven = 7 };
kernel void literals(device long *out) {
  out[0] = 0x7fffffff;
  out[1] = 0xffffffffu;
  out[2] = 0b1011;
  out[3] = 017;
  out[4] = 'A';
  out[5] = 1'000'000;
  out[6] = long(Mode::second) + long(Mode::third) + seven;
  out[7] = 0x123456789abcdefl;
  out[8] = sizeof(Mode);
  out[9] = 3000000000;
}

kernel void limits(device long *out) {
  out[0] = CHAR_MIN; out[1] = CHAR_MAX; out[2] = UCHAR_MAX; out[3] = SHRT_MIN; out[4] = USHRT_MAX;
  out[5] = INT_MIN; out[6] = INT_MAX; out[7] = UINT_MAX; out[8] = LONG_MIN; out[9] = LONG_MAX;
  out[10] = numeric_limits<int>::max(); out[11] = numeric_limits<short>::min(); out[12] = numeric_limits<uchar>::max();
  out[13] = numeric_limits<uint>::digits; out[14] = numeric_limits<long>::lowest(); out[15] = numeric_limits<int>::is_signed;
}
