// SPDX-License-Identifier: Apache-2.0
// The source of the built-in kernels as it is compiled: on the device, and ahead of time.
#ifndef INGOT_KERNELS_SOURCE_H
#define INGOT_KERNELS_SOURCE_H

#include <ingot/device.h>
#include <stdbool.h>

#include "core/embedded.h"

// "softmax" for softmax.metal; NULL: there is no such file.
const igi_embedded *igi_kernels_kernel_file(const char *name);

// Fills source, name and options for a file of kernels: what all files share comes first.
// owns: *text is the source, which the caller frees.
ig_status igi_kernels_kernel_library_desc(const igi_embedded *file, ig_library_desc *desc, char **text);
// The same for kernels generated at run time, after another part, such as "functions" (what elementwise ops compute),
// or NULL.
ig_status igi_kernels_kernel_source(const char *name, const char *part, const char *body, size_t length,
                                    ig_library_desc *desc, char **text);
// Whether it only precedes others and contains no kernels.
bool igi_kernels_kernel_file_is_part(const igi_embedded *file);

#endif
