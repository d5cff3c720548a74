// Structs and rows of 5, 6, 7 and 9 elements: read and written whole, in part, and by some of the threads.
#include <metal_stdlib>
using namespace metal;

#define STRIDE(N)                                                                                               \
  kernel void reverse_##N(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {          \
    int v[N];                                                                                                   \
    for (uint k = 0; k < N; k++) v[k] = in[N * i + k];                                                          \
    for (uint k = 0; k < N; k++) out[N * i + k] = 2 * v[N - 1 - k];                                             \
  }                                                                                                             \
  kernel void halves_##N(device const half *in, device half *out, uint i [[thread_position_in_grid]]) {         \
    half v[N];                                                                                                  \
    for (uint k = 0; k < N; k++) v[k] = in[N * i + k];                                                          \
    for (uint k = 0; k < N; k++) out[N * i + k] = v[(k + 1) % N];                                               \
  }                                                                                                             \
  kernel void some_##N(device const float *in, device float *out, uint i [[thread_position_in_grid]]) {         \
    if (i % 3 == 1) return;                                                                                     \
    float sum = in[N * i + 1] + in[N * i + N - 1] + in[N * i + 3];                                              \
    for (uint k = 0; k < N; k++) out[N * i + k] = sum + k;                                                      \
  }
STRIDE(5)
STRIDE(6)
STRIDE(7)
STRIDE(9)

struct particle {
  packed_float3 at;
  float mass;
  packed_float3 velocity;
};
kernel void drift(device particle *particles, constant float &step, uint i [[thread_position_in_grid]]) {
  particle p = particles[i];
  p.at = float3(p.at) + step * float3(p.velocity);
  particles[i] = p;
}
