// SPDX-License-Identifier: Apache-2.0
// Choosing the level of this CPU.
#include "tensor/nn/simd/kernels.h"

#include <pthread.h>
#include <string.h>

static igi_nn_kernels chosen;

static void choose_level(void) {
    const char *isa = igi_simd()->isa;
#define X(level) \
    if (strcmp(isa, #level) == 0) igi_nn_fill__##level(&chosen);
    IGI_SIMD_LEVEL_LIST(X)
#undef X
}

const igi_nn_kernels *igi_nn_simd(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_level);
    return &chosen;
}
