// SPDX-License-Identifier: Apache-2.0
// MPI as the transport of halo exchange. Independent of libingot: it calls nothing in it.
#include <ingot/halo-mpi.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct ig_mpi {
    ig_halo_transport transport;
    MPI_Comm communicator;
    bool initialised_here;
    bool broken;  // MPI must not be called any more
};

// Transfers under way. The first `receive_count` are receives.
typedef struct pending_transfers {
    size_t count, receive_count;
    int *ranks;
    MPI_Request *requests;
} pending_transfers;

enum { MOST_BYTES = 1 << 30 };  // MPI counts in int

// NOLINTBEGIN(bugprone-casting-through-void): how Open MPI defines them
static MPI_Datatype byte_type(void) {
    return MPI_BYTE;
}
static MPI_Comm world(void) {
    return MPI_COMM_WORLD;
}
static MPI_Errhandler errors_return(void) {
    return MPI_ERRORS_RETURN;
}
// NOLINTEND(bugprone-casting-through-void)

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static ig_status explain(ig_mpi *mpi, int result, const char *what, char *reason) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(result, text, &length);
    snprintf(reason, IG_HALO_REASON_BYTES, "MPI: %s: %.*s", what, length, text);
    if (mpi) mpi->broken = true;
    return IG_STATUS_SYSTEM;
}

// ---- Starting ----

static size_t count_pieces(const ig_halo_message *messages, size_t count) {
    size_t pieces = 0;
    for (size_t i = 0; i < count; i++) pieces += messages[i].length / MOST_BYTES + 1;
    return pieces;
}

static void free_pending(pending_transfers *pending) {
    if (!pending) return;
    free(pending->ranks);
    free((void *)pending->requests);
    free(pending);
}

static pending_transfers *make_pending(size_t pieces) {
    pending_transfers *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->ranks = calloc(pieces + 1, sizeof *made->ranks);
    made->requests = calloc(pieces + 1, sizeof *made->requests);
    if (made->ranks && made->requests) return made;
    free_pending(made);
    return NULL;
}

static int start_piece(const ig_mpi *mpi, const ig_halo_message *message, uint64_t offset, bool receives,
                       MPI_Request *request) {
    uint64_t left = message->length - offset;
    int length = left < MOST_BYTES ? (int)left : MOST_BYTES, rank = (int)message->rank, tag = (int)message->tag;
    char *bytes = (char *)message->bytes + offset;
    return receives ? MPI_Irecv(bytes, length, byte_type(), rank, tag, mpi->communicator, request)
                    : MPI_Isend(bytes, length, byte_type(), rank, tag, mpi->communicator, request);
}

// Long messages are sent in pieces, which MPI keeps in order.
static int start(const ig_mpi *mpi, const ig_halo_message *messages, size_t count, bool receives,
                 pending_transfers *pending) {
    for (size_t i = 0; i < count; i++)
        for (uint64_t offset = 0; offset <= messages[i].length; offset += MOST_BYTES) {
            int result = start_piece(mpi, &messages[i], offset, receives, &pending->requests[pending->count]);
            if (result != MPI_SUCCESS) return result;
            pending->ranks[pending->count++] = (int)messages[i].rank;
        }
    return MPI_SUCCESS;
}

static ig_status begin(void *context, const ig_halo_message *receives, size_t receive_count,
                       const ig_halo_message *sends, size_t send_count, void **pending, char *reason) {
    ig_mpi *mpi = context;
    if (mpi->broken) {
        snprintf(reason, IG_HALO_REASON_BYTES, "MPI: an earlier transfer failed");
        return IG_STATUS_SYSTEM;
    }
    pending_transfers *made = make_pending(count_pieces(receives, receive_count) + count_pieces(sends, send_count));
    if (!made) {
        snprintf(reason, IG_HALO_REASON_BYTES, "MPI: not enough memory for the transfers");
        return IG_STATUS_OUT_OF_MEMORY;
    }
    int result = start(mpi, receives, receive_count, true, made);
    made->receive_count = made->count;
    if (result == MPI_SUCCESS) result = start(mpi, sends, send_count, false, made);
    if (result != MPI_SUCCESS) {
        free_pending(made);
        return explain(mpi, result, "a transfer could not be started", reason);
    }
    *pending = made;
    return IG_STATUS_OK;
}

// ---- Waiting ----

