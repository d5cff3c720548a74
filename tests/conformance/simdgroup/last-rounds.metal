// Rows whose last round leaves only some lanes of a simdgroup, whatever their number.
#include <metal_stdlib>
using namespace metal;

struct block {
  ushort scale, offset, words[8];
};
// Two lanes for each block; each reads four words, and eight numbers.
kernel void quantised_rows(device const block *blocks, device const int *numbers, device int *out, constant int &n,
                           uint row [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
  int sum = 0;
  short half_block = lane % 2;
  device const int *y = numbers + 16 * (lane / 2) + 8 * half_block;
  for (int b = lane / 2; b < n; b += 16) {
    device const block &x = blocks[row * n + b];
    device const ushort *q = x.words + 4 * half_block;
    int products = 0;
    for (int j = 0; j < 4; j++) products += (q[j] & 15) * y[2 * j] + (q[j] >> 4) * y[2 * j + 1];
    sum += x.scale * products + x.offset;
    y += 16 * 16;
  }
  sum = simd_sum(sum);
  if (lane == 0) out[row] = sum;
}
// Eight results for each lane, with a gap after them.
kernel void rows_with_gaps(device const int *in, device int *out, constant int &n, ushort lane [[thread_index_in_simdgroup]]) {
  int rounds = 0;
  for (int k = lane; k < n; k += 32) {
    for (int j = 0; j < 8; j++) out[9 * k + j] = in[8 * k + 7 - j];
    rounds++;
  }
  out[9 * n + lane] = rounds;
}
