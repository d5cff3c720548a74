cat >more.h <<'END'
constant uint second [[function_constant(2)]];
END
cat >k.metal <<'END'
constant uint first [[function_constant(3)]];
#include "more.h"
constant uint third [[function_constant(1)]], fourth [[function_constant(0)]];
kernel void k(device uint *x [[buffer(0)]]) { x[0] = fourth + third + second; x[1] = first; }
END
ingot compile k.metal | sed -n '/^function/,$p'
