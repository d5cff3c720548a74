// SPDX-License-Identifier: Apache-2.0
// What reflection found: looking things up in it, and freeing it.
#include <string.h>

#include "msl/layout.h"
#include "msl/reflect.h"

static void free_kernels(igi_msl_kernel *kernels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        igi_msl_kernel *kernel = &kernels[i];
        for (size_t k = 0; kernel->info.arguments && k < kernel->info.argument_count; k++) {
            const ig_argument *argument = &kernel->info.arguments[k];
            free((char *)argument->name), free((char *)argument->type), free((char *)argument->condition);
            igi_msl_layout_free(argument->layout, argument->layout_count);
        }
        free((void *)kernel->info.arguments), free((char *)kernel->info.name), free(kernel->symbol);
    }
    free(kernels);
}

void igi_msl_reflection_free(igi_msl_reflection *reflection) {
    free_kernels(reflection->kernels, reflection->kernel_count);
    free_kernels(reflection->others, reflection->other_count);
    for (size_t i = 0; i < reflection->constant_count; i++) free((char *)reflection->constants[i].name);
    for (size_t i = 0; i < reflection->function_count; i++)
        free(reflection->functions[i].name), free(reflection->functions[i].symbol);
    free(reflection->constants), free(reflection->functions);
    *reflection = (igi_msl_reflection){0};
}

static const igi_msl_kernel *find(const igi_msl_kernel *kernels, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(kernels[i].info.name, name) == 0) return &kernels[i];
    return NULL;
}

const igi_msl_kernel *igi_msl_reflection_find(const igi_msl_reflection *reflection, const char *name) {
    return find(reflection->kernels, reflection->kernel_count, name);
}

const igi_msl_kernel *igi_msl_reflection_find_other(const igi_msl_reflection *reflection, const char *name) {
    return find(reflection->others, reflection->other_count, name);
}

const igi_msl_function *igi_msl_reflection_find_function(const igi_msl_reflection *reflection, const char *name) {
    for (size_t i = 0; i < reflection->function_count; i++)
        if (strcmp(reflection->functions[i].name, name) == 0) return &reflection->functions[i];
    return NULL;
}

bool igi_msl_reflection_has_constant(const igi_msl_reflection *reflection, const ig_function_constant_info *constant) {
    for (size_t i = 0; i < reflection->constant_count; i++) {
        const ig_function_constant_info *known = &reflection->constants[i];
        if (known->id == constant->id && known->type == constant->type && known->components == constant->components &&
            strcmp(known->name, constant->name) == 0)
            return true;
    }
    return false;
}
