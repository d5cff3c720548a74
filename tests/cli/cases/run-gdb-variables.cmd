# Without gdb, or where it may not trace, there is nothing to test.
gdb -batch -ex run --args true >/dev/null 2>&1 || exit 77
cat > fall.metal <<'END'
#include <metal_stdlib>
using namespace metal;
struct body { float3 place; float mass; };
static float weight(body b, float g) {
    float w = b.mass * g;
    return w;
}
kernel void fall(device float *out [[buffer(0)]], constant float &g [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    body b = {float3(i, 2, 3), float(i) + 0.5f};
    float sum = 0;
    for (int k = 0; k < 3; k++) sum += weight(b, g) * k;
    out[i] = sum;
}
END
export INGOT_JIT_DEBUG=variables DEBUGINFOD_URLS=
gdb -batch -nx -ex 'set breakpoint pending on' -ex 'set confirm off' -ex 'break fall.metal:6 if g == 10' -ex run \
    -ex 'print w' -ex 'print b.mass' -ex up -ex 'print i' -ex 'print sum' -ex 'print b.place.__v' -ex delete -ex continue \
    --args "$ingot_path" run fall.metal --grid 4 --arg 0=f32[4] --arg 1=f32:10 --print 0 2>/dev/null | grep '^\$\|f32\[4\]'
