#include <metal_stdlib>
#define KERNEL(name, type) \
  template [[host_name(name)]] kernel void copy<type>(device type *, \
      device const type *, uint);
using namespace metal;
template <typename T> [[kernel]] void copy(device T *out [[buffer(0)]], device const T *in [[buffer(1)]],
                                           uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
KERNEL("copy_f32", float)
KERNEL("copy_u8", uchar)
