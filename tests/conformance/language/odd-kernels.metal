// Rare code: endless loops, branches that are never taken, operations that have no vector form.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

kernel void nothing() {}
kernel void only_returns(device int *out, uint i [[thread_position_in_grid]]) {
  if (i % 2) return;
  if (out[i] > 3) return;
}
// Never reached.
kernel void endless_for_all(device int *out, constant uint &flag, uint i [[thread_position_in_grid]]) {
  if (flag)
    for (;;) out[0]++;
  out[i] = int(i);
}
kernel void endless_for_some(device int *out, device const uint *flags, uint i [[thread_position_in_grid]]) {
  if (flags[i] > 1000)
    for (;;) out[0]++;
  out[i] = int(i);
}
kernel void endless_in_a_loop(device int *out, device const uint *flags, uint i [[thread_position_in_grid]]) {
  int s = 0;
  for (uint k = 0; k < flags[i]; k++) {
    if (flags[k] > 1000)
      while (true) out[0]++;
    s += int(k);
    if (s > 20) break;
  }
  out[i] = s;
}
kernel void unreachable_for_some(device int *out, device const uint *flags, uint i [[thread_position_in_grid]]) {
  switch (flags[i] % 4) {
    case 0: out[i] = 5; break;
    case 1: out[i] = 6; break;
    case 2: out[i] = 7; break;
    case 3: out[i] = 8; break;
    default: __builtin_unreachable();
  }
}
kernel void overflowing(device const ulong *in, device ulong *out, uint i [[thread_position_in_grid]]) {
  unsigned long r;
  bool over = __builtin_mul_overflow(in[i], in[i] + 3, &r);
  out[i] = over ? 7 : r;
}
// Together with barriers.
kernel void overflowing_together(device const float *a, device float *out, device const ulong *in, device uint *sums, uint i [[thread_position_in_grid]],
                                 uint l [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint t[64];
  unsigned long r;
  bool over = __builtin_mul_overflow(in[i], in[i] + 3, &r);
  simdgroup_float8x8 m, n;
  simdgroup_load(m, a);
  simdgroup_load(n, a);
  simdgroup_multiply(m, m, n);
  simdgroup_store(m, out);
  t[l] = over ? 100000 : uint(r);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sums[i] = simd_sum(i) + lane + t[l ^ 1];
}
kernel void reinterpreted(device const uchar4 *a, device const half4 *b, device const uint2 *c, device ushort2 *x, device uint2 *y, device short4 *z,
                          uint i [[thread_position_in_grid]]) {
  x[i] = as_type<ushort2>(a[i] + uchar4(1)) + ushort2(1);
  y[i] = as_type<uint2>(b[i] * 2.0h) + 1u;
  z[i] = as_type<short4>(c[i] + 5u).wzyx;
}
kernel void with_volatiles(volatile device int *a, device int *out, uint i [[thread_position_in_grid]]) {
  a[i] = a[i] + 1;
  if (i % 3) a[i] += 10;
  out[i] = a[i] * 2;
}
// Sixteen parameters and as many kinds of them.
kernel void many_parameters(device const char *a, device const uchar *b, device const short *c, device const ushort *d, device const int *e, device const uint *f,
                            device const long *g, device const half *h, device const float *j, device const bool *k, constant float &l, constant int2 &m,
                            device float *out, uint i [[thread_position_in_grid]]) {
  out[i] = a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + float(g[i]) + h[i] + j[i] + (k[i] ? 1 : 0) + l + m.x + m.y;
}
