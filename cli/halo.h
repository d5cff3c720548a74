// SPDX-License-Identifier: Apache-2.0
// What the files of `ingot halo` share.
#ifndef INGOT_CLI_HALO_H
#define INGOT_CLI_HALO_H

#include <ingot/halo-mpi.h>

#include "halo/stencil.h"

typedef enum halo_obstacles { HALO_NO_OBSTACLES, HALO_SLITS, HALO_PILLARS } halo_obstacles;

// As given by the options, with defaults filled in.
typedef struct halo_options {
    igi_halo_stencil_config stencil;
    uint64_t steps;
    const char *in, *out;  // .npy, and .npy or .png; NULL: none
    const char *frames;    // a directory; NULL: none
    uint64_t frame_every;
    int obstacles;  // a halo_obstacles
    bool verify;
} halo_options;

// ---- Processes ----

// Under mpirun, MPI from a library loaded for this purpose; otherwise one process.
typedef struct halo_ranks {
    ig_mpi *mpi;
    const ig_halo_transport *transport;  // NULL: one process
    void (*close)(ig_mpi *mpi);
} halo_ranks;
// All functions here return CLI_CONTINUE, or the exit code after printing an error.
int halo_open_ranks(halo_ranks *ranks);
void halo_close_ranks(halo_ranks *ranks);
bool halo_is_first(const halo_ranks *ranks);

// The whole domain in the first process, NULL in others. owns: *domain is the caller's.
int halo_collect(const halo_options *options, const halo_ranks *ranks, const igi_halo_stencil *stencil, float **domain);

// ---- Cells ----

// The initial state of the whole domain.
typedef struct halo_cells {
    ig_size size;
    uint64_t count;
    float *now, *before, *speed;
} halo_cells;
int halo_make_cells(const halo_options *options, const ig_halo_layout *layout, halo_cells *cells);
void halo_free_cells(halo_cells *cells);
// This process' part of an array of the whole domain. owns: the caller's.
float *halo_cut_block(const ig_halo_layout *layout, const float *domain);

// ---- Results ----

// The domain, or its middle plane, as a picture.
int halo_save_picture(const halo_options *options, const char *path, const halo_cells *cells, const float *domain);
int halo_save_result(const halo_options *options, const halo_cells *cells, const float *domain);
int halo_save_frame(const halo_options *options, const halo_cells *cells, const float *domain, uint64_t step);

#endif
