// Lanes that read at places computed from their number: parts of blocks that several lanes share, neighbours in another
// order. All of them, some of them, and up to the last byte of a buffer.
#include <metal_stdlib>
using namespace metal;

struct words5 { ushort d, m; uchar q[16]; };
struct halves9 { ushort d; uchar q[16]; };
struct halves17 { ushort d; char q[32]; };

kernel void two_lanes_share_twenty_bytes(device const words5 *in, device int *out, constant int &n,
                                         uint lane [[thread_index_in_simdgroup]]) {
  int s = 0;
  for (int b = lane / 2; b < n; b += 16) {
    device const ushort *q = (device const ushort *)in[b].q + lane % 2 * 4;
    s += in[b].d + 3 * in[b].m;
    for (int k = 0; k < 4; k++) s += (q[k] & 0xff) * (2 * k + 1) + (q[k] >> 8) * (2 * k + 2);
  }
  out[lane] = s;
}

kernel void two_lanes_share_eighteen_bytes(device const halves9 *in, device int *out, constant int &n,
                                           ushort lane [[thread_index_in_simdgroup]]) {
  const short ix = lane / 2, il = (lane % 2) * 8;
  int s = 0;
  for (int b = ix; b < n; b += 16) {
    device const ushort *q = (device const ushort *)&in[b] + 1 + il / 2;
    s += in[b].d;
    for (int k = 0; k < 4; k++) s += (q[k] & 0xff) * (2 * k + 1) + (q[k] >> 8) * (2 * k + 2);
  }
  out[lane] = s;
}

kernel void four_lanes_share_thirty_four_bytes(device const halves17 *in, device const float *y, device float *out,
                                               constant int &n, ushort lane [[thread_index_in_simdgroup]]) {
  const short ix = lane / 4, il = lane % 4;
  float s = 0;
  for (int b = ix; b < n; b += 8) {
    float part = 0;
    for (short k = 0; k < 8; k++) part += in[b].q[il * 8 + k] * y[b * 32 + il * 8 + k];
    s += part * in[b].d;
  }
  out[lane] = s;
}

kernel void half_a_row_each(device const float *y, device float *out, constant int &n,
                            ushort lane [[thread_index_in_simdgroup]]) {
  float s = 0;
  device const float *at = y + lane / 2 * 32 + lane % 2 * 8;
  for (int b = lane / 2; b < n; b += 16) {
    for (short k = 0; k < 8; k++) s += at[k] * (k + 1) + at[k + 16] * (k + 9);
    at += 16 * 32;
  }
  out[lane] = s;
}

kernel void some_lanes_in_any_order(device const int *in, device const int *wanted, device int *out,
                                    uint lane [[thread_index_in_simdgroup]]) {
  device const int *p = in + in[0];
  int s = p[lane ^ 5] + 10 * p[31 - lane] + 100 * p[lane % 8 * 4 + lane / 8];
  if (wanted[lane] > 0) s += 1000 * p[lane / 4 * 3 + lane % 4] + 7000 * p[(lane * 5) & 31];
  out[lane ^ 1] = s;
}

kernel void some_lanes_up_to_the_end(device const int *in, device const int *wanted, device int *out,
                                     uint lane [[thread_index_in_simdgroup]]) {
  int s = 1;
  if (wanted[lane] > 0) s = in[lane / 2 * 3 + lane % 2];
  out[lane] = s;
}
