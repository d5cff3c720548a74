// SPDX-License-Identifier: Apache-2.0
// Choosing the level of this CPU.
#include "tensor/nn/simd/kernels.h"

#include <pthread.h>
#include <string.h>

static igi_nn_kernels chosen;

static void choose_level(void) {
    const char *isa = igi_simd()->isa;
#if defined(__x86_64__)
    if (strcmp(isa, "avx512") == 0) {
        igi_nn_fill__avx512(&chosen);
        return;
    }
    if (strcmp(isa, "avx2") == 0) {
        igi_nn_fill__avx2(&chosen);
        return;
    }
#endif
    (void)isa;
    igi_nn_fill__baseline(&chosen);
}

const igi_nn_kernels *igi_nn_simd(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_level);
    return &chosen;
}
