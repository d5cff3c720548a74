# exit 1
cat > order.metal <<'END'
#include <metal_stdlib>
using namespace metal;
kernel void order(device uint *out [[buffer(0)]], device atomic_uint *count [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
    out[i] = atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
}
END
ingot check order.metal --schedules 2 --grid 64 --group 16 --arg 0=u32[64] --arg 1=u32[1]
