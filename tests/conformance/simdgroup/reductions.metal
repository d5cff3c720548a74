// Reductions and prefix operations of a simdgroup, for every type.
#include <metal_stdlib>
using namespace metal;

#define REDUCE(name, T) \
  kernel void name##_##T(device const T *in, device T *out, uint i [[thread_position_in_grid]]) { out[i] = name(in[i]); }
#define ARITHMETIC(T) \
  REDUCE(simd_sum, T) REDUCE(simd_product, T) REDUCE(simd_min, T) REDUCE(simd_max, T) REDUCE(simd_prefix_inclusive_sum, T) \
  REDUCE(simd_prefix_exclusive_sum, T) REDUCE(simd_prefix_inclusive_product, T) REDUCE(simd_prefix_exclusive_product, T)
#define BITWISE(T) REDUCE(simd_and, T) REDUCE(simd_or, T) REDUCE(simd_xor, T)
ARITHMETIC(float) ARITHMETIC(half) ARITHMETIC(int) ARITHMETIC(uint) ARITHMETIC(short) ARITHMETIC(ushort) ARITHMETIC(char) ARITHMETIC(uchar)
BITWISE(int) BITWISE(uint) BITWISE(short) BITWISE(ushort) BITWISE(char) BITWISE(uchar)
REDUCE(simd_sum, float4) REDUCE(simd_max, int3) REDUCE(simd_prefix_inclusive_sum, half2) REDUCE(simd_xor, uchar4) REDUCE(simd_product, short2)
REDUCE(simd_min, float2) REDUCE(simd_prefix_exclusive_product, uint2)
