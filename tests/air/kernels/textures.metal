// Made by make-textures.py.
#include <metal_stdlib>
using namespace metal;

kernel void sampled(device const float4 *in, device float4 *out, texture1d<float, access::sample> t0 [[texture(0)]], texture2d<float, access::sample> t1 [[texture(1)]], texture2d_array<float, access::sample> t2 [[texture(2)]], texture3d<float, access::sample> t3 [[texture(3)]], texture2d<half, access::sample> t4 [[texture(4)]], sampler s [[sampler(0)]], uint id [[thread_position_in_grid]]) {
    constexpr sampler own(filter::linear, s_address::repeat, t_address::clamp_to_border, r_address::clamp_to_edge, border_color::opaque_white, compare_func::less);
    float4 c = in[id];
    float c1 = c.x;
    float2 c2 = c.xy;
    float3 c3 = c.xyz;
    uint2 p2 = uint2(id & 7, id >> 3);
    out[0 + id] = t1.sample(s, c2, level(1.25f));
    out[64 + id] = t1.gather(own, c2, int2(1, -2), component::z);
    out[128 + id] = t0.read(p2.x);
    out[192 + id] = t1.read(p2, 1);
    out[256 + id] = t1.read(p2 + 1);
    out[320 + id] = t2.read(p2, 1);
    out[384 + id] = t2.read(p2, 1);
    out[448 + id] = t3.read(uint3(p2, 1));
    out[512 + id] = float4(t4.read(ushort2(p2), ushort(0)));
    out[576 + id] = float4(t1.get_width(1), 0, 0, 0);
    out[640 + id] = float4(t2.get_height(), 0, 0, 0);
    out[704 + id] = float4(t3.get_depth(), 0, 0, 0);
    out[768 + id] = float4(t2.get_array_size(), 0, 0, 0);
    out[832 + id] = float4(t1.get_num_mip_levels(), 0, 0, 0);
    out[896 + id] = float4(is_null_texture(t1), 0, 0, 0);
}

kernel void filtered(device const float4 *in, device float4 *out, texture1d<float, access::sample> t0 [[texture(0)]], texture2d<float, access::sample> t1 [[texture(1)]], texture2d_array<float, access::sample> t2 [[texture(2)]], texture3d<float, access::sample> t3 [[texture(3)]], texture2d<half, access::sample> t4 [[texture(4)]], sampler s [[sampler(0)]], uint id [[thread_position_in_grid]]) {
    constexpr sampler own(filter::linear, s_address::repeat, t_address::clamp_to_border, r_address::clamp_to_edge, border_color::opaque_white, compare_func::less);
    float4 c = in[id];
    float c1 = c.x;
    float2 c2 = c.xy;
    float3 c3 = c.xyz;
    uint2 p2 = uint2(id & 7, id >> 3);
    out[0 + id] = t0.sample(own, c1);
    out[64 + id] = t1.sample(own, c2);
    out[128 + id] = t1.sample(own, c2, int2(1, -2));
    out[192 + id] = t1.sample(s, c2, bias(0.5f), min_lod_clamp(1.0f));
    out[256 + id] = t1.sample(s, c2, gradient2d(float2(0.25f, 0.5f), float2(0.125f, 0.0f)), int2(1, -2));
    out[320 + id] = t2.sample(own, c2, 1);
    out[384 + id] = t3.sample(own, c3);
    out[448 + id] = float4(t4.sample(own, c2));
    out[512 + id] = t2.gather(own, c2, 1);
}

kernel void cubes(device const float4 *in, device float4 *out, texturecube<float, access::sample> t0 [[texture(0)]], texturecube_array<float, access::sample> t1 [[texture(1)]], texturecube<int, access::sample> t2 [[texture(2)]], sampler s [[sampler(0)]], uint id [[thread_position_in_grid]]) {
    constexpr sampler own(filter::linear, s_address::repeat, t_address::clamp_to_border, r_address::clamp_to_edge, border_color::opaque_white, compare_func::less);
    float4 c = in[id];
    float c1 = c.x;
    float2 c2 = c.xy;
    float3 c3 = c.xyz;
    uint2 p2 = uint2(id & 7, id >> 3);
    out[0 + id] = t0.sample(own, c3);
    out[64 + id] = t1.sample(s, c3, 1, level(0.5f));
    out[128 + id] = t0.sample(s, c3, gradientcube(float3(0.25f, 0.5f, 0.0f), float3(0.125f, 0.0f, 0.0f)));
    out[192 + id] = t0.gather(own, c3, component::y);
    out[256 + id] = float4(t2.gather(own, c3));
    out[320 + id] = float4(t2.sample(own, c3));
    out[384 + id] = t0.read(p2, 3);
    out[448 + id] = t0.read(p2, 3);
    out[512 + id] = t1.read(p2, 2, 1);
    out[576 + id] = float4(t1.get_array_size(), 0, 0, 0);
}

