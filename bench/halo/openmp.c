// SPDX-License-Identifier: Apache-2.0
// The stencils of stencil.metal in plain C with OpenMP, without tiles, as a C programmer would write them for the CPU.
#include "openmp.h"

static void heat_2d(const halo_openmp_domain *domain) {
    const ptrdiff_t row = (ptrdiff_t)domain->width + 2;
    const float a = domain->coefficient;
#pragma omp parallel for
    for (size_t y = 1; y <= domain->height; y++) {
        const float *restrict u = domain->now + y * row;
        float *restrict next = domain->other + y * row;
#pragma omp simd
        for (ptrdiff_t x = 1; x < row - 1; x++)
            next[x] = u[x] + a * (u[x - 1] + u[x + 1] + u[x - row] + u[x + row] - 4 * u[x]);
    }
}

static void wave_2d(const halo_openmp_domain *domain) {
    const ptrdiff_t row = (ptrdiff_t)domain->width + 2;
#pragma omp parallel for
    for (size_t y = 1; y <= domain->height; y++) {
        const float *restrict u = domain->now + y * row, *restrict speed = domain->speed + y * row;
        float *restrict other = domain->other + y * row;
#pragma omp simd
        for (ptrdiff_t x = 1; x < row - 1; x++)
            other[x] = 2 * u[x] - other[x] + speed[x] * (u[x - 1] + u[x + 1] + u[x - row] + u[x + row] - 4 * u[x]);
    }
}

static void heat_3d(const halo_openmp_domain *domain) {
    const ptrdiff_t row = (ptrdiff_t)domain->width + 2, plane = row * ((ptrdiff_t)domain->height + 2);
    const float a = domain->coefficient;
#pragma omp parallel for collapse(2)
    for (size_t z = 1; z <= domain->depth; z++)
        for (size_t y = 1; y <= domain->height; y++) {
            const float *restrict u = domain->now + z * plane + y * row;
            float *restrict next = domain->other + z * plane + y * row;
#pragma omp simd
            for (ptrdiff_t x = 1; x < row - 1; x++)
                next[x] =
                    u[x] + a * (u[x - 1] + u[x + 1] + u[x - row] + u[x + row] + u[x - plane] + u[x + plane] - 6 * u[x]);
        }
}

__attribute__((visibility("default"))) const halo_openmp_steps halo_openmp = {heat_2d, wave_2d, heat_3d};
