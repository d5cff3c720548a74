# Every run starts from the initial pixels, and a picture that is saved has a row in JSON.
cat >more.metal <<'END'
#include <metal_stdlib>
using namespace metal;
kernel void more(texture2d<float, access::read_write> t [[texture(0)]], device float *seen [[buffer(0)]],
                 uint2 id [[thread_position_in_grid]]) {
    float4 next = t.read(id) + 0.2f;
    t.write(next, id);
    seen[id.x] = round(next.x * 10);
}
END
ingot run more.metal --grid 2,1 --arg 0=texture:rgba8_unorm[1,2] --arg 0=f32[2] --repeat 3 --print 0 --out 0=two.png
ingot run more.metal --grid 2,1 --arg 0=texture:two.png --arg 0=f32[2] --repeat 3 --print 0
ingot run more.metal --grid 2,1 --arg 0=texture:two.png --arg 0=f32[2] --out 0=three.png --json
