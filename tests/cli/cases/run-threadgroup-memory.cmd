# exit 1
cat >sum.metal <<'END'
#include <metal_stdlib>
using namespace metal;
kernel void sum(device const float *x [[buffer(0)]], device float *total [[buffer(1)]],
                threadgroup float *part [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]],
                uint n [[threads_per_threadgroup]]) {
    part[i] = x[i];
    for (uint half_n = n / 2; half_n > 0; half_n /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i < half_n) part[i] += part[i + half_n];
    }
    if (i == 0) total[0] = part[0];
}
END
ingot run sum.metal --grid 64 --group 64 --arg 0=f32[64]:iota --arg 1=f32[1] --threadgroup 0=256 --print 1
ingot run sum.metal --grid 64 --group 64 --arg 0=f32[64]:iota --arg 1=f32[1]
