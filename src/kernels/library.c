// SPDX-License-Identifier: Apache-2.0
// Libraries of the built-in kernels.
#include "kernels/library.h"

#include <stdlib.h>

#include "core/status-internal.h"
#include "kernels/source.h"

ig_status igi_kernels_kernel_library_create(ig_device *device, const char *name, ig_library **library,
                                            ig_error *error) {
    const igi_embedded *file = igi_kernels_kernel_file(name);
    if (!file) return igi_error_set(error, IG_STATUS_INTERNAL, "there is no kernel file '%s'", name);
    ig_library_desc desc;
    char *source = NULL;
    if (igi_kernels_kernel_library_desc(file, &desc, &source) != IG_STATUS_OK) return igi_error_no_memory(error);
    ig_status status = ig_library_create(device, &desc, library, error);
    free(source);
    return status;
}
