cat > blur.metal <<'END'
#include <metal_stdlib>
using namespace metal;
kernel void blur(texture2d<float> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]],
                 sampler s [[sampler(0)]], uint2 id [[thread_position_in_grid]]) {
    out.write(in.sample(s, (float2(id) + 1) / 4), id);
}
END
cat > paint.metal <<'END'
#include <metal_stdlib>
using namespace metal;
kernel void paint(texture2d<float, access::write> out [[texture(0)]], uint2 id [[thread_position_in_grid]]) {
    out.write(float4(id.x, id.y, 0, 5) / 5, id);
}
END
ingot run paint.metal --grid 6,5 --arg 0=texture:rgba8_unorm[5,6] --out 0=in.png 2> /dev/null
INGOT_CAPTURE_DIR=captures INGOT_CAPTURE_DISPATCH=blur ingot run blur.metal --grid 4,4 \
    --arg 0=texture:in.png --arg 1=texture:r32_float[4,4] --arg 0=sampler:linear 2> /dev/null
ingot replay captures/0001-blur
ingot replay captures/0001-blur --width 1 --json
change() {
    rm -rf changed && cp -r captures/0001-blur changed && sed -i "$1" changed/capture.json
}
# Red is what green was.
change 's|"texture":0|&,"view":{"type":2,"format":"rgba8_unorm","level":0,"levels":1,"layer":0,"layers":1,"swizzle":[4,0,0,0]}|'
ingot replay changed
try() {
    change "$1" && ingot replay changed > /dev/null
    echo "$1: $?"
}
try 's|"texture":0|"texture":2|'
try 's|"width":6|"width":7|'
try 's|"width":6|"width":4294967295|'
try 's|rgba8_unorm|rgba8|'
try 's|"type":2|"type":99|'
try 's|"mag_filter":1|"mag_filter":2|'
try 's|"s":0|"s":-1|'
try 's|texture-0.npy|../captures/0001-blur/texture-0.npy|'
try 's|"file":"texture-0.npy"|"buffer":0,"offset":0,"row_bytes":0|'
try 's|"after":"texture-1-after.npy"|"after":"texture-0.npy"|'
