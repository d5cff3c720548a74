// SPDX-License-Identifier: Apache-2.0
// Kernels for copies and fills of odd sizes.
#include <string.h>

#include "device/metal/metal.h"

static NSString *const source =
    @"kernel void copy_bytes(device const uchar *source [[buffer(0)]], device uchar *target [[buffer(1)]],\n"
     "                       uint i [[thread_position_in_grid]]) { target[i] = source[i]; }\n"
     "kernel void fill_bytes(device uchar *target [[buffer(0)]], constant uchar &value [[buffer(1)]],\n"
     "                       uint i [[thread_position_in_grid]]) { target[i] = value; }\n";

static void make_kernels(metal_device *metal) {
    id<MTLLibrary> library = [metal->device newLibraryWithSource:source options:nil error:NULL];
    id<MTLFunction> copy = [library newFunctionWithName:@"copy_bytes"];
    id<MTLFunction> fill = [library newFunctionWithName:@"fill_bytes"];
    if (copy) metal->copy_bytes = [metal->device newComputePipelineStateWithFunction:copy error:NULL];
    if (fill) metal->fill_bytes = [metal->device newComputePipelineStateWithFunction:fill error:NULL];
    [copy release];
    [fill release];
    [library release];
}

id<MTLComputePipelineState> igi_metal_byte_kernel(metal_device *metal, const char *name) {
    pthread_mutex_lock(&metal->lock);
    if (!metal->copy_bytes) make_kernels(metal);
    pthread_mutex_unlock(&metal->lock);
    return strcmp(name, "copy_bytes") == 0 ? metal->copy_bytes : metal->fill_bytes;
}
