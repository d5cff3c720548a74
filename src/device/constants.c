// SPDX-License-Identifier: Apache-2.0
// Copies of function constants.
#include "device/constants.h"

#include <assert.h>

void igi_device_constants_free(ig_function_constant *constants, size_t count) {
    for (size_t i = 0; constants && i < count; i++) free((char *)constants[i].name), free((void *)constants[i].value);
    free(constants);
}

static bool copy_constant(ig_function_constant *copy, const ig_function_constant *given) {
    assert(given->value && (unsigned)given->type < IG_TYPE_COUNT);
    *copy = *given;
    if (!copy->components) copy->components = 1;
    copy->name = igi_strdup(given->name);
    copy->value = igi_strndup(given->value, (size_t)copy->components * ig_type_size(copy->type));
    return copy->value && (copy->name || !given->name);
}

ig_function_constant *igi_device_constants_copy(const ig_function_constant *constants, size_t count) {
    ig_function_constant *copies = igi_calloc(count, sizeof *copies);
    for (size_t i = 0; copies && i < count; i++) {
        if (copy_constant(&copies[i], &constants[i])) continue;
        igi_device_constants_free(copies, count);
        return NULL;
    }
    return copies;
}
