// SPDX-License-Identifier: Apache-2.0
// Shared by the halo tests: processes simulated by threads, and the expected contents of every cell of a field.
#ifndef INGOT_TESTS_HALO_HELPERS_H
#define INGOT_TESTS_HALO_HELPERS_H

#include <ingot/halo.h>

#include "helpers.h"

// ---- Processes played by threads ----

typedef struct rank_threads rank_threads;
typedef void rank_body(const ig_halo_transport *transport, void *user);
// Runs the body once for each rank, at the same time, and returns when all are done.
void run_ranks(uint32_t count, rank_body *body, void *user);

// ---- Fields with known contents ----

// Bytes of the cell at a place in the domain.
void cell_bytes(const ig_halo_layout *layout, const int64_t at[3], unsigned char *bytes);
// All cells hold their bytes and all rims `rim`.
void fill_domain(ig_halo *halo, uint32_t field, unsigned char rim);
// Rims must hold the neighbours' cells, and `rim` where there is no neighbour. Returns the number of wrong cells.
uint64_t count_wrong_cells(ig_halo *halo, const ig_halo_config *config, uint32_t field, unsigned char rim);

#endif
