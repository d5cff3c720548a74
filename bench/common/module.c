// SPDX-License-Identifier: Apache-2.0
// Peers in separate modules, compiled for the machine that builds them, or for the level of a benchmark.
#include "bench/common/module.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "bench/common/level.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/program.h"

void *bench_load_module(const char *name) {
    char self[PATH_MAX];
    if (!igi_program_self(self)) return NULL;
    const char *level = bench_level();
    char *file = igi_format("%s%s%s.so", name, level ? "-" : "", level ? level : "");
    char *directory = igi_path_dirname(self), *path = directory && file ? igi_path_join(directory, file) : NULL;
    void *module = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    free(file), free(directory), free(path);
    return module;
}
