// SPDX-License-Identifier: Apache-2.0
// Options of a compute encoder.
#ifndef INGOT_METAL_COMPUTE_PASS_H
#define INGOT_METAL_COMPUTE_PASS_H

#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLPassSamples.h>

NS_ASSUME_NONNULL_BEGIN

MTL_EXPORT
@interface MTLComputePassDescriptor : NSObject <NSCopying> {
    MTLDispatchType _dispatchType;
    MTLComputePassSampleBufferAttachmentDescriptorArray *_sampleBufferAttachments;
}
+ (MTLComputePassDescriptor *)computePassDescriptor;
@property (nonatomic) MTLDispatchType dispatchType;
@property (readonly) MTLComputePassSampleBufferAttachmentDescriptorArray *sampleBufferAttachments;
@end

NS_ASSUME_NONNULL_END

#endif
