// SPDX-License-Identifier: Apache-2.0
// The software device as an MTLDevice. Internal.
#ifndef INGOT_COMPAT_METAL_DEVICE_H
#define INGOT_COMPAT_METAL_DEVICE_H

#include <stdatomic.h>

#include "object.h"

// There is at most one at a time: while it exists, every request returns the same object.
@interface IGDevice : IGObject <MTLDevice> {
   @public
    ig_device *_device;
    BOOL _capturable;

   @private
    ig_device_properties _properties;
    atomic_ulong _references;
    BOOL _shouldMaximizeConcurrentCompilation;
}
@end

#pragma GCC visibility push(hidden)
bool igi_metal_is_validating(void);  // kernels are checked while they run
#pragma GCC visibility pop

#endif
