// SPDX-License-Identifier: Apache-2.0
// Runs a kernel of `ingot bench simt` once in Ingot, and once in its plain C version, on one thread, between markers that
// plugin.c counts instructions between: `scripts/arm64 count`, docs/arm64.md.
//
//   ingot-instructions KERNEL ingot|c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/simt/simt.h"
#include "core/memory.h"
#include "markers.h"

extern const simt_openmp_kernel simt_openmp_kernels[];

static const simt_case *find_case(const char *name) {
    for (size_t i = 0; i < simt_case_count; i++)
        if (strcmp(simt_cases[i].name, name) == 0) return &simt_cases[i];
    return NULL;
}

static bool allocate(const simt_case *test, void **buffers) {
    for (size_t i = 0; i < test->buffer_count; i++)
        if (!(buffers[i] = igi_aligned_alloc(64, test->bytes[i]))) return false;
    for (size_t i = 0; i < test->buffer_count; i++) memset(buffers[i], 0, test->bytes[i]);
    test->fill(buffers);
    return true;
}

// Compiled, loaded and its memory touched by a first run.
static bool run_ingot(const simt_case *test, void *const *inputs) {
    simt_runner *runner = simt_open_ingot("ingot");
    bool ok = !runner->error[0] && runner->ops->prepare(runner, test, inputs) && runner->ops->run(runner) >= 0;
    MARKER(MARKER_BEGIN);
    ok = ok && runner->ops->run(runner) >= 0;
    MARKER(MARKER_END);
    if (!ok) fprintf(stderr, "%s: %s\n", test->name, runner->error);
    runner->ops->close(runner);
    return ok;
}

static bool run_c(const simt_case *test, void *const *buffers) {
    for (const simt_openmp_kernel *kernel = simt_openmp_kernels; kernel->name; kernel++) {
        if (strcmp(kernel->name, test->name) != 0) continue;
        MARKER(MARKER_BEGIN);
        kernel->run(buffers);
        MARKER(MARKER_END);
        return true;
    }
    fprintf(stderr, "%s has no version in C\n", test->name);
    return false;
}

int main(int argc, char **argv) {
    const simt_case *test = argc == 3 ? find_case(argv[1]) : NULL;
    void *buffers[SIMT_MAX_BUFFERS] = {0};
    if (!test) {
        fputs("usage: ingot-instructions KERNEL ingot|c\n", stderr);
        return 2;
    }
    bool ok = allocate(test, buffers) && (strcmp(argv[2], "c") == 0 ? run_c : run_ingot)(test, buffers);
    for (size_t i = 0; i < SIMT_MAX_BUFFERS; i++) free(buffers[i]);
    return ok ? 0 : 1;
}
