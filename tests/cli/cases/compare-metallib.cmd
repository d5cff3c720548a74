# exit 1
# A compiled library against sources, with rules for its function constants.
cat >same.metal <<'END'
#include <metal_stdlib>
using namespace metal;
constant int count [[function_constant(3)]];
constant bool extra [[function_constant(7)]];
kernel void constants(device int *out [[buffer(0)]], device const int *more [[buffer(1), function_constant(extra)]],
                      uint id [[thread_position_in_grid]]) { out[id] = 2 * count + (extra ? more[id] : 1000); }
kernel void denormals(device float *data [[buffer(0)]]) { data[0] *= 0.5f; }
END
cat >rules <<'END'
[constants]
value count=21        # by name
constant 7=bool:true  # by number
grid 100

[denormals]           # half of the smallest normal number
arg 0=f32[4]:1.17549435e-38
grid 1
END
ingot compare "$metallib" same.metal --rules rules --math safe --all
ingot compare "$metallib" "$metallib" --limit 1 --json
sed 's/0.5f/0.25f/; s/1000/1001/' same.metal >other.metal
ingot compare other.metal "$metallib" --constant 7=bool:false --rules rules --json
