// SPDX-License-Identifier: Apache-2.0
// Libraries of the built-in kernels.
#ifndef INGOT_KERNELS_LIBRARY_H
#define INGOT_KERNELS_LIBRARY_H

#include <ingot/device.h>

// The kernels of NAME.metal. Compiled ahead of time where the device knows how; the device finds that out by itself.
ig_status igi_kernels_kernel_library_create(ig_device *device, const char *name, ig_library **library, ig_error *error);

#endif
