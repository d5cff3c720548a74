constant uint2 siz\
e [[function_constant(1)]], other [[function_constant(2)]];
kernel void k(device uint *a [[buf\
fer(0)]], device uint *b [[buffer(1), function\
nt(flip)]],
              ushort3 t [[thread_position_in_threadgroup]]) { a[0] = siz\
e.x; }
