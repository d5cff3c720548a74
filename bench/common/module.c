// SPDX-License-Identifier: Apache-2.0
// Peers in separate modules, compiled for the machine that builds them.
#include "bench/common/module.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "core/file.h"
#include "core/program.h"

void *bench_load_module(const char *name) {
    char self[PATH_MAX];
    if (!igi_program_self(self)) return NULL;
    char *directory = igi_path_dirname(self), *path = directory ? igi_path_join(directory, name) : NULL;
    void *module = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    free(directory), free(path);
    return module;
}
