// SPDX-License-Identifier: Apache-2.0
#ifndef INGOT_MPS_KERNEL_H
#define INGOT_MPS_KERNEL_H

#import <MetalPerformanceShaders/MPSCoreTypes.h>

NS_ASSUME_NONNULL_BEGIN

@interface MPSKernel : NSObject <NSCopying> {
    id<MTLDevice> _device;
    NSString *_label;
    MPSKernelOptions _options;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device;
- (instancetype)copyWithZone:(nullable NSZone *)zone device:(nullable id<MTLDevice>)device;
@property (readonly, retain, nonatomic) id<MTLDevice> device;
@property (nullable, copy, atomic) NSString *label;
@property (readwrite, nonatomic) MPSKernelOptions options;
@end

NS_ASSUME_NONNULL_END

#endif
