mkdir inc && printf '#define OFFSET 5\n' >inc/offset.h
printf '#include <offset.h>\n#if defined(ON) && TILE == 16\nkernel void k(device int *x [[buffer(0)]]) { x[0] = OFFSET; }\n#endif\n' >k.metal
ingot compile k.metal -D ON -DTILE=16 -I inc | grep '^kernel'
ingot run k.metal --grid 1 -DON --define TILE=16 --include=inc --arg 0=i32[1] --print 0
