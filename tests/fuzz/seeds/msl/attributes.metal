// every place an attribute can hide
/* [[buffer(9)]] */ #define A [[buffer(0)]]
#include "missing.h"
static const char text[] = "[[buffer(1)]] \" // not a comment";
char c = '"'; const char *raw = R"x([[kernel]] )" )x";
kernel void k(device int *a A, uint3 g [[ thread_position_in_grid ]], uint s [[threads_per_simdgroup]]) {
    [[maybe_unused]] int b[2][[gnu::aligned(4)]] = {a[a[0]], 1};
    a[g.x] = b[0] + 0xFFu + 1e-3f + .5h;
}
