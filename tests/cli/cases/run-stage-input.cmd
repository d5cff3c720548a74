# [[stage_in]] from the command line: floats, normalised bytes, indices, a region, strides that commands give; and again
# from captures of it.
cat >k.metal <<'EOF'
#include <metal_stdlib>
using namespace metal;
struct Point { float2 place [[attribute(0)]]; float4 colour [[attribute(1)]]; };
kernel void shade(Point in [[stage_in]], device float4 *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = float4(in.place, in.colour.xw);
}
EOF
/usr/bin/python3 -c '
import struct, sys
import numpy
records = b"".join(struct.pack("<ff4B", i, 10 * i, 51 * i, 0, 0, 255) for i in range(4))
numpy.save("points.npy", numpy.frombuffer(records, dtype=numpy.uint8))' || exit 77
run() { ingot run k.metal --arg 0=f32[12] --arg 1=points.npy --attribute 0=1:f32x2 --attribute 1=1:u8x4n:8 "$@" --print 0; }
export INGOT_CAPTURE_DIR=captures INGOT_CAPTURE_DISPATCH=shade
run --grid 3 --layout 1=12
run --grid 3 --layout 1=12,dynamic,rate=2
run --grid 3 --layout 1=12,x-indexed --indices 2=u32 --arg 2=u32:3,1,2 --region 1,0,0:2,1,1
unset INGOT_CAPTURE_DIR INGOT_CAPTURE_DISPATCH
for i in 1 2 3; do ingot replay captures/000$i-shade --width 1; done
grep -c '"dynamic":true' captures/*/capture.json
# What is wrong is said.
run --grid 3
run --grid 3 --layout 1=13
run --grid 3 --layout 1=12,sideways
run --grid 3 --layout 1=12 --attribute 2=f32x2
run --grid 3 --layout 1=12 --region 1,0:2,1,1
ingot run k.metal --arg 0=f32[12] --grid 3
sed -i 's/"step":0/"step":9/' captures/0001-shade/capture.json
ingot replay captures/0001-shade
true
