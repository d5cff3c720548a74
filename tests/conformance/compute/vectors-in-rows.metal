// Adjacent vectors and structs, each accessed by one thread: whole, in part, in place, under masks.
#include <metal_stdlib>
using namespace metal;

// The components go round by one and grow by one.
template <typename T> static vec<T, 2> turn(vec<T, 2> v) { return v.yx + T(1); }
template <typename T> static vec<T, 3> turn(vec<T, 3> v) { return v.yzx + T(1); }
template <typename T> static vec<T, 4> turn(vec<T, 4> v) { return v.yzwx + T(1); }

template <typename M, typename V> kernel void copied(device const M *in, device M *out, uint i [[thread_position_in_grid]]) { out[i] = M(turn(V(in[i]))); }
template <typename M, typename V> kernel void masked(device const M *in, device M *out, uint i [[thread_position_in_grid]]) {
  if (i % 3 != 1) out[i] = M(turn(V(in[i])));
}
template <typename M, typename V> kernel void in_place(device M *data, constant uint &n, uint i [[thread_position_in_grid]]) {
  if (i >= n) return;
  data[i] = M(turn(V(data[i])));
}
template <typename M, typename V> kernel void in_rounds(device M *data, uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < i % 4; k++) data[i] = M(turn(V(data[i])));
}
template <typename M, typename V> kernel void scattered(device const M *in, device const uint *to, device M *out, uint i [[thread_position_in_grid]]) {
  if (to[i] != 5) out[to[i]] = M(turn(V(in[i])));
}
#define INSTANTIATE(name, M, V) \
  template [[host_name(#name "_copied")]] kernel decltype(copied<M, V>) copied<M, V>; \
  template [[host_name(#name "_masked")]] kernel decltype(masked<M, V>) masked<M, V>; \
  template [[host_name(#name "_in_place")]] kernel decltype(in_place<M, V>) in_place<M, V>; \
  template [[host_name(#name "_in_rounds")]] kernel decltype(in_rounds<M, V>) in_rounds<M, V>; \
  template [[host_name(#name "_scattered")]] kernel decltype(scattered<M, V>) scattered<M, V>;
INSTANTIATE(float2, float2, float2)
INSTANTIATE(float3, float3, float3)
INSTANTIATE(float4, float4, float4)
INSTANTIATE(packed_float3, packed_float3, float3)
INSTANTIATE(half2, half2, half2)
INSTANTIATE(half4, half4, half4)
INSTANTIATE(packed_half3, packed_half3, half3)
INSTANTIATE(bfloat4, bfloat4, bfloat4)
INSTANTIATE(uchar2, uchar2, uchar2)
INSTANTIATE(packed_uchar3, packed_uchar3, uchar3)
INSTANTIATE(char4, char4, char4)
INSTANTIATE(short3, short3, short3)
INSTANTIATE(uint2, uint2, uint2)
INSTANTIATE(packed_int4, packed_int4, int4)
INSTANTIATE(long2, long2, long2)
