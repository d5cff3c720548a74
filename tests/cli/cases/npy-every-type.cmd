/usr/bin/python3 -c "import numpy" 2>/dev/null || exit 77

for type in bool i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 bf16; do
    printf 'kernel void k(device void *x [[buffer(0)]]) {}\n' >k.metal
    ingot run k.metal --grid 1 --arg 0="$type[2,3]:iota" --out 0=$type.npy
done
/usr/bin/python3 -c '
import numpy as np
for t in "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 bf16".split():
    a = np.load(t + ".npy")
    if t == "bf16": a = (a.astype("u4") << 16).view("f4")
    print(t, a.dtype, a.shape, a.astype(int).ravel().tolist())
'
