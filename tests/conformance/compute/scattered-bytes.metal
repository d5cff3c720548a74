// Elements smaller than a word, read and written anywhere by some of the threads: no machine has instructions for all.
#include <metal_stdlib>
using namespace metal;

template <typename T>
void move_some(device const T *in, device T *out, uint i, uint n) {
  if (i % 3 == 1) return;
  out[(i * 37 + 5) % n] = in[(i * 53 + n - 1) % n];
}
kernel void bytes(device const uchar *in, device uchar *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  move_some(in, out, i, n);
}
kernel void shorts(device const short *in, device short *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  move_some(in, out, i, n);
}
kernel void halves(device const half *in, device half *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  move_some(in, out, i, n);
}
kernel void longs(device const long *in, device long *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  move_some(in, out, i, n);
}
// At odd addresses.
struct __attribute__((packed)) Odd { uchar tag; ushort value; };
kernel void odd(device const Odd *in, device Odd *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  if (i % 3 == 1) return;
  out[(i * 37 + 5) % n].value = in[(i * 53 + n - 1) % n].value;
}
// Rows of which some threads read and write their element.
kernel void rows_of_bytes(device const uchar *in, device uchar *out, uint i [[thread_position_in_grid]]) {
  if ((i / 3) % 2) out[i] = in[i] + 1;
}
kernel void rows_of_halves(device const half *in, device half *out, uint i [[thread_position_in_grid]]) {
  if ((i / 3) % 2) out[i] = in[i] + 1;
}
// A value that only some lanes read.
kernel void kept_for_some(device const uchar *in, device uint *out, constant uint &n, uint i [[thread_position_in_grid]]) {
  uint value = 1000 + i;
  if (i & 4) value = in[(i * 53) % n];
  out[i] = value;
}
