# exit 1
# What comes from CUDA, OpenCL or C is told what MSL has.
cat >foreign.metal <<'END'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float *x, uint i [[thread_position_in_grd]], image2d_t t) {
    int a = threadIdx.x + blockIdx.x * blockDim.x;
    __syncthreads();
    printf("%d", a);
    int b = get_global_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    __shared__ float s[3];
    x[i] = sinf(x[i]);
}
__global__ void c(float *x) {}
__kernel void d(__global float *x, __local float *y) {}
END
ingot compile foreign.metal
