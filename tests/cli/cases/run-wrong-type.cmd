/usr/bin/python3 -c "import numpy" 2>/dev/null || exit 77
# Data of another type than the kernel's is refused, both named; raw: passes the bytes.
cat >k.metal <<'END'
#include <metal_stdlib>
using namespace metal;
struct S { float a; uint b; };
kernel void k(device float4 *f [[buffer(0)]], device half *h [[buffer(1)]], device bfloat2 *b [[buffer(2)]],
              device uint *u [[buffer(3)]], device S *s [[buffer(4)]], constant float &c [[buffer(5)]],
              device atomic_uint *a [[buffer(6)]], device packed_float3 *p [[buffer(7)]],
              device float3x3 *m [[buffer(8)]], device void *v [[buffer(9)]], device bool *t [[buffer(10)]],
              device atomic<float> *af [[buffer(11)]], device const ulong &l [[buffer(12)]]) {
    f[0].y = f[0].x + 1;
}
END
# try INDEX=SPEC: that one instead of what fits
try() {
    set -- "$1" 0=f32[4]:iota 1=f16[2] 2=bf16[2] 3=u32[2] 4=u8[8] 5=f32:1 6=u32[1] 7=f32[3] 8=f32[12] 9=u8[1] \
        10=bool[1] 11=f32[1] 12=u64[1]
    given=$1 arguments="--arg $1"
    shift
    for each; do [ "${each%%=*}" = "${given%%=*}" ] || arguments="$arguments --arg $each"; done
    # shellcheck disable=SC2086
    ingot run k.metal --grid 1 $arguments >/dev/null 2>err && echo "$given runs" || sed 's/^ingot run: //' err
}
/usr/bin/python3 -c 'import numpy; numpy.save("i32.npy", numpy.arange(4, dtype="int32")); numpy.save("u16.npy", numpy.arange(4, dtype="uint16"))'
for spec in 0=f32[4] 0=i32[4] 0=i32.npy 0=raw:i32.npy 0=u8[16] 0=raw:u8[16] 1=bf16[2] 1=u16[2] 1=raw:u16[2] 2=f16[2] 2=u16.npy \
    3=i32[2] 3=f32[2] 3=u64[1] 4=f32[2] 4=u32[2] 5=u32:1 5=raw:u32:1 6=i32[1] 6=f32[1] 7=f16[6] 8=i32[12] 9=f32[1] \
    10=u8[1] 11=u32[1] 12=i64[1] 12=f32[2] 0=raw:nonsense; do
    try "$spec"
done
