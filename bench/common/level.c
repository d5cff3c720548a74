// SPDX-License-Identifier: Apache-2.0
// A benchmark that leaves instructions out of Ingot's code leaves them out of its peers' too, where they can be told.
#include "bench/common/level.h"

#include <stdlib.h>
#include <string.h>

#include "core/settings.h"

typedef struct level {
    const char *name, *openblas, *torch, *onednn, *mkl, *numpy_without;
} level;

static const level levels[] = {
    {"avx2", "Haswell", "avx2", "AVX2", "AVX2",
     "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"},
    {"sse4.2", "Nehalem", "default", "SSE41", "SSE4_2",
     "AVX F16C FMA3 AVX2 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"},
};

static const level *find_level(void) {
    const char *wanted = igi_setting_named(IGI_SETTING_SIMT_ISA);
    if (!wanted) wanted = igi_setting_named(IGI_SETTING_SIMD);
    for (size_t i = 0; wanted && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(levels[i].name, wanted) == 0) return &levels[i];
    return NULL;
}

const char *bench_level(void) {
    const level *found = find_level();
    return found ? found->name : NULL;
}

void bench_limit_peers(void) {
    const level *found = find_level();
    if (!found) return;
    // What the user has set is left alone.
    setenv("OPENBLAS_CORETYPE", found->openblas, 0);
    setenv("ATEN_CPU_CAPABILITY", found->torch, 0);
    setenv("DNNL_MAX_CPU_ISA", found->onednn, 0);
    setenv("MKL_ENABLE_INSTRUCTIONS", found->mkl, 0);
    setenv("NPY_DISABLE_CPU_FEATURES", found->numpy_without, 0);
}
