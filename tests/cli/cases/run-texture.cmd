# A picture goes in, is halved, and comes out; the second run reads what the first wrote.
cat >halve.metal <<'END'
#include <metal_stdlib>
using namespace metal;
kernel void paint(texture2d<float, access::write> out [[texture(0)]], uint2 id [[thread_position_in_grid]]) {
    out.write(float4(id.x / 2 * 0.2f, id.y / 2 * 0.4f, 0, 1), id);
}
kernel void halve(texture2d<float> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]],
                  sampler s [[sampler(0)]], device float *sums [[buffer(0)]], uint2 id [[thread_position_in_grid]]) {
    float4 c = in.sample(s, (float2(id) + 0.5f) / float2(out.get_width(), out.get_height()));
    out.write(c, id);
    sums[id.y * 3 + id.x] = round(c.x * 10) + 100 * round(c.y * 10);
}
END
ingot run halve.metal --kernel paint --grid 6,4 --arg 0=texture:rgba8_unorm[4,6] --out 0=painted.png
ingot run halve.metal --kernel halve --grid 3,2 --arg 0=texture:painted.png --arg 1=texture:bgra8_unorm[2,3] \
    --arg 0=sampler:linear --arg 0=f32[6] --out 1=halved.png --print 0
ingot run halve.metal --kernel halve --grid 3,2 --arg 0=texture:halved.png --arg 1=texture:rgba8_unorm[2,3] \
    --arg 0=sampler:nearest,clamp --arg 0=f32[6] --print 0
