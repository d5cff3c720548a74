// What programs for Metal write that C++ or the specification's own examples do not show.
#include <metal_stdlib>

// Without `using namespace metal`.
kernel void barrier_by_its_argument(device int *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup int s[4];
    s[i] = i * 2;
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    simdgroup_barrier(metal::mem_flags::mem_none);
    a[i] = s[3 - i];
}

using namespace metal;

kernel void attributes_of_buffers(device const uint *a [[buffer(0), access(read)]],
                                  device uint *b [[buffer(1), access(write)]], device uint &c [[user(name)]],
                                  uint i [[thread_position_in_grid]]) {
    b[i] = a[i] + c;
}

static_assert(is_floating_point_v<float2> && is_floating_point_v<packed_half3> && !is_floating_point_v<int2>, "");
static_assert(is_integral_v<int4> && is_integral<uchar3>::value && !is_integral_v<float>, "");
static_assert(is_same_v<make_scalar_t<float4>, float> && is_same_v<make_scalar<const half>::type, half>, "");
static_assert(is_same_v<make_scalar_t<packed_int3>, int>, "");

kernel void limits_of_vectors(device float4 *a [[buffer(0)]], device int2 *b [[buffer(1)]]) {
    a[0] = numeric_limits<float4>::max();
    a[1] = -numeric_limits<float4>::infinity();
    b[0] = numeric_limits<int2>::lowest();
    b[1] = numeric_limits<int2>::digits;
}

template <typename T, uint N> T last(vec<T, N> v) { return v[N - 1]; }
template <typename T, ushort N> T sum(thread const vec<T, N> &v) {
    T total = 0;
    for (ushort i = 0; i < N; i++) total += v[i];
    return total;
}

kernel void deduced_sizes(device float *a [[buffer(0)]]) {
    float4 v(1, 2, 3, 4);
    a[0] = last(float3(1, 2, 3));
    a[1] = sum(v);
}

struct List {
    float total;
    List(initializer_list<float> l) {
        total = 0;
        for (float x : l) total += x;
    }
};

kernel void lists(device float *a [[buffer(0)]]) { a[0] = List{1, 2, 3.5}.total; }

kernel void mixed_shifts(device int2 *a [[buffer(0)]], device const uint2 *b [[buffer(1)]]) {
    a[0] = a[0] << b[0];
    a[1] = a[1] >> b[1];
    a[2] <<= 1;
}

kernel void select_with_a_scalar(device float4 *a [[buffer(0)]], constant int &n [[buffer(1)]]) {
    a[0] = select(0, a[0], int4(0, 1, 2, 3) < n);
    a[1] = select(a[1], 9, int4(0, 1, 2, 3) < n);
}

struct Volatile { float4 v; float3 w; };
kernel void volatile_vectors(volatile device Volatile &s [[buffer(0)]]) {
    s.v = float4(20);
    s.w = float3(1, 2, 3);
}

kernel void half_and_bfloat(device bfloat *a [[buffer(0)]], device half *h [[buffer(1)]]) {
    a[0] = bfloat(h[0]);
    a[1] = (bfloat)h[1];
    h[2] = half(a[2]);
    h[3] = (half)a[3];
    h[0] = half(3);
}

kernel void tessellation_factors(device MTLTriangleTessellationFactorsHalf *t [[buffer(0)]],
                                 device MTLQuadTessellationFactorsHalf *q [[buffer(1)]]) {
    t[0].edgeTessellationFactor[2] = 3;
    t[0].insideTessellationFactor = 2;
    q[0].edgeTessellationFactor[3] = 5;
    q[0].insideTessellationFactor[1] = 7;
}

kernel void no_arguments() {
    threadgroup int s[4];
    s[0] = 13;
}

#include <simd/simd.h>

// As a header shared with a host has it.
struct Uniforms {
    simd_float4 a;
    vector_uint2 b;
    matrix_float2x2 m;
    simd::float3 c;
    simd_packed_float4 p;
};

kernel void names_of_simd(device float *out [[buffer(0)]], constant Uniforms &u [[buffer(1)]]) {
    simd_float2 v = u.m * u.a.xy;
    out[0] = v.x;
    out[1] = u.b.y;
    out[2] = u.c.z + u.p.w;
    out[3] = sizeof(Uniforms);
}
