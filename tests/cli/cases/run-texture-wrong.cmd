# exit 3
cat >t.metal <<'END'
#include <metal_stdlib>
using namespace metal;
kernel void k(texture2d<float, access::write> out [[texture(0)]], uint2 id [[thread_position_in_grid]]) { out.write(1, id); }
END
ingot run t.metal --grid 2
ingot run t.metal --grid 2 --arg 0=texture:r32_uint[4,4]
ingot run t.metal --grid 2 --arg 0=texture:r32_float[4,4] --out 0=x.png
ingot run t.metal --grid 2 --arg 1=texture:r32_float[4,4]
ingot run t.metal --grid 2 --arg 0=texture:r32_float[4,4] --print 0
ingot run t.metal --grid 2 --arg 0=texture:r32_float[4,4] --out 0=x.npy
ingot run t.metal --grid 2 --arg 0=texture:none.png
