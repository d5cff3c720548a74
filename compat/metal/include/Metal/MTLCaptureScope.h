// SPDX-License-Identifier: Apache-2.0
// Marks what a capture would contain.
#ifndef INGOT_METAL_CAPTURE_SCOPE_H
#define INGOT_METAL_CAPTURE_SCOPE_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLCommandQueue;
@protocol MTLDevice;

@protocol MTLCaptureScope <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly, nonatomic) id<MTLDevice> device;
@property (nullable, readonly, nonatomic) id<MTLCommandQueue> commandQueue;
- (void)beginScope;
- (void)endScope;
@end

NS_ASSUME_NONNULL_END

#endif
