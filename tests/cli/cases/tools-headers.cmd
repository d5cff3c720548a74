# -H lists headers in the order in which they are entered, with their depth, also beside -E -P.
PATH=$tools:$PATH
echo '#pragma once' > leaf.h
printf '#pragma once\n#include <metal_stdlib>\n#include "leaf.h"\n' > branch.h
printf '#pragma once\n#include "branch.h"\n#include "leaf.h"\n' > root.h
printf '#include "root.h"\n#include "leaf.h"\nkernel void k(device int *x) { *x = 1; }\n' > k.metal
metal -E -P -H k.metal 2>&1 >/dev/null
metal -H -c k.metal 2>&1
