# Tail recursion becomes a loop, however large the other kernels of the library are.
cat >large.metal <<'END'
#include <metal_stdlib>
using namespace metal;
#define TEN(x) x x x x x x x x x x
int count(int n, int sum) { return n <= 0 ? sum : count(n - 1, sum + n); }
int f0(int x, device int *a) { TEN(x = x * 3 + a[x & 7];) return x; }
int f1(int x, device int *a) { TEN(x += f0(x, a);) return x; }
int f2(int x, device int *a) { TEN(x += f1(x, a);) return x; }
int f3(int x, device int *a) { TEN(x += f2(x, a);) return x; }
kernel void large(device int *a, uint i [[thread_position_in_grid]]) { a[i] = f3(a[i], a); }
kernel void small(device int *a, uint i [[thread_position_in_grid]]) { a[i] = count(a[i], 0); }
END
ingot run large.metal -k small -g 3 -a 0=i32[3]:1,2,10 -p 0
