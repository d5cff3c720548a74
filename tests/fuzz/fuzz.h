// SPDX-License-Identifier: Apache-2.0
// What a fuzz target provides, to libFuzzer or to driver.c.
#ifndef INGOT_TESTS_FUZZ_H
#define INGOT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Gets arbitrary bytes. Crashes if something happens that must not.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
// Called once, before the first input.
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define MUST(condition)                                                     \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                        \
        }                                                                   \
    } while (0)

#endif
