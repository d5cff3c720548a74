# As the builds of Metal programs call them: compile, link, list, run.
PATH=$tools:$PATH
mkdir include
echo '#define FACTOR 3' > include/factor.h
cat > scale.metal <<'END'
#include <metal_stdlib>
#include "factor.h"
using namespace metal;
kernel void scale(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= FACTOR; }
END
echo 'kernel void add(device float *x, uint i [[thread_position_in_grid]]) { x[i] += N; }' > add.metal
xcrun -sdk macosx metal -c scale.metal -I include -o scale.air || exit
xcrun -sdk macosx metal -x metal -Wall -Wextra -Werror -Wmetal-addr-spaces -fno-fast-math -gline-tables-only -frecord-sources -mmacosx-version-min=14.0 \
    -DN=5 -c add.metal -o add.air || exit
xcrun -sdk macosx metallib scale.air add.air -o both.metallib || exit
rm -r include ./*.metal ./*.air
ingot info both.metallib
ingot run both.metallib -k scale -g 3 -a '0=f32[3]:iota' -p 0
ingot run both.metallib -k add -g 3 -a '0=f32[3]:iota' -p 0
metal-nm both.metallib
