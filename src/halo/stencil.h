// SPDX-License-Identifier: Apache-2.0
// Ready-made stencils on tiles: heat and waves, in two and three dimensions.
#ifndef INGOT_HALO_STENCIL_H
#define INGOT_HALO_STENCIL_H

#include <ingot/halo.h>

typedef enum igi_halo_stencil_kind { IGI_STENCIL_HEAT, IGI_STENCIL_WAVE } igi_halo_stencil_kind;

typedef struct igi_halo_stencil_config {
    igi_halo_stencil_kind kind;
    ig_halo_config halo;  // of float cells; fields, elements and neighbours are the stencil's to choose
    uint32_t every;       // steps from one exchange to the next, at most the halo; 0: as many as the halo is wide
    float coefficient;    // of heat: what flows to each neighbour, per step and unit of difference
    bool separate;        // exchanges are dispatches of their own; otherwise steps may put their results into the
                          // neighbours' rims: on narrow tiles of one process, where every step needs an exchange
    bool overlaps;        // inner cells are computed during exchanges; always so with several processes
} igi_halo_stencil_config;

typedef struct igi_halo_stencil igi_halo_stencil;

ig_status igi_halo_stencil_create(ig_device *device, const igi_halo_stencil_config *config, igi_halo_stencil **stencil,
                                  ig_error *error);
void igi_halo_stencil_release(igi_halo_stencil *stencil);
ig_halo *igi_halo_stencil_halo(const igi_halo_stencil *stencil);

// Start from the block's cells: the present step, for waves also the one before. Open ends of the domain stay zero.
// `speed` (squared, per cell; zero: an obstacle) is for waves only.
ig_status igi_halo_stencil_start(igi_halo_stencil *stencil, const float *now, const float *before, const float *speed,
                                 ig_error *error);
ig_status igi_halo_stencil_run(igi_halo_stencil *stencil, uint64_t steps, ig_error *error);
// The block's cells at the present step.
ig_status igi_halo_stencil_read(const igi_halo_stencil *stencil, float *cells);

typedef struct igi_halo_stencil_times {
    uint64_t step_ns, exchange_ns;  // of dispatches where nothing overlaps, else of calls; zero where steps fill rims
} igi_halo_stencil_times;
igi_halo_stencil_times igi_halo_stencil_get_times(const igi_halo_stencil *stencil);

#endif
