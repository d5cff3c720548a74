// SPDX-License-Identifier: Apache-2.0
#include "bench/common/sources.h"

#include <assert.h>
#include <string.h>

#include "core/embedded.h"

// Generated from the files that bench/meson.build lists.
extern const igi_embedded bench_files[];
extern const size_t bench_files_count;

const char *bench_source(const char *name) {
    for (size_t i = 0; i < bench_files_count; i++)
        if (strcmp(bench_files[i].name, name) == 0) return bench_files[i].data;
    assert(!"listed in bench/meson.build");
    return "";
}
