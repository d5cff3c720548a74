// SPDX-License-Identifier: Apache-2.0
// The kernels of simt.metal that use textures, with OpenCL's images.

constant sampler_t edges = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t bilinear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

float4 weighed(read_only image2d_t in, int x, int y) {
    float4 centre = read_imagef(in, edges, (int2)(x, y));
    float4 near = read_imagef(in, edges, (int2)(x - 1, y)) + read_imagef(in, edges, (int2)(x + 1, y));
    float4 far = read_imagef(in, edges, (int2)(x - 2, y)) + read_imagef(in, edges, (int2)(x + 2, y));
    return 6.0f * centre + 4.0f * near + far;
}

kernel void texture_blur(read_only image2d_t in, write_only image2d_t out) {
    int x = get_global_id(0), y = get_global_id(1) * 16;
    float4 a = weighed(in, x, y - 2), b = weighed(in, x, y - 1), c = weighed(in, x, y), d = weighed(in, x, y + 1);
    for (int j = 0; j < 16; j++) {
        float4 e = weighed(in, x, y + j + 2);
        write_imagef(out, (int2)(x, y + j), ((a + e) + 4.0f * (b + d) + 6.0f * c) * (1.0f / 256));
        a = b, b = c, c = d, d = e;
    }
}

kernel void texture_resize(read_only image2d_t in, write_only image2d_t out) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 step = 1.0f / (float2)(get_image_width(out), get_image_height(out));
    write_imagef(out, at, read_imagef(in, bilinear, (convert_float2(at) + 0.5f) * step));
}

kernel void clear(global uint *bins) {
    bins[get_global_id(0)] = 0;
}

kernel void texture_histogram(read_only image2d_t in, global uint *bins) {
    local uint counts[256];
    uint l = get_local_id(0), x = get_global_id(0), y = get_global_id(1) * 64;
    counts[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 64; j++) atomic_inc(&counts[read_imageui(in, edges, (int2)(x, y + j)).x]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[l], counts[l]);
}
