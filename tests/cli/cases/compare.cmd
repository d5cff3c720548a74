# exit 1
# Two sources: what differs, what depends on the order of threads, and what faults.
cat >a.metal <<'END'
#include <metal_stdlib>
using namespace metal;
struct scale { int offset; float factor; };
kernel void scaled(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant scale &s [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) { y[i] = x[i] * s.factor + float(s.offset); }
kernel void third(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = x[i] / 3; }
kernel void only_here(device float *x [[buffer(0)]]) { x[0] = 1; }
kernel void ticket(device atomic_int *n [[buffer(0)]], device int *t [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    t[i] = atomic_fetch_add_explicit(n, STEP, memory_order_relaxed);
}
kernel void wild(device uint *x [[buffer(0)]], constant uint &n [[buffer(1)]]) { x[n * 500000000ul] = 1; }
kernel void wild_in_one(device uint *x [[buffer(0)]], constant uint &n [[buffer(1)]]) { x[n * FAR] = 1; }
kernel void picture(texture2d<float, access::read> from [[texture(0)]], texture2d<float, access::write> to [[texture(1)]],
                    uint2 at [[thread_position_in_grid]]) { to.write(from.read(at) * PARTS, at); }
END
sed 's|x\[i\] / 3|x[i] * (1.0f / 3)|; s/only_here/only_there/' a.metal >b.metal
ingot compare a.metal b.metal -D STEP=1 -D FAR=1 -D PARTS=2 --math safe -k '[!w]*' --all
sed -i 's/STEP/2/; s/FAR/500000000ul/; s/PARTS/3/' b.metal
ingot compare a.metal b.metal -D STEP=1 -D FAR=1 -D PARTS=2 --math safe --ulps 1
