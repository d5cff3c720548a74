// SPDX-License-Identifier: Apache-2.0
// The built-in kernels as they are compiled: on the device, and ahead of time.
#ifndef INGOT_KERNELS_SOURCE_H
#define INGOT_KERNELS_SOURCE_H

#include <ingot/device.h>

#include "core/embedded.h"

// "softmax" for softmax.metal; NULL: there is no such file.
const igi_embedded *igi_kernel_file(const char *name);

// Fills source, name and options for a file of kernels: what all files share comes first.
// owns: *text is the source, which the caller frees.
ig_status igi_kernel_library_desc(const igi_embedded *file, ig_library_desc *desc, char **text);

#endif
