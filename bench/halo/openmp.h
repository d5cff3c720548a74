// SPDX-License-Identifier: Apache-2.0
// The plain C peer of `ingot bench halo`.
#ifndef INGOT_BENCH_HALO_OPENMP_H
#define INGOT_BENCH_HALO_OPENMP_H

#include <stddef.h>

// One step on the whole domain, padded by one cell on every side (along z only if depth > 1), x fastest. Heat goes from
// `now` to `other`; waves replace the previous step by the next one.
typedef struct halo_openmp_domain {
    size_t width, height, depth;
    float coefficient;
    const float *now;
    float *other;
    const float *speed;
} halo_openmp_domain;

typedef struct halo_openmp_steps {
    void (*heat_2d)(const halo_openmp_domain *domain);
    void (*wave_2d)(const halo_openmp_domain *domain);
    void (*heat_3d)(const halo_openmp_domain *domain);
} halo_openmp_steps;
// The module exports this as `halo_openmp`.

#endif
