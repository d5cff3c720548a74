#include <metal_stdlib>
using namespace metal;
inline int clamp_to(thread int &x, int high) { switch (x) { case 0: return 1; default: return x > high ? high : x; } }
kernel void count(device atomic_uint *bins [[buffer(0)]], device const uchar *in [[buffer(1)]],
                  constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]], uint w [[threads_per_grid]]) {
    for (uint k = i; k < n; k += w) {
        int v = in[k];
        if (v == 255) continue;
        atomic_fetch_add_explicit(&bins[clamp_to(v, 63)], 1u, memory_order_relaxed);
    }
}