kernel void depths(device const float4 *in, device float4 *out, depth2d<float, access::sample> t0 [[texture(0)]], depth2d_array<float, access::sample> t1 [[texture(1)]], depthcube<float, access::sample> t2 [[texture(2)]], sampler s [[sampler(0)]], uint id [[thread_position_in_grid]]) {
    constexpr sampler own(filter::linear, s_address::repeat, t_address::clamp_to_border, r_address::clamp_to_edge, border_color::opaque_white, compare_func::less);
    float4 c = in[id];
    float c1 = c.x;
    float2 c2 = c.xy;
    float3 c3 = c.xyz;
    uint2 p2 = uint2(id & 7, id >> 3);
    out[0 + id] = float4(t0.sample(own, c2), 0, 0, 0);
    out[64 + id] = float4(t0.sample_compare(own, c2, 0.5f), 0, 0, 0);
    out[128 + id] = float4(t0.sample_compare(own, c2, 0.5f, gradient2d(float2(0.25f, 0.5f), float2(0.125f, 0.0f))), 0, 0, 0);
    out[192 + id] = float4(t1.sample_compare(own, c2, 1, 0.5f), 0, 0, 0);
    out[256 + id] = float4(t2.sample_compare(own, c3, 0.5f), 0, 0, 0);
    out[320 + id] = t0.gather(own, c2);
    out[384 + id] = t0.gather_compare(own, c2, 0.5f, int2(1, -2));
    out[448 + id] = t2.gather_compare(own, c3, 0.5f);
    out[512 + id] = float4(t0.read(p2), 0, 0, 0);
    out[576 + id] = float4(t1.read(p2, 1), 0, 0, 0);
    out[640 + id] = float4(t0.get_width(), 0, 0, 0);
}

kernel void integers(device const float4 *in, device float4 *out, texture2d<uint, access::sample> t0 [[texture(0)]], texture2d_array<int, access::sample> t1 [[texture(1)]], texture2d<short, access::sample> t2 [[texture(2)]], texture_buffer<uint, access::read> t3 [[texture(3)]], texture2d_ms<float, access::read> t4 [[texture(4)]], array<texture2d<float, access::sample>, 2> t5 [[texture(5)]], sampler s [[sampler(0)]], uint id [[thread_position_in_grid]]) {
    constexpr sampler own(filter::linear, s_address::repeat, t_address::clamp_to_border, r_address::clamp_to_edge, border_color::opaque_white, compare_func::less);
    float4 c = in[id];
    float c1 = c.x;
    float2 c2 = c.xy;
    float3 c3 = c.xyz;
    uint2 p2 = uint2(id & 7, id >> 3);
    out[0 + id] = float4(t0.read(p2));
    out[64 + id] = float4(t0.sample(own, c2));
    out[128 + id] = float4(t0.gather(own, c2, int2(0), component::y));
    out[192 + id] = float4(t1.read(p2, 1));
    out[256 + id] = float4(t2.read(p2));
    out[320 + id] = float4(t3.read(p2.x));
    out[384 + id] = t4.read(p2, 1);
    out[448 + id] = float4(t4.get_num_samples(), 0, 0, 0);
    out[512 + id] = float4(t4.get_width(), 0, 0, 0);
    out[576 + id] = t5[0].read(p2);
    out[640 + id] = t5[1].read(p2);
}

kernel void written(device const float4 *in, device float4 *out, texture2d<float, access::write> t0 [[texture(0)]], texture2d_array<half, access::write> t1 [[texture(1)]], texture3d<float, access::write> t2 [[texture(2)]], texturecube<float, access::write> t3 [[texture(3)]], texture2d<uint, access::write> t4 [[texture(4)]], texture2d<short, access::write> t5 [[texture(5)]], texture2d<uint, access::read_write> t6 [[texture(6)]], texture2d_array<int, access::read_write> t7 [[texture(7)]], sampler s [[sampler(0)]], uint id [[thread_position_in_grid]]) {
    constexpr sampler own(filter::linear, s_address::repeat, t_address::clamp_to_border, r_address::clamp_to_edge, border_color::opaque_white, compare_func::less);
    float4 c = in[id];
    float c1 = c.x;
    float2 c2 = c.xy;
    float3 c3 = c.xyz;
    uint2 p2 = uint2(id & 7, id >> 3);
    t0.write(c, p2);
    t1.write(half4(c), p2, 1);
    t2.write(c, uint3(p2, 1));
    t3.write(c, p2, 4);
    t4.write(uint4(c), p2);
    t5.write(short4(c), ushort2(p2));
    t6.atomic_store(uint4(c), p2);
    t6.fence();
    out[0 + id] = float4(t6.atomic_load(p2));
    out[64 + id] = float4(t6.atomic_fetch_add(p2, uint4(c)));
    t7.atomic_store(int4(c), p2, 1);
    out[128 + id] = float4(t7.atomic_fetch_max(p2, 1, int4(c)));
    out[192 + id] = float4(t6.atomic_exchange(p2, uint4(c)));
    out[256 + id] = float4(t6.read(p2));
}
