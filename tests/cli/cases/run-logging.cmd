cat > log.metal <<'END'
#include <metal_logging>
using namespace metal;
constant os_log physics("com.example", "physics");
kernel void step(device float4 *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i == 2) physics.log_error("particle %u is at %v4f", i, x[i]);
    if (i == 1) os_log_default.log("escape \x1b[31m");
}
END
ingot run log.metal --grid 4 --arg 0=f32[16]:iota --print 0:1
