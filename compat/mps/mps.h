// SPDX-License-Identifier: Apache-2.0
// What the kernels of Metal Performance Shaders share. Internal.
#ifndef INGOT_COMPAT_MPS_H
#define INGOT_COMPAT_MPS_H

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#pragma GCC visibility push(hidden)

static inline NSUInteger igi_mps_size(MPSDataType type) {
    return (type & 0xffff) / 8;
}

// A kernel of one of our files ("rows.metal"). Raises an exception in the name of `owner` if it cannot be compiled. The
// caller releases it; what was compiled once is in the device's cache.
id<MTLComputePipelineState> igi_mps_new_pipeline(id<MTLDevice> device, Class owner, const char *file, NSString *name);
// Lets the host see what the device has written into a managed buffer.
void igi_mps_synchronize(id<MTLBuffer> buffer, id<MTLCommandBuffer> commands);
// As Metal Performance Shaders do for what no program should ask.
void igi_mps_refuse(Class owner, NSString *what);

#pragma GCC visibility pop

#endif
