// SPDX-License-Identifier: Apache-2.0
// Order between encoders, for resources whose hazards are not tracked.
#ifndef INGOT_METAL_FENCE_H
#define INGOT_METAL_FENCE_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

@protocol MTLFence <NSObject>
@property (readonly) id<MTLDevice> device;
@property (nullable, copy, atomic) NSString *label;
@end

NS_ASSUME_NONNULL_END

#endif
