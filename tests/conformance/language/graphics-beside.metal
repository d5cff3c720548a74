// Functions for rendering and ray tracing do not keep the kernels of their file from running.
#include <metal_stdlib>
#include <metal_raytracing>
#include <simd/simd.h>
using namespace metal;
using namespace metal::raytracing;

// ---- Vertex and fragment functions with textures, and what only they may call ----

struct VertexIn {
    float3 position [[attribute(0)]];
    float2 uv [[attribute(1)]];
};
struct VertexOut {
    float4 position [[position]];
    float2 uv [[user(locn0)]];
    float size [[point_size]];
    float clip [[clip_distance]][2];
};
vertex VertexOut transform(VertexIn in [[stage_in]], constant float4x4 &m [[buffer(1)]], uint id [[vertex_id]],
                           texture2d<float> heights [[texture(0)]]) {
    constexpr sampler s(filter::linear);
    VertexOut out;
    out.position = m * float4(in.position, 1) + heights.sample(s, in.uv, level(0)) * float(id);
    out.uv = in.uv, out.size = 1, out.clip[0] = out.clip[1] = 0;
    return out;
}
struct Pixel {
    half4 color [[color(0)]];
    float4 second [[color(1), raster_order_group(0)]];
    float depth [[depth(any)]];
};
fragment Pixel shade(VertexOut in [[stage_in]], texture2d<half> t [[texture(0)]], depth2d<float> shadow [[texture(1)]],
                     texturecube<float> sky [[texture(2)]], sampler s [[sampler(0)]], bool front [[front_facing]],
                     float4 before [[color(1)]]) {
    Pixel out;
    out.color = t.sample(s, in.uv) + t.sample(s, in.uv, gradient2d(dfdx(in.uv), dfdy(in.uv)));
    out.second = before + shadow.sample_compare(s, in.uv, 0.5f) + sky.sample(s, float3(in.uv, 1)) + fwidth(in.uv.x);
    if (out.color.a < 0.5h || !front) discard_fragment();
    out.depth = t.calculate_clamped_lod(s, in.uv) + float(get_num_samples());
    return out;
}
struct Interpolated {
    float4 position [[position]];
    interpolant<float2, interpolation::perspective> uv;
};
fragment float4 pulled(Interpolated in [[stage_in]], uint i [[sample_id]]) {
    return float4(in.uv.interpolate_at_sample(i), in.uv.interpolate_at_center());
}

// ---- Object, mesh and tile functions ----

struct Payload { float4 corners[4]; };
struct Face { float3 normal; };
using Triangles = metal::mesh<VertexOut, Face, 64, 126, metal::topology::triangle>;
[[object, max_total_threads_per_threadgroup(32), max_total_threadgroups_per_mesh_grid(4)]]
void spread(object_data Payload &payload [[payload]], mesh_grid_properties grid, uint i [[thread_index_in_threadgroup]]) {
    payload.corners[i % 4] = 1;
    grid.set_threadgroups_per_grid(uint3(1));
}
[[mesh, max_total_threads_per_threadgroup(128)]]
void emit(Triangles out, const object_data Payload &payload [[payload]], uint i [[thread_index_in_threadgroup]]) {
    VertexOut v = {};
    v.position = payload.corners[0];
    out.set_vertex(i, v), out.set_index(i, uchar(i)), out.set_primitive(i, Face{0}), out.set_primitive_count(1);
}
struct Tile { rgba8unorm<half4> color [[color(0)]]; };
kernel void brighten(imageblock<Tile, imageblock_layout_implicit> block, ushort2 at [[thread_position_in_threadgroup]]) {
    Tile pixel = block.read(at);
    pixel.color = half4(pixel.color) * 2;
    block.write(pixel, at);
}

// ---- Ray tracing ----

[[intersection(triangle, triangle_data, instancing)]]
bool accept(float2 at [[barycentric_coord]], ray_data float3 &color [[payload]]) { return at.x > color.x; }

[[kernel]] void trace(instance_acceleration_structure scene [[buffer(0)]], device float *distance [[buffer(1)]],
                      intersection_function_table<triangle_data, instancing> functions [[buffer(2)]],
                      uint i [[thread_position_in_grid]]) {
    intersector<triangle_data, instancing> finder;
    finder.assume_geometry_type(geometry_type::triangle);
    finder.accept_any_intersection(false);
    auto hit = finder.intersect(ray(float3(0), float3(0, 0, 1)), scene, functions);
    distance[i] = hit.type == intersection_type::none ? 0.0f : hit.distance;
}

// ---- And a kernel ----

kernel void twice(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] *= 2; }
