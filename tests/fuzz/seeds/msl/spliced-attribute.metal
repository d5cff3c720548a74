kernel void k(device uint *a [[buffer(0)]], device uint *b [[buffer(1), function\
nt(flip)]],
              ushort3 t [[thread_position_in_threadgroup]]) {
}
