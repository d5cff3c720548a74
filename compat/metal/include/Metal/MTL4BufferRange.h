// SPDX-License-Identifier: Apache-2.0
// Metal 4: a part of a buffer by its address.
#ifndef INGOT_METAL_MTL4_BUFFER_RANGE_H
#define INGOT_METAL_MTL4_BUFFER_RANGE_H

#import <Metal/MTLTypes.h>

typedef struct {
    MTLGPUAddress bufferAddress;
    uint64_t length;  // all ones: to the end of the buffer
} MTL4BufferRange;

MTL_INLINE MTL4BufferRange MTL4BufferRangeMake(uint64_t bufferAddress, uint64_t length) {
    MTL4BufferRange range = {bufferAddress, length};
    return range;
}

#endif
