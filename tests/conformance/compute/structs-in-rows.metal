// Arrays of structs of 2 to 32 bytes, one struct per thread: read, written in part and as a whole, in place, under masks.
#include <metal_stdlib>
using namespace metal;

// Some fields, then all of them through a copy, then a copy to a place that only some threads write.
#define KERNELS(S, SOME, ALL) \
  kernel void S##_some(device S *s, uint i [[thread_position_in_grid]]) { SOME } \
  kernel void S##_all(device S *s, constant uint &n, uint i [[thread_position_in_grid]]) { \
    if (i >= n) return; \
    S t = s[i]; \
    ALL \
    s[i] = t; \
  } \
  kernel void S##_moved(device const S *from, device S *to, uint i [[thread_position_in_grid]]) { \
    if (i % 5 == 3) return; \
    S t = from[i]; \
    if (i % 2) { ALL } \
    to[i] = t; \
  }
struct S2 { uchar a, b; };
KERNELS(S2, s[i].a += 1;, t.a += 1; t.b += 2;)
struct S3 { uchar r, g, b; };
KERNELS(S3, s[i].r += 1; s[i].b += 3;, t.r += 1; t.g += 2; t.b += 3;)
struct S4 { short a; uchar b, c; };
KERNELS(S4, s[i].a += 1; s[i].c += 3;, t.a += 1; t.b += 2; t.c += 3;)
struct S5 { char a[5]; };
KERNELS(S5, s[i].a[0] += 1; s[i].a[2] += 3; s[i].a[4] += 1;, t.a[0] += 1; t.a[1] += 2; t.a[2] += 3; t.a[3] += 4; t.a[4] += 1;)
struct S6 { half a, b, c; };
KERNELS(S6, s[i].a += 1; s[i].c += 3;, t.a += 1; t.b += 2; t.c += 3;)
struct S8 { float a; half b; short c; };
KERNELS(S8, s[i].a += 1; s[i].c += 3;, t.a += 1; t.b += 2; t.c += 3;)
struct S12 { float x; int n; uchar4 c; };
KERNELS(S12, s[i].x += 1; s[i].c.x += 3; s[i].c.z += 1;, t.x += 1; t.n += 2; t.c.x += 3; t.c.y += 4; t.c.z += 1; t.c.w += 2;)
struct S16 { float2 p; int n; float w; };
KERNELS(S16, s[i].p.x += 1; s[i].n += 3;, t.p.x += 1; t.p.y += 2; t.n += 3; t.w += 4;)
struct S18 { half scale; uchar q[16]; };
KERNELS(S18, s[i].scale += 1; s[i].q[1] += 3; s[i].q[3] += 1; s[i].q[5] += 3; s[i].q[7] += 1; s[i].q[9] += 3; s[i].q[11] += 1; s[i].q[13] += 3; s[i].q[15] += 1;, t.scale += 1; t.q[0] += 2; t.q[1] += 3; t.q[2] += 4; t.q[3] += 1; t.q[4] += 2; t.q[5] += 3; t.q[6] += 4; t.q[7] += 1; t.q[8] += 2; t.q[9] += 3; t.q[10] += 4; t.q[11] += 1; t.q[12] += 2; t.q[13] += 3; t.q[14] += 4; t.q[15] += 1;)
struct S20 { packed_float3 p; float m; uint id; };
KERNELS(S20, s[i].p[0] += 1; s[i].p[2] += 3; s[i].id += 1;, t.p[0] += 1; t.p[1] += 2; t.p[2] += 3; t.m += 4; t.id += 1;)
struct S24 { long key; float v; short s; bool f; ulong last; };
KERNELS(S24, s[i].key += 1; s[i].s += 3; s[i].last += 1;, t.key += 1; t.v += 2; t.s += 3; t.f = !t.f; t.last += 1;)
struct S32 { float4 v; int2 n; half h[4]; };
KERNELS(S32, s[i].v[0] += 1; s[i].v[2] += 3; s[i].n.x += 1; s[i].h[0] += 3; s[i].h[2] += 1;, t.v[0] += 1; t.v[1] += 2; t.v[2] += 3; t.v[3] += 4; t.n.x += 1; t.n.y += 2; t.h[0] += 3; t.h[1] += 4; t.h[2] += 1; t.h[3] += 2;)
