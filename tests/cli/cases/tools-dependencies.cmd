# -M and its relatives list what was read, and not what only stands in the text.
PATH=$tools:$PATH
mkdir sub 'with space'
echo '#pragma once' > sub/read.h
echo '#pragma once' > sub/skipped.h
echo '#pragma once' > 'with space/a$b.h'
echo '#include "sub/read.h"
#include "a$b.h"
#if 0
#include "sub/skipped.h"
#endif
kernel void k(device int *x) { *x = 1; }' > k.metal
metal -M k.metal -I 'with space'
metal -MM -MT 'target $@' -MQ 'quoted $@' k.metal -I 'with space'
metal -MMD -MP -c k.metal -I 'with space' -o out.air && cat out.d
metal -MD -MF rule -H k.metal -I 'with space' -o x.metallib && cat rule