// Yields the core at once, because others may share it, and sleeps when waiting takes long.
static void pause_after(uint64_t waited_ns) {
    if (waited_ns < 2000000)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

static int first_unfinished(const pending_transfers *pending, bool *receives) {
    for (size_t i = 0; i < pending->count; i++) {
        int done = 0;
        MPI_Status status;
        if (MPI_Request_get_status(pending->requests[i], &done, &status) == MPI_SUCCESS && done) continue;
        *receives = i < pending->receive_count;
        return pending->ranks[i];
    }
    return -1;
}

static ig_status report_timeout(ig_mpi *mpi, const pending_transfers *pending, uint64_t timeout_ns, char *reason) {
    bool receives = true;
    int rank = first_unfinished(pending, &receives);
    snprintf(reason, IG_HALO_REASON_BYTES, "rank %d %s within %.3g s; it may have died", rank,
             receives ? "sent nothing" : "took nothing", (double)timeout_ns * 1e-9);
    mpi->broken = true;
    return IG_STATUS_TIMEOUT;
}

// Time since the last call during which this process was awake: while it was stopped, it did not wait for anybody.
static uint64_t time_awake(uint64_t *last) {
    enum { MOST_NS = 100000000 };
    uint64_t now = now_ns(), passed = now - *last;
    *last = now;
    return passed < MOST_NS ? passed : MOST_NS;
}

static ig_status finish(void *context, void *transfers, uint64_t timeout_ns, char *reason) {
    ig_mpi *mpi = context;
    pending_transfers *pending = transfers;
    uint64_t last = now_ns(), waited = 0;
    ig_status status = IG_STATUS_OK;
    for (int done = 0; status == IG_STATUS_OK;) {
        int result = MPI_Testall((int)pending->count, pending->requests, &done, MPI_STATUSES_IGNORE);
        waited += time_awake(&last);
        if (result != MPI_SUCCESS)
            status = explain(mpi, result, "a transfer failed", reason);
        else if (done)
            break;
        else if (waited > timeout_ns)
            status = report_timeout(mpi, pending, timeout_ns, reason);
        else
            pause_after(waited);
    }
    free_pending(pending);
    return status;
}

// ---- Opening and closing ----

static int initialise(ig_mpi *mpi) {
    int initialised = 0, provided;
    int result = MPI_Initialized(&initialised);
    if (result != MPI_SUCCESS || initialised) return result;
    mpi->initialised_here = true;
    return MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
}

static int join(ig_mpi *mpi, const void *communicator) {
    int rank = 0, count = 1, result = initialise(mpi);
    if (result != MPI_SUCCESS) return result;
    MPI_Comm source = communicator ? *(const MPI_Comm *)communicator : world();
    result = MPI_Comm_dup(source, &mpi->communicator);
    if (result == MPI_SUCCESS) result = MPI_Comm_set_errhandler(mpi->communicator, errors_return());
    if (result == MPI_SUCCESS) result = MPI_Comm_rank(mpi->communicator, &rank);
    if (result == MPI_SUCCESS) result = MPI_Comm_size(mpi->communicator, &count);
    mpi->transport = (ig_halo_transport){(uint32_t)rank, (uint32_t)count, begin, finish, mpi};
    return result;
}

ig_status ig_mpi_open(const void *communicator, ig_mpi **mpi, char *reason) {
    char unread[IG_HALO_REASON_BYTES];
    if (!reason) reason = unread;
    if (!mpi) {
        snprintf(reason, IG_HALO_REASON_BYTES, "mpi_open: mpi must not be NULL");
        return IG_STATUS_INVALID_ARGUMENT;
    }
    ig_mpi *made = calloc(1, sizeof *made);
    if (!made) {
        snprintf(reason, IG_HALO_REASON_BYTES, "not enough memory");
        return IG_STATUS_OUT_OF_MEMORY;
    }
    int result = join(made, communicator);
    if (result != MPI_SUCCESS) {
        ig_status status = explain(NULL, result, "it could not be joined", reason);
        free(made);
        return status;
    }
    *mpi = made;
    return IG_STATUS_OK;
}

const ig_halo_transport *ig_mpi_transport(const ig_mpi *mpi) {
    return &mpi->transport;
}

void ig_mpi_close(ig_mpi *mpi) {
    if (!mpi) return;
    if (!mpi->broken) {
        MPI_Comm_free(&mpi->communicator);
        if (mpi->initialised_here) MPI_Finalize();
    }
    free(mpi);
}
