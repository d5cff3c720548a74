#include <metal_stdlib>
using namespace metal;

// Seventeen dimensions, each index of which differs between threads: the address has more parts than most compilers
// expect.
typedef uchar A[2];
typedef A B[2];
typedef B C[2];
typedef C D[2];
typedef D E[2][1][1][1];
typedef E F[2][1][1][1];
typedef F G[2][2][1][1][2];

kernel void deep(device int *out, device const G *numbers, uint i [[thread_position_in_grid]]) {
    uint a = i & 1, b = i >> 1 & 1, c = i >> 2 & 1, d = i >> 3 & 1, e = i >> 4 & 1, f = i >> 5 & 1, g = i >> 6 & 1,
         h = i >> 7 & 1, j = i >> 8 & 1, zero = numbers[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0];
    out[i] = numbers[0][j][h][zero][zero][g][f][zero][zero][zero][e][zero][zero][zero][d][c][b][a];
}
