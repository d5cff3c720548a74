// SPDX-License-Identifier: Apache-2.0
// ingot halo: several processes under mpirun. MPI is loaded only in that case.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console/options.h"
#include "console/output.h"
#include "core/file.h"
#include "core/library-name.h"
#include "core/memory.h"
#include "core/program.h"
#include "halo.h"
#include "halo/halo-internal.h"
#include "installed.h"

// ---- Finding MPI ----

static const char library_file[] = IGI_LIBRARY_NAME("ingot-mpi", "0");

// Variables set by the mpirun of Open MPI, of MPICH and its derivatives, and by Slurm.
static bool is_under_mpirun(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) return true;
    return false;
}

static void *load_from(const char *directory, const char *below) {
    char *place = igi_path_join(directory, below), *path = igi_path_join(place ? place : "", library_file);
    // MPI's own plugins look up its symbols.
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    free(place), free(path);
    return library;
}

// In a build directory, next to the installed library, or on the system's library path.
static void *load_library(void) {
    char self[PATH_MAX];
    char *directory = igi_program_self(self) ? igi_path_dirname(self) : NULL;
    void *library = directory ? load_from(directory, "../src/mpi") : NULL;
    free(directory);
    if (!library) library = load_from(INGOT_LIBRARY_DIR, ".");
    return library ? library : dlopen(library_file, RTLD_NOW | RTLD_GLOBAL);
}

int halo_open_ranks(halo_ranks *ranks) {
    if (!is_under_mpirun()) return CLI_CONTINUE;
    void *library = load_library();
    if (!library) return cli_error(CLI_FAILED, "started by mpirun, but MPI cannot be loaded: %s", dlerror());
    ig_status (*open)(const void *, ig_mpi **, char *) = NULL;
    const ig_halo_transport *(*transport)(const ig_mpi *) = NULL;
    *(void **)&open = dlsym(library, "ig_mpi_open");
    *(void **)&transport = dlsym(library, "ig_mpi_transport");
    *(void **)&ranks->close = dlsym(library, "ig_mpi_close");
    if (!open || !transport || !ranks->close)
        return cli_error(CLI_FAILED, "libingot-mpi belongs to another version of Ingot; install both together");
    char reason[IG_HALO_REASON_BYTES] = "";
    ig_status status = open(NULL, &ranks->mpi, reason);
    if (status != IG_STATUS_OK) return cli_error(CLI_FAILED, "%s", reason);
    ranks->transport = transport(ranks->mpi);
    return CLI_CONTINUE;
}

void halo_close_ranks(halo_ranks *ranks) {
    if (ranks->close) ranks->close(ranks->mpi);
}

bool halo_is_first(const halo_ranks *ranks) {
    return !ranks->transport || ranks->transport->rank == 0;
}

// ---- Collecting blocks ----

enum { COLLECT_TAG = IG_HALO_MAX_FIELDS * IGI_HALO_DIRECTIONS };

static int layout_of_rank(const halo_options *options, const halo_ranks *ranks, uint32_t rank, ig_halo_layout *layout) {
    ig_halo_config config = options->stencil.halo;
    ig_halo_transport other;
    if (ranks->transport) {
        other = *ranks->transport;
        other.rank = rank;
        config.transport = &other;
    }
    igi_halo_plan plan;
    ig_error error = {0};
    ig_status status = igi_halo_plan_make(&config, &plan, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    *layout = plan.layout;
    return CLI_CONTINUE;
}

static void paste_block(const ig_halo_layout *layout, const float *block, float *domain) {
    for (uint64_t z = 0; z < layout->cells.z; z++)
        for (uint64_t y = 0; y < layout->cells.y; y++, block += layout->cells.x) {
            uint64_t plane = layout->first.z * layout->tile.z + z, row = layout->first.y * layout->tile.y + y;
            float *to = domain + (plane * layout->domain.y + row) * layout->domain.x;
            memcpy(to + layout->first.x * layout->tile.x, block, layout->cells.x * sizeof *block);
        }
}

static int transfer(const halo_options *options, const halo_ranks *ranks, ig_halo_message message, bool receives) {
    char reason[IG_HALO_REASON_BYTES] = "";
    void *pending = NULL, *context = ranks->transport->context;
    uint64_t timeout = options->stencil.halo.timeout_ns;
    ig_status status = ranks->transport->begin(context, &message, receives, &message, !receives, &pending, reason);
    if (status == IG_STATUS_OK)
        status = ranks->transport->finish(context, pending, timeout ? timeout : UINT64_C(60000000000), reason);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_error(CLI_FAILED, "%s", reason);
}

static int receive_block(const halo_options *options, const halo_ranks *ranks, uint32_t rank, float *domain) {
    ig_halo_layout layout = {0};
    int result = layout_of_rank(options, ranks, rank, &layout);
    if (result != CLI_CONTINUE) return result;
    float *block = cli_alloc(layout.block_bytes);
    result = transfer(options, ranks, (ig_halo_message){rank, COLLECT_TAG, block, layout.block_bytes}, true);
    if (result == CLI_CONTINUE) paste_block(&layout, block, domain);
    free(block);
    return result;
}

static float *paste_own(const ig_halo_layout *layout, const float *block) {
    float *domain = cli_alloc(layout->domain.x * layout->domain.y * layout->domain.z * sizeof *domain);
    paste_block(layout, block, domain);
    return domain;
}

int halo_collect(const halo_options *options, const halo_ranks *ranks, const igi_halo_stencil *stencil,
                 float **domain) {
    ig_halo_layout layout;
    ig_halo_get_layout(igi_halo_stencil_halo(stencil), &layout);
    float *block = cli_alloc(layout.block_bytes), *whole = NULL;
    ig_status status = igi_halo_stencil_read(stencil, block);
    int result = status == IG_STATUS_OK ? CLI_CONTINUE : cli_report(status, NULL);
    if (result == CLI_CONTINUE && halo_is_first(ranks)) {
        whole = paste_own(&layout, block);
        uint32_t count = ranks->transport ? ranks->transport->rank_count : 1;
        for (uint32_t rank = 1; rank < count && result == CLI_CONTINUE; rank++)
            result = receive_block(options, ranks, rank, whole);
    } else if (result == CLI_CONTINUE) {
        result = transfer(options, ranks, (ig_halo_message){0, COLLECT_TAG, block, layout.block_bytes}, false);
    }
    free(block);
    if (result == CLI_CONTINUE)
        *domain = whole;
    else
        free(whole);
    return result;
}
