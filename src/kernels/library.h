// SPDX-License-Identifier: Apache-2.0
// Libraries of the built-in kernels.
#ifndef INGOT_KERNELS_LIBRARY_H
#define INGOT_KERNELS_LIBRARY_H

#include <ingot/device.h>

// The kernels of NAME.metal. The device itself finds out whether they were compiled ahead of time.
ig_status igi_kernels_kernel_library_create(ig_device *device, const char *name, ig_library **library, ig_error *error);

#endif
