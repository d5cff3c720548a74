// SPDX-License-Identifier: Apache-2.0
// A file for inputs of parsers that open one by its name: in memory where the system has such files.
#ifndef INGOT_TESTS_FUZZ_SCRATCH_H
#define INGOT_TESTS_FUZZ_SCRATCH_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char scratch_path[64];

static inline void remove_scratch_file(void) {
    unlink(scratch_path);
}

// Returns its descriptor and sets scratch_path; -1: it cannot be made.
static inline int open_scratch_file(void) {
#ifdef MFD_CLOEXEC
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(scratch_path, sizeof scratch_path, "/proc/self/fd/%d", file);
#else
    snprintf(scratch_path, sizeof scratch_path, "/tmp/ingot-fuzz-XXXXXX");
    int file = mkostemp(scratch_path, O_CLOEXEC);
    if (file >= 0) atexit(remove_scratch_file);
#endif
    return file;
}

#endif
