// SPDX-License-Identifier: Apache-2.0
// Objects that take memory: buffers and heaps.
#ifndef INGOT_METAL_ALLOCATION_H
#define INGOT_METAL_ALLOCATION_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLAllocation <NSObject>
@property (readonly) NSUInteger allocatedSize;
@end

NS_ASSUME_NONNULL_END

#endif
