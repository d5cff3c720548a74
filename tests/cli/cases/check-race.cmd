# exit 1
cat > race.metal <<'END'
#include <metal_stdlib>
using namespace metal;
kernel void flip(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[i] = data[i];
    data[i] = tile[63 - i];
}
END
ingot check race.metal --only races --grid 64 --group 64 --arg 0=f32[64]
