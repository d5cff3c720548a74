# Functions that draw are listed beside kernels, and do not run.
cat >k.metal <<'EOF'
#include <metal_stdlib>
using namespace metal;
struct In { float3 at [[attribute(0)]]; };
struct Out { float4 at [[position]]; };
vertex Out place(In in [[stage_in]], constant float4x4 &m [[buffer(1)]], uint id [[vertex_id]]) {
    return {m * float4(in.at, float(id))};
}
fragment half4 shade(Out in [[stage_in]], half4 before [[color(1)]], texture2d<half> image [[texture(3)]]) {
    return before + image.read(ushort2(in.at.xy));
}
[[visible]] float twice(float x) { return 2 * x; }
kernel void copy(device float *a, uint i [[thread_position_in_grid]]) { a[i] = 1; }
EOF
ingot compile k.metal 2>remarks
grep -c "remark: Ingot does not run" remarks
ingot compile k.metal --kernel shade 2>/dev/null | sed 1d
ingot compile k.metal --json 2>/dev/null | /usr/bin/python3 -c '
import json, sys
for row in map(json.loads, sys.stdin):
    if "kernel" in row or "function" in row:
        arguments = row.get("arguments", [])
        print(row.get("kernel"), row.get("function"), row.get("kind"), [(a["index"], a["attribute"]) for a in arguments])'
ingot run k.metal --kernel shade --grid 1 2>&1 | tail -n 1
ingot compile k.metal --kernel place --emit llvm 2>&1 | tail -n 1
# The same in a library of our own tools, and in one from a Mac.
"$tools/metal" -o k.metallib k.metal 2>/dev/null
ingot info k.metallib
ingot info k.metallib -k place | tail -n 7
ingot info "$drawing"
ingot info "$drawing" -k shaded --json
ingot compile "$drawing" --kernel placed
