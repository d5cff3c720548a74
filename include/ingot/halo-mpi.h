// SPDX-License-Identifier: Apache-2.0
// MPI as the transport of halo exchange, in a library of its own (libingot-mpi, pkg-config ingot-mpi), so that libingot
// needs no MPI. It exists when Ingot was built with MPI.
//
//     ig_mpi *mpi; char reason[IG_HALO_REASON_BYTES];
//     ig_mpi_open(NULL, &mpi, reason);
//     ig_halo_config config = {.grid = {8, 8}, .transport = ig_mpi_transport(mpi)};
//
// Threads: calls to MPI come from the thread that exchanges, one at a time.
#ifndef INGOT_HALO_MPI_H
#define INGOT_HALO_MPI_H

#include <ingot/halo.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// A communicator that carries halo exchange.
typedef struct ig_mpi ig_mpi;

// `communicator` points to an MPI_Comm, which is duplicated; NULL means MPI_COMM_WORLD, and initialises MPI if necessary.
// All of its processes must make this call. errors: SYSTEM, OUT_OF_MEMORY, INVALID_ARGUMENT; `reason`, of
// IG_HALO_REASON_BYTES, says why; it may be NULL.
ig_status ig_mpi_open(const void *communicator, ig_mpi **mpi, char *reason);
// Lives as long as `mpi`, which must outlive the halos that use it.
const ig_halo_transport *ig_mpi_transport(const ig_mpi *mpi);
// Finalises MPI if ig_mpi_open initialised it. After a process was lost, MPI is not called any more, because it could
// wait forever: the program should exit with an error, so that mpirun ends the other processes.
void ig_mpi_close(ig_mpi *mpi);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
