# -E: the standard headers stay #include directives, and keywords stay as they are.
PATH=$tools:$PATH
echo '#define SPACE device' > space.h
echo '#include <metal_stdlib>
#include "space.h"
#ifdef WANTED
kernel void k(SPACE float *x) { *x = M_PI_F; }
#endif' > k.metal
metal -E -P -DWANTED k.metal | grep .
metal -E k.metal -o k.i && grep -c '^# 1 "./space.h" 1' k.i
echo __METAL_VERSION__ | xcrun -sdk macosx metal -E -x metal -P - | tail -1
metal -std=metal2.4 -dM -E -x metal /dev/null | grep __METAL_VERSION__
metal -E -P -DWANTED k.metal | metal -x metal - -o again.metallib && metal-nm -j again.metallib
