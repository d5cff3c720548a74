// SPDX-License-Identifier: Apache-2.0
// ingot bench ring: the same work by others. Their programs are compiled here, with the libraries that are installed; a
// peer that does not compile is left out.
#include <stdlib.h>
#include <string.h>

#include "bench/common/row.h"
#include "bench/common/sources.h"
#include "console/output.h"
#include "core/file.h"
#include "core/process.h"
#include "ring.h"

enum { RUNS = 3, MAX_WORDS = 10 };
static const uint64_t patience_ns = 120000000000u;

typedef struct recipe {
    const char *name, *file;
    const char *compile[MAX_WORDS];  // in the directory of the file; empty: nothing to compile
    const char *run[MAX_WORDS];
    bool apart;  // on the two cores, or wherever the peer itself places its threads
} recipe;

#define COMPILE_C(file, library) {"cc", "-O2", file, "-o", "peer", library, "-lpthread"}
#define COMPILE_CAF {"c++", "-O2", "-std=c++17", "caf.cpp", "-o", "peer", "-lcaf_core", "-lpthread"}

static const recipe recipes[] = {
    {"zeromq", "zeromq.c", COMPILE_C("zeromq.c", "-lzmq"), {"./peer"}, true},
    {"nng", "nng.c", COMPILE_C("nng.c", "-lnng"), {"./peer"}, true},
    {"caf", "caf.cpp", COMPILE_CAF, {"./peer"}, true},
    {"caf-unpinned", "caf.cpp", {NULL}, {"./peer"}, false},  // compiled just before
    {"erlang", "erlang.escript", {NULL}, {"escript", "erlang.escript"}, true},
    {"erlang-unpinned", "erlang.escript", {NULL}, {"escript", "erlang.escript"}, false},
};
_Static_assert(sizeof recipes / sizeof *recipes <= BENCH_MAX_PEERS, "a row has room for all");

// ---- Programs ----

// Runs the words in the directory, followed by `more`; the caller frees the output, which is NULL on failure.
static char *run_in(const char *directory, const char *const *words, char *const *more) {
    char *arguments[MAX_WORDS * 2 + 4] = {"sh", "-c", "cd \"$0\" && exec \"$@\"", (char *)directory};
    size_t count = 4;
    for (size_t i = 0; i < MAX_WORDS && words[i]; i++) arguments[count++] = (char *)words[i];
    for (; more && *more; more++) arguments[count++] = *more;
    igi_process process = {.arguments = arguments, .timeout_ns = patience_ns};
    igi_process_run(&process);
    bool good = process.exit == IGI_EXIT_CODE && process.code == 0;
    char *output = igi_text_take(&process.output);
    free(process.errors.data);
    if (good) return output;
    free(output);
    return NULL;
}

static bool write_source(const char *directory, const char *name) {
    const char *source = bench_source(name);
    char *path = igi_path_join(directory, name);
    bool written = path && igi_file_write_atomic(path, source, strlen(source)) == IG_STATUS_OK;
    free(path);
    return written;
}

static bool prepare(const char *directory, const recipe *r) {
    if (!write_source(directory, r->file) || !write_source(directory, "peer.h")) return false;
    if (!r->compile[0]) return true;
    char *peer = igi_path_join(directory, "peer");
    if (peer) remove(peer);  // of the previous peer
    free(peer);
    char *output = run_in(directory, r->compile, NULL);
    free(output);
    return output != NULL;
}

// ---- Figures ----

static bool run_once(const char *directory, const recipe *r, const ring_cores *cores, ring_peer *figures) {
    char numbers[4][24];
    bool apart = r->apart && ring_cores_differ(cores);
    snprintf(numbers[0], sizeof numbers[0], "%d", RING_PEER_TRIPS);
    snprintf(numbers[1], sizeof numbers[1], "%d", RING_PEER_MESSAGES);
    snprintf(numbers[2], sizeof numbers[2], "%d", apart ? cores->host : -1);
    snprintf(numbers[3], sizeof numbers[3], "%d", apart ? cores->kernel : -1);
    char *more[] = {numbers[0], numbers[1], numbers[2], numbers[3], NULL};
    char *output = run_in(directory, r->run, more);
    ring_latency *trip = &figures->round_trip;
    bool read = output && sscanf(output, "%lf %lf %lf %lf %lf", &trip->p50, &trip->p99, &trip->p999, &figures->rate,
                                 &figures->sealed_rate) == 5;
    free(output);
    return read;
}

// The run with the median round trip.
static bool measure(const char *directory, const recipe *r, const ring_cores *cores, ring_peer *peer) {
    ring_peer runs[RUNS];
    for (int i = 0; i < RUNS; i++) {
        if (!run_once(directory, r, cores, &runs[i])) return false;
        for (int k = i; k > 0 && runs[k].round_trip.p50 < runs[k - 1].round_trip.p50; k--) {
            ring_peer swapped = runs[k];
            runs[k] = runs[k - 1];
            runs[k - 1] = swapped;
        }
    }
    *peer = runs[RUNS / 2];
    peer->name = r->name;
    return true;
}

size_t ring_measure_peers(const ring_cores *cores, ring_peer peers[BENCH_MAX_PEERS]) {
    char *directory = igi_make_temp_dir();
    size_t count = 0;
    for (size_t i = 0; directory && i < sizeof recipes / sizeof *recipes; i++)
        if (prepare(directory, &recipes[i]) && measure(directory, &recipes[i], cores, &peers[count])) count++;
    if (directory) igi_remove_tree(directory);
    free(directory);
    return count;
}
