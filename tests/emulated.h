// SPDX-License-Identifier: Apache-2.0
// Tests of what emulators do not do: qemu's user mode ignores limits of memory, has no seccomp and no Landlock, and loses
// signals between fork and exec. scripts/arm64 sets the variable.
#ifndef INGOT_TESTS_EMULATED_H
#define INGOT_TESTS_EMULATED_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool is_emulated(void) {
    return getenv("INGOT_TEST_EMULATED") != NULL;
}

#endif
