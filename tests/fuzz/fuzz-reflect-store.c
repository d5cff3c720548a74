// SPDX-License-Identifier: Apache-2.0
// Stored reflections: any bytes are refused or read, and what was read is always written in the same way.
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "msl/reflect-store.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return 0;
}

static void check_strings(const igi_msl_reflection *reflection) {
    size_t length = 0;
    for (size_t i = 0; i < reflection->kernel_count; i++) {
        const ig_kernel_info *kernel = &reflection->kernels[i].info;
        length += strlen(kernel->name) + strlen(reflection->kernels[i].symbol);
        for (size_t k = 0; k < kernel->argument_count; k++) {
            const ig_argument *argument = &kernel->arguments[k];
            length += strlen(argument->name) + strlen(argument->type) + strlen(argument->attribute) +
                      strlen(argument->address_space) + strlen(argument->condition);
        }
        MUST(igi_msl_reflection_find(reflection, kernel->name) != NULL);
    }
    for (size_t i = 0; i < reflection->constant_count; i++) length += strlen(reflection->constants[i].name);
    MUST(length < 1u << 30);
}

static igi_text write_again(const char *bytes, size_t length) {
    igi_msl_reflection reflection;
    igi_text text = {0};
    size_t used = 0;
    MUST(igi_msl_reflection_read(bytes, length, &used, &reflection));
    MUST(used <= length);
    igi_msl_reflection_write(&reflection, &text);
    igi_msl_reflection_free(&reflection);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    igi_msl_reflection reflection;
    size_t used = 0;
    if (!igi_msl_reflection_read((const char *)data, size, &used, &reflection)) return 0;
    MUST(used <= size);
    check_strings(&reflection);
    igi_msl_reflection_free(&reflection);
    igi_text once = write_again((const char *)data, size), twice = write_again(once.data, once.length);
    MUST(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    igi_text_free(&once), igi_text_free(&twice);
    return 0;
}
